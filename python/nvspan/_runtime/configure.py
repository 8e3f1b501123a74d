# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the process as a whole is told once."""

from __future__ import annotations

import os

from nvspan import _core
from nvspan._runtime.import_hook import when_imported

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Iterable

_LISTENERS = ("nvtx", "torch")
_waiting = False  # for torch.autograd.profiler, or through with it


def configure(*, emit: Iterable[str] | None = None) -> None:
    """Set what holds for the whole process. What is not given stays as it is.

    Args:
        emit: Where ranges and marks go: ``("nvtx",)``, the default, or ``("nvtx", "torch")``. With
            "torch" they go to torch's profiler as well, while one is active, whether or not an NVTX
            tool listens. A range of the default domain keeps its name there, one of another domain
            is called ``domain:name``; a mark is a range of no length. Ranges of ``start_range``,
            spans, device ranges, payloads, colors and categories go to NVTX alone. While no
            profiler is active this costs nothing, and torch is never imported by it.

    Raises:
        TypeError: ``emit`` is a str, or not iterable.
        ValueError: ``emit`` names something else, or lacks "nvtx".

    Takes effect at once in all threads; a range that is open then ends in torch's trace. A forked
    child goes on in the state of its parent. The environment variable ``NVSPAN_EMIT=nvtx,torch``
    does the same from the start of a program.

    >>> import nvspan
    >>> nvspan.configure(emit=("nvtx", "torch"))
    >>> nvspan.configure(emit=("nvtx",))
    """
    if emit is not None:
        _emit_to(_listeners(emit))


def _listeners(emit: Iterable[str]) -> set[str]:
    if isinstance(emit, (str, bytes)):
        raise TypeError(f'emit must be several names, as ("nvtx", "torch"), not {emit!r}')
    names = list(emit)
    for name in names:
        if name not in _LISTENERS:
            raise ValueError(f'emit must be of "nvtx" and "torch", not {name!r}')
    if "nvtx" not in names:
        raise ValueError('emit must have "nvtx"; nvspan.disable() switches annotations off')
    return set(names)


def _emit_to(listeners: set[str]) -> None:
    global _waiting
    if "torch" in listeners and not _core.have_nvtx:
        from nvspan._runtime.warnings import warn_once

        return warn_once("emit", "this nvspan was built without NVTX, and emits nothing to torch")
    _core.torch_emit_enable("torch" in listeners)
    if "torch" in listeners and not _waiting:
        _waiting = True
        when_imported("torch.autograd.profiler", _follow_profilers)


def _follow_profilers() -> None:
    from nvspan.torch._support import profiler

    profiler.register()


def configure_from_environment() -> None:
    """Does what NVSPAN_EMIT says; what cannot be read is warned about and ignored."""
    value = os.environ.get("NVSPAN_EMIT", "")
    if not value:
        return
    try:
        _emit_to(_listeners([name.strip() for name in value.split(",")]))
    except ValueError as problem:
        from nvspan._runtime.warnings import warn_once

        warn_once("NVSPAN_EMIT", f"NVSPAN_EMIT: cannot read '{value}'; it is ignored ({problem})")
