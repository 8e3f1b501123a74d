# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of the whole process."""

from __future__ import annotations

import os

from nvspan import _core
from nvspan._runtime.registry import emit_targets, when_imported

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Iterable

_followed: set[str] = set()  # the targets that are followed, or will be once they are imported


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
        _emit_to(_target_names(emit))


def _target_names(emit: Iterable[str]) -> set[str]:
    if isinstance(emit, (str, bytes)):
        raise TypeError(f'emit must be several names, as ("nvtx", "torch"), not {emit!r}')
    names = list(emit)
    for name in names:
        if name != "nvtx" and name not in emit_targets:
            known = " and ".join(f'"{target}"' for target in ("nvtx", *emit_targets))
            raise ValueError(f"emit must be of {known}, not {name!r}")
    if "nvtx" not in names:
        raise ValueError('emit must have "nvtx"; nvspan.disable() switches annotations off')
    return set(names)


def _emit_to(names: set[str]) -> None:
    for name, target in emit_targets.items():
        if name in names and not _core.have_nvtx:
            from nvspan._runtime.warnings import warn_once

            text = f"this nvspan was built without NVTX, and emits nothing to {name}"
            warn_once("emit", text)
            continue
        target.switch(name in names)
        if name in names and name not in _followed:
            _followed.add(name)
            when_imported(target.module, target.follow)


def configure_from_environment() -> None:
    """Does what NVSPAN_EMIT says; what cannot be read is warned about and ignored."""
    value = os.environ.get("NVSPAN_EMIT", "")
    if not value:
        return
    try:
        _emit_to(_target_names([name.strip() for name in value.split(",")]))
    except ValueError as problem:
        from nvspan._runtime.warnings import warn_once

        warn_once("NVSPAN_EMIT", f"NVSPAN_EMIT: cannot read '{value}'; it is ignored ({problem})")
