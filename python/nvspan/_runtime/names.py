# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names for threads and categories."""

from __future__ import annotations

from nvspan import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess
    from threading import Thread

    from nvspan._core import Domain

_originals: dict[str, object] = {}


def name_thread(name: str, native_id: int | None = None) -> None:
    """Name a thread in the tool's timeline.

    The name is kept and sent again to a tool that attaches later, and goes with the thread into a
    forked child.

    Args:
        name: The name; a new one replaces the old.
        native_id: The thread's id as the operating system knows it
            (``threading.Thread.native_id``), or None for the calling thread.

    Raises:
        TypeError: ``name`` is no str, or ``native_id`` no int.
        ValueError: ``native_id`` is outside 0..0xFFFFFFFF.

    >>> import nvspan
    >>> nvspan.name_thread("loader")
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {name!r}")
    if native_id is not None:
        if isinstance(native_id, bool) or not isinstance(native_id, int):
            raise TypeError(f"native_id must be an int or None, not {native_id!r}")
        if not 0 <= native_id <= 0xFFFFFFFF:
            raise ValueError(f"native_id {native_id!r} is outside 0..0xFFFFFFFF")
    _core.name_thread(name, native_id)


def name_category(category: int, name: str, domain: str | bytes | Domain | None = None) -> None:
    """Name a category id of your own in a domain.

    Named categories (``category="io"``) get their ids by themselves; this is for ids that the
    program chooses. Tools show the name in place of the id, also those that attach later.

    Args:
        category: The id, 1 to 0xFFFFFFFF.
        name: Its name.
        domain: The domain; None for the default domain.

    Raises:
        TypeError: An argument is of another type.
        ValueError: The id is out of range or already has another name in this domain, or the name
            another id.

    >>> import nvspan
    >>> nvspan.name_category(7, "io", domain="mylib")
    >>> nvspan.mark("read", category=7, domain="mylib")
    """
    if isinstance(category, bool) or not isinstance(category, int):
        raise TypeError(f"category must be an int, not {category!r}")
    if not 1 <= category <= 0xFFFFFFFF:
        raise ValueError(f"category {category!r} is outside 1..0xFFFFFFFF")
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {name!r}")
    _core.name_category(category, name, domain)


def name_threads_automatically(on: bool = True) -> None:
    """Have every ``threading.Thread`` named in the tool as Python names it, or stop that.

    Covers threads that run already, unless they have a name, and those to come, renamed ones
    (``thread.name = ...``), the main threads of processes that ``multiprocessing`` forks, and
    PyTorch's DataLoader workers ("DataLoader worker 3"). A spawned process does it if its main
    module calls this function at import.

    Raises:
        TypeError: ``on`` is no bool.

    >>> import nvspan
    >>> nvspan.name_threads_automatically()
    >>> nvspan.name_threads_automatically(False)
    """
    if not isinstance(on, bool):
        raise TypeError(f"on must be a bool, not {on!r}")
    if on and not _originals:
        _install()
    elif not on and _originals:
        _remove()


def _native_id(thread: Thread) -> int | None:
    """The thread's id; a forked process of CPython up to 3.12 has its parent's in `native_id`."""
    import threading

    return threading.get_native_id() if thread is threading.current_thread() else thread.native_id


def _install() -> None:
    import threading
    from multiprocessing.process import BaseProcess

    run_thread = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]
    name_property: property = threading.Thread.__dict__["name"]
    run_process = BaseProcess._bootstrap  # type: ignore[attr-defined]

    def _bootstrap_inner(self: Thread) -> None:
        native_id = threading.get_native_id()
        _core.name_thread(self.name, native_id)
        try:
            run_thread(self)
        finally:
            _core.forget_thread(native_id)

    def set_name(self: Thread, name: str) -> None:
        name_property.__set__(self, name)
        native_id = _native_id(self)
        if native_id is not None and self.is_alive():
            _core.name_thread(self.name, native_id)

    def _bootstrap(self: BaseProcess, *args: object, **kwargs: object) -> int:
        _core.name_thread(_process_name(self), None)
        return run_process(self, *args, **kwargs)  # type: ignore[no-any-return]

    _originals.update(thread=run_thread, name=name_property, process=run_process)
    threading.Thread._bootstrap_inner = _bootstrap_inner  # type: ignore[attr-defined]
    threading.Thread.name = property(  # type: ignore[assignment]
        name_property.__get__, set_name, doc=name_property.__doc__
    )
    BaseProcess._bootstrap = _bootstrap  # type: ignore[attr-defined]
    for thread in threading.enumerate():
        native_id = _native_id(thread)
        if native_id is not None and not _core.has_thread_name(native_id):
            _core.name_thread(thread.name, native_id)


def _remove() -> None:
    import threading
    from multiprocessing.process import BaseProcess

    threading.Thread._bootstrap_inner = _originals["thread"]  # type: ignore[attr-defined]
    threading.Thread.name = _originals["name"]  # type: ignore[assignment]
    BaseProcess._bootstrap = _originals["process"]  # type: ignore[attr-defined]
    _originals.clear()


def _process_name(process: BaseProcess) -> str:
    """The process's name; of a worker of PyTorch's DataLoader its number."""
    target = getattr(process, "_target", None)
    if target is None or getattr(target, "__module__", "") != "torch.utils.data._utils.worker":
        return process.name
    import inspect

    try:
        given = inspect.signature(target).bind(
            *getattr(process, "_args", ()), **getattr(process, "_kwargs", {})
        )
    except (TypeError, ValueError):
        return process.name
    worker = given.arguments.get("worker_id")
    return process.name if worker is None else f"DataLoader worker {worker}"
