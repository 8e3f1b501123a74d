# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The watcher of this process, and the Python thread that completes its bundles."""

from __future__ import annotations

import os
import sys
import threading

from nvspan.blackbox.bundle import add_where, folder_of_environment, follow, make_watcher
from nvspan.blackbox.syntax import Triggers, parse
from nvspan.launch import TRIGGER_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from nvspan import _reader

_LINGER = 5.0  # seconds that the program's end may wait for what is added to a bundle
_lock = threading.RLock()  # a signal's handler may call what the program was in
_watcher: _reader.Watcher | None = None
_follower: threading.Thread | None = None
_of_parents: list[_reader.Watcher] = []  # a forked child must not touch their locks
_triggers: Triggers | None = None
_hooked = False


def _say(text: str) -> None:
    os.write(2, f"nvspan: {text}\n".encode(errors="replace"))


def start_from_environment() -> None:
    """As `nvspan.blackbox.start_from_environment`, where the variable is set."""
    global _triggers
    try:
        triggers = parse(os.environ[TRIGGER_VARIABLE])
    except ValueError as error:
        _say(f"{TRIGGER_VARIABLE}: {error}; nothing is watched")
        return
    _triggers = triggers
    if not triggers.watches:
        return
    try:
        folder = folder_of_environment()
    except ValueError as error:
        _say(f"{TRIGGER_VARIABLE} does nothing: {error}")
        return
    with _lock:
        _start(folder, triggers)


def _start(folder: str, triggers: Triggers) -> bool:
    global _watcher, _follower
    watcher = make_watcher(folder, triggers, pid=os.getpid())
    if not watcher.start():
        _say("there is no thread for the black box: nothing is watched")
        return False
    _watcher = watcher
    _hook(triggers)
    _follower = threading.Thread(
        target=_complete, args=(watcher,), name="nvspan bundles", daemon=True
    )
    _follower.start()
    return True


def _complete(watcher: _reader.Watcher) -> None:
    """Adds what only Python knows to each bundle."""
    for bundle in follow(watcher, _say, lambda: _watcher is not watcher):
        add_where(bundle)


def _hook(triggers: Triggers) -> None:
    global _hooked
    if _hooked:
        return
    _hooked = True
    import atexit

    atexit.register(stop)
    os.register_at_fork(after_in_child=_in_child)
    if not triggers.exception:
        return
    before = sys.excepthook

    def excepthook(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, Exception):
            ask("exception", exception_text(kind, trace))
        before(kind, error, trace)

    sys.excepthook = excepthook


def exception_text(kind: type[BaseException], trace: TracebackType | None) -> str:
    """An exception without its message, which may hold anything."""
    text = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return text
    code = trace.tb_frame.f_code
    return f"{text} in {code.co_name} ({os.path.basename(code.co_filename)}:{trace.tb_lineno})"


def _in_child() -> None:
    global _watcher, _lock
    _lock = threading.RLock()
    if _watcher is None:
        return
    _of_parents.append(_watcher)
    _watcher = None
    if _triggers is not None and _triggers.watches:
        start_from_environment()


def ask(kind: str, why: str) -> bool:
    """Has the watcher of this process write a bundle; one is started where there is none."""
    watcher = _watcher_of_process()
    if watcher is not None:
        watcher.trigger(kind, why)
    return watcher is not None


def _watcher_of_process() -> _reader.Watcher | None:
    with _lock:
        if _watcher is None:
            try:
                from nvspan.live.process import recordings_of

                folder = os.path.dirname(os.path.realpath(recordings_of(os.getpid())[0]))
            except (OSError, ImportError):  # nothing is recorded, or the interpreter is at its end
                return None
            if not _start(folder, _triggers or Triggers()):
                return None
        return _watcher


def stop() -> None:
    """Ends the watching, after what was asked for has been written."""
    global _watcher
    with _lock:
        watcher, _watcher = _watcher, None
    if watcher is not None:
        watcher.stop()
        if _follower is not None:
            _follower.join(_LINGER)
        _of_parents.append(watcher)  # another thread may be in it
