# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Switching annotations off and on at run time, and asking who listens."""

from __future__ import annotations

from nvspan import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from nvspan._core import Domain

# What the libraries of known tools have in their names. Nsight Compute ships with an nsys, so that
# the folder decides only where the name of the library says nothing.
_LIBRARIES = (
    ("nvspan_inject", "nvspan"),
    ("libToolsInjection", "nsys"),
    ("libcuda-injection", "ncu"),
    ("cupti", "cupti"),
)
_FOLDERS = (("nsight-systems", "nsys"), ("nsight-compute", "ncu"))


def enable(domain: str | bytes | Domain | None = None) -> None:
    """Switch annotations on again: of one domain, or of the process with ``None``.

    Both must be on for an event to be sent. For the default domain alone pass ``get_domain()``.
    Takes effect at once in all threads, for everything decorated, kept or cached before.

    Raises:
        TypeError: ``domain`` is of another type.

    >>> import nvspan
    >>> nvspan.enable("mylib")
    """
    _core.set_enabled(True, domain)


def disable(domain: str | bytes | Domain | None = None) -> None:
    """Switch annotations off: of one domain, or of the process with ``None``.

    What is open is still closed, and the cost is that of no tool. A forked child starts in the
    state of its parent.

    Raises:
        TypeError: ``domain`` is of another type.

    >>> import nvspan
    >>> nvspan.disable("mylib")
    >>> nvspan.enable("mylib")
    """
    _core.set_enabled(False, domain)


class paused:
    """Annotations are off while the block runs: of one domain, or of the process with ``None``.

    Pauses may overlap, in any thread: annotations are on again when the last has ended, unless they
    are switched off by :func:`disable`.

    Raises:
        TypeError: ``domain`` is of another type.

    >>> import nvspan
    >>> with nvspan.paused():
    ...     nvspan.mark("not sent")
    """

    __slots__ = ("_domain",)

    def __init__(self, domain: str | bytes | Domain | None = None) -> None:
        self._domain = None if domain is None else _core.get_domain(domain)

    def __enter__(self) -> None:
        _core.pause(1, self._domain)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _core.pause(-1, self._domain)


def is_active(domain: str | bytes | Domain | None = None) -> bool:
    """Tell whether an event would be sent now: with ``None`` to any domain, else to this one.

    The first call of the process looks for a tool, as the first annotation does.

    >>> import nvspan
    >>> nvspan.is_active()
    False
    """
    return _core.is_active(domain)


def tool() -> str | None:
    """Name the attached NVTX tool: ``"nsys"``, ``"ncu"``, ``"cupti"``, ``"nvspan"``, the name of
    another library, or None. It stays the same while annotations are switched off.

    >>> import nvspan
    >>> nvspan.tool() is None
    True
    """
    _core.listening()
    path = _core.tool_library()
    if not path:
        return None
    folder, _, file = path.replace("\\", "/").rpartition("/")
    for place, known in ((file, _LIBRARIES), (folder, _FOLDERS)):
        for part, name in known:
            if part in place:
                return name
    library = file.split(".", 1)[0]
    return library[3:] if library.startswith("lib") and len(library) > 3 else library
