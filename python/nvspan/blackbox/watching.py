# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The watcher of this process."""

from __future__ import annotations

import os
import sys
from _thread import RLock

from nvspan import _reader
from nvspan.launch import TRIGGER_VARIABLE
from nvspan.live.process import recordings_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from nvspan.blackbox.syntax import Triggers

_LONGEST = 10.0  # seconds that a call waits for its bundle
_lock = RLock()  # a signal's handler may call what the program was in
_watcher: _reader.Watcher | None = None
_of_parents: list[_reader.Watcher] = []  # a forked child must not touch their locks
_triggers: Triggers | None = None
_hooked = False


def _say(text: str) -> None:
    os.write(2, f"nvspan: {text}\n".encode(errors="replace"))


def start_from_environment() -> None:
    """As `nvspan.blackbox.start_from_environment`, where the variable is set."""
    global _triggers
    from nvspan.blackbox.bundle import folder_of_environment
    from nvspan.blackbox.syntax import parse

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
        _start(folder)


def _start(folder: str) -> None:
    global _watcher
    if _triggers is None:
        watcher = _reader.Watcher(os.fsencode(folder), pid=os.getpid(), says=True)
    else:
        from nvspan.blackbox.bundle import make_watcher

        watcher = make_watcher(folder, _triggers, pid=os.getpid(), says=True)
    if _watcher is None and watcher.start():  # not one of a handler that came meanwhile
        _watcher = watcher
        _hook()


def _hook() -> None:
    global _hooked
    if _hooked:
        return
    _hooked = True
    import atexit

    atexit.register(stop)
    os.register_at_fork(after_in_child=_in_child)
    if _triggers is None or not _triggers.exception:
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
    _lock = RLock()
    if _watcher is None:
        return
    _of_parents.append(_watcher)
    _watcher = None
    if _triggers is not None and _triggers.watches:
        start_from_environment()


def ask(kind: str, why: str) -> bool:
    """Has the watcher of this process write a bundle; one is started where there is none."""
    watcher = _watcher_of_process()
    return watcher is not None and watcher.trigger(kind, why, _LONGEST)


def _watcher_of_process() -> _reader.Watcher | None:
    with _lock:
        if _watcher is None:
            try:
                folder = os.path.dirname(os.path.realpath(recordings_of(os.getpid())[0]))
            except OSError:  # nothing is recorded
                return None
            _start(folder)
        return _watcher


def stop() -> None:
    """Ends the watching, after what was asked for has been written."""
    global _watcher
    with _lock:
        watcher, _watcher = _watcher, None
    if watcher is not None:
        watcher.stop()
        _of_parents.append(watcher)  # another thread may be in it
