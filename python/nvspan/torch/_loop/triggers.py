# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Triggers of the black box between ranks that share no folder, through torch.distributed's store.

The store holds a list of announcements, the keys 1, 2, ...: each is put there by one atomic call,
so that a rank that dies leaves no gap. A bundle of a folder is announced once, by whichever rank
records there and sees it first; one that was opened for an announcement never is.
"""

from __future__ import annotations

import os
import threading

from nvspan.launch import TRIGGER_VARIABLE

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from typing import Any

_PREFIX = "nvspan/triggers"
_PAUSE = 0.25  # seconds between two looks at the folder and the store
_LONGEST_SEARCH = 16.0  # seconds between two looks for the recording, where there is none
_LINGER = 2.0  # seconds that the program's end may wait for an announcement
_LONGEST = 1000  # characters of a reason that are passed on

_ALONE = "(nobody to share with)"
_NO_CLONE = "this torch's stores cannot be cloned, as those of torch 2.8 and newer can"

_lock = threading.Lock()
_sharing: _Sharing | None = None
_of_parents: list[_Sharing] = []  # a forked child must not end what they hold
_hooked = False
_said = False


def share_triggers() -> bool:
    """Pass on triggers of the black box to all ranks of torch.distributed.

    Where a bundle is opened in one rank's folder, each other rank writes one into its own, or joins
    the one that was opened there in the last seconds; why.jsonl names the reason and the rank that
    it came from. Ranks that share a folder need no call. Call it on all ranks, after
    ``init_process_group``; what happened before is not passed on.

    A thread looks four times a second, through a connection of its own to the store of the default
    process group, and ends with the group. It needs the GIL. Of a store that ends in the midst of
    such a look torch may print a warning of its own. ``auto(distributed=True)`` calls it where
    ``NVSPAN_TRIGGER`` is set.

    Returns:
        Whether triggers are shared: not without a process group, nor where its store is no
        ``TCPStore`` or cannot be cloned (before torch 2.8).

    A forked child shares nothing until it calls this itself.

    >>> import torch.distributed, nvspan.torch                           # doctest: +SKIP
    >>> torch.distributed.init_process_group("nccl")                     # doctest: +SKIP
    >>> nvspan.torch.share_triggers()                                    # doctest: +SKIP
    True
    """
    return not _share(for_good=True)


def share_where_useful() -> None:
    """The same where there is a black box, until all ranks turn out to share a folder.

    Where it cannot be, rank 0 says why on standard error, once. Raises nothing.
    """
    global _said
    if TRIGGER_VARIABLE not in os.environ:
        return
    try:
        why = _why_alone() or _share(for_good=False)
        if why and why != _ALONE and not _said:
            _said = True
            text = f"nvspan: triggers stay with the ranks of one folder: {why}\n"
            os.write(2, text.encode(errors="replace"))
    except Exception:  # of torch: the program goes on without
        return


def _why_alone() -> str:
    """Why there is nobody to share with, or why only another rank says why not."""
    import torch.distributed as distributed

    if distributed.is_available() and distributed.is_initialized():
        return _ALONE if distributed.get_world_size() == 1 else ""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return _ALONE
    return "" if os.environ.get("RANK", "0") == "0" else _ALONE


def _share(for_good: bool) -> str:
    """Begins to share; else the result says why not. `for_good`: also where a folder is shared."""
    global _sharing
    import torch.distributed as distributed

    if not distributed.is_available() or not distributed.is_initialized():
        return "there is no process group yet; call nvspan.torch.share_triggers() when there is one"
    with _lock:
        if _sharing is not None and _sharing.is_of(distributed.group.WORLD):
            _sharing.for_good = _sharing.for_good or for_good
            return ""
        sharing = _begin(distributed, for_good)
        if isinstance(sharing, str):
            return sharing if for_good or distributed.get_rank() == 0 else _ALONE
        _sharing = sharing
        _hook()
        return ""


def _begin(distributed: Any, for_good: bool) -> _Sharing | str:
    import time

    try:
        store = distributed.distributed_c10d._get_default_store()
        below = store
        while isinstance(below, distributed.PrefixStore):
            below = below.underlying_store
        if not isinstance(below, distributed.TCPStore):
            return f"the process group's store is a {type(below).__name__}, and no TCPStore"
        if not hasattr(store, "clone"):
            return _NO_CLONE
        before = _sockets()
        clone = store.clone()
        connection = _duplicate(_sockets() - before, below.port)
        sharing = _Sharing(distributed, distributed.PrefixStore(_PREFIX, clone), connection)
        sharing.for_good = for_good
        sharing.since = time.time_ns()
        sharing.skip()
        threading.Thread(target=sharing.run, name="nvspan triggers", daemon=True).start()
    except (AttributeError, RuntimeError, OSError) as error:  # the store is gone, say
        return f"{type(error).__name__} of the process group's store"
    return sharing


def _hook() -> None:
    global _hooked
    if _hooked:
        return
    _hooked = True
    import atexit

    atexit.register(_at_exit)
    os.register_at_fork(after_in_child=_in_child)


def _at_exit() -> None:
    """The last bundles are announced, and no thread is in torch when the interpreter goes."""
    from nvspan.blackbox import watching

    sharing = _sharing
    if sharing is None or sharing.ended.is_set():
        return
    sharing.stop.set()
    sharing.heard.wait(_LINGER)
    watching.stop()
    sharing.written.set()
    sharing.ended.wait(_LINGER)


def _in_child() -> None:
    global _sharing, _lock
    _lock = threading.Lock()
    if _sharing is not None:
        _of_parents.append(_sharing)
        _sharing.close()
        _sharing = None


def _sockets() -> set[tuple[int, str]]:
    """The sockets of this process: number and name."""
    found = set()
    folder = "/proc/self/fd"
    for number in os.listdir(folder) if os.path.isdir(folder) else []:
        try:
            name = os.readlink(f"{folder}/{number}")
        except OSError:
            continue
        if name.startswith("socket:"):
            found.add((int(number), name))
    return found


def _duplicate(sockets: set[tuple[int, str]], port: int) -> int:
    """A descriptor of the one socket that leads to this port; -1: there is not just one."""
    import socket

    if socket.getdefaulttimeout() is not None:
        return -1  # Python would make the socket itself one that does not wait
    found = []
    for number, _ in sockets:
        try:
            with socket.socket(fileno=os.dup(number)) as each:
                if each.getpeername()[1] == port:
                    found.append(each.detach())
        except (OSError, IndexError):
            continue
    if len(found) == 1:
        return found[0]
    for number in found:
        os.close(number)
    return -1


class _Sharing:
    """What one rank has heard and told, of one process group."""

    def __init__(self, distributed: Any, store: Any, connection: int) -> None:
        import weakref

        self._distributed = distributed
        self._group = weakref.ref(distributed.group.WORLD)  # a group's end is not for us to delay
        self._rank: int = distributed.get_rank()
        self._size: int = distributed.get_world_size()
        self._store = store
        self._connection = connection  # the store's socket once more; -1: it was not found
        self._count = 0  # announcements in the store that are known here
        self._heard: set[tuple[Any, ...]] = set()
        self._folder = ""
        self._search_at, self._search = 0.0, 1.0  # seconds: when next, and how long after that
        self._bundle = ""  # the newest one that needs no announcement
        self._compared = False  # its folder with those of the others
        self.for_good = True  # not only until all ranks turn out to record into one folder
        self.since = 0  # ns; bundles before that are not announced
        self.stop = threading.Event()  # the program ends
        self.heard = threading.Event()  # the last announcements
        self.written = threading.Event()  # the last bundles
        self.ended = threading.Event()

    def is_of(self, group: Any) -> bool:
        return group is not None and self._group() is group and not self.ended.is_set()

    def skip(self) -> None:
        """What others announced before is not for this rank."""
        while self._store.check([str(self._count + 1)]):
            self._count += 1

    def run(self) -> None:
        try:
            over = False
            while not over:
                ends = self.stop.wait(_PAUSE)
                over = ends or not self.is_of(self._distributed.group.WORLD)
                while self._connected() and self._store.check([str(self._count + 1)]):
                    self._count += 1
                    self._hear(self._store.get(str(self._count)))
                if ends:
                    self.heard.set()
                    self.written.wait()
                if not self._connected() or (not self.for_good and self._is_one_folder()):
                    break
                self._tell()
        except Exception:  # the store is gone: with its rank, or in the middle of a call
            pass
        finally:
            self._store = None
            self.close()
            self.heard.set()
            self.ended.set()

    def _is_one_folder(self) -> bool:
        """Whether all ranks record into one folder of one host: its flag file tells them all."""
        from nvspan.live.process import boot_id

        if not self._compared and self._find_folder():
            self._compared = True
            status = os.stat(self._folder)
            own = f"{boot_id()} {status.st_dev}:{status.st_ino}"
            first = self._store.compare_set("folder", "", own).decode()
            if first != own:
                self.for_good = True
            elif self._store.add("in that folder", 1) == self._size:
                self._store.set("in one folder", "yes")
        return not self.for_good and bool(self._store.check(["in one folder"]))

    def close(self) -> None:
        if self._connection >= 0:
            os.close(self._connection)
            self._connection = -1

    def _connected(self) -> bool:
        """Whether the store's server is there: torch prints many lines if it is not."""
        import select

        if self._connection < 0:
            return True
        poll = select.poll()
        poll.register(self._connection, select.POLLRDHUP)
        return not poll.poll(0)

    def _hear(self, text: bytes) -> None:
        """Takes in what a rank announced."""
        import json

        from nvspan.blackbox import watching
        from nvspan.blackbox.bundle import reasons
        from nvspan.blackbox.folder import newest_bundle

        try:
            told = json.loads(text)
            of = (str(told["host"]), told["pid"], str(told["kind"]), str(told["why"]))
            self._heard.add((str(told["bundle"]), told["time"]))
            pid, rank = (None if told[key] is None else int(told[key]) for key in ("pid", "rank"))
        except (ValueError, KeyError, TypeError):
            return
        if self._find_folder():
            own = os.path.join(self._folder, os.path.basename(told["bundle"]))
            if told["time"] in [each["time"] for each in reasons(own)[:1]]:
                return  # it lies in the same folder
            for each in reasons(newest_bundle(self._folder)[0]):
                if each.get("passed") and of == tuple(each[name] for name in _KEYS):
                    return  # another rank of the folder was faster
        if not self.written.is_set():
            watching.pass_on(of[2], of[3], of[0], pid, rank)

    def _tell(self) -> None:
        """Announces the newest bundle in the folder, unless it has been, or was passed on."""
        import json

        from nvspan.blackbox.bundle import reasons
        from nvspan.blackbox.folder import newest_bundle

        if not self._find_folder():
            return
        bundle, opened = newest_bundle(self._folder)
        if bundle == self._bundle or opened < self.since:
            return
        why = reasons(bundle)[:1]
        if not why:
            return  # it is being opened
        self._bundle = bundle
        name = os.path.basename(bundle)
        if why[0].get("passed") or (name, why[0]["time"]) in self._heard:
            return
        told = {key: why[0][key] for key in (*_KEYS, "rank", "time")}
        told["why"] = told["why"][:_LONGEST]
        if told["rank"] is None and told["pid"] == os.getpid():
            told["rank"] = self._rank
        text = json.dumps({**told, "bundle": name}).encode()
        while (name, told["time"]) not in self._heard:
            self._count += 1
            stored = self._store.compare_set(str(self._count), "", text.decode())
            if stored == text:
                return
            self._hear(stored)  # another rank was faster; maybe with the same

    def _find_folder(self) -> bool:
        import time

        from nvspan.blackbox.watching import own_folder

        now = time.monotonic()
        if not self._folder and now >= self._search_at:
            self._search_at = now + self._search
            self._search = min(2 * self._search, _LONGEST_SEARCH)
            try:
                self._folder = own_folder()
            except (OSError, ImportError):
                pass
        return bool(self._folder)


_KEYS = ("host", "pid", "kind", "why")
