# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A profiler's capture of a few steps: a range that nsys waits for, and CUDA's own switch."""

from __future__ import annotations

import os
import sys

from nvspan import _core
from nvspan._runtime import steps as _steps
from nvspan._runtime import switch
from nvspan.torch._support.removable import Removable

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_told: set[str] = set()  # lines that were printed


class ProfileWindow(Removable):
    """What :func:`profile_window` returns: ``remove()`` ends the window and forgets it.

    As a context manager it does that at the end of the block.
    """

    def __init__(
        self, start: int, stop: int, *, name: str, domain: Any, cuda_profiler: bool, chosen: bool
    ) -> None:
        super().__init__()
        self._start = start
        self._stop = stop
        self._name = name
        self._domain = domain
        self._cuda_profiler = cuda_profiler
        self._done = not chosen
        self._range: Any = None
        self._cuda: Any = None

    @property
    def open(self) -> bool:
        """Whether the window is open now."""
        return self._range is not None

    @property
    def done(self) -> bool:
        """Whether the window has been open, or is not for this rank."""
        return self._done

    def step_begins(self, number: int) -> None:
        if self.open:
            if number > self._stop:
                self._close()
        elif not self._done and self._start <= number <= self._stop:
            self._range = _core.start_range(self._name, domain=self._domain)
            self._cuda = _started_profiler() if self._cuda_profiler else None

    def step_ends(self, number: int) -> None:
        if self.open and number >= self._stop:
            self._close()

    def _close(self) -> None:
        opened, self._range = self._range, None
        cuda, self._cuda = self._cuda, None
        self._done = True
        if cuda is not None:
            cuda.cudaProfilerStop()
        _core.end_range(opened)

    def remove(self) -> None:
        """End the window if it is open; it does not open any more. A second call does nothing."""
        if self.open:
            self._close()
        self._done = True
        super().remove()


def profile_window(
    start: int,
    stop: int,
    ranks: int | Iterable[int] | None = None,
    cuda_profiler: bool = True,
    *,
    name: str = "profile",
    domain: str | None = "torch",
    verbose: bool = True,
) -> ProfileWindow:
    """Have a profiler capture the steps from ``start`` to ``stop``, both included.

    Steps are those of :func:`auto` and :func:`nvspan.step`. From the beginning of the first to the
    end of the last a range is open that ``nsys profile -c nvtx -p profile@torch`` waits for, and
    CUDA's own switch is on, for ``nsys -c cudaProfilerApi`` and ``ncu --profile-from-start no``.
    The command line that fits the program goes to stderr once.

    A window opens once. Micro-batches that repeat a number while it is open change nothing. What is
    open when the program ends is closed then.

    Args:
        start: The first step's number.
        stop: The last step's.
        ranks: The ranks to capture, by torch.distributed if it is initialised, else by the
            variables ``RANK``, ``SLURM_PROCID``, ``OMPI_COMM_WORLD_RANK`` and ``PMI_RANK``, else 0.
            None is all.
        cuda_profiler: Whether to call ``cudaProfilerStart`` and ``cudaProfilerStop``. CUDA is never
            initialised for it.
        name, domain: Those of the range.
        verbose: Whether to print the command line.

    Returns:
        A handle with ``remove()``.

    Raises:
        TypeError: A number is no int.
        ValueError: ``stop`` comes before ``start``.

    >>> import nvspan.torch
    >>> window = nvspan.torch.profile_window(10, 12, ranks=[0], verbose=False)
    >>> for number in range(20):
    ...     with nvspan.step(number):
    ...         pass
    >>> window.done
    True
    """
    for each in (start, stop):
        if isinstance(each, bool) or not isinstance(each, int):
            raise TypeError(f"a step's number must be an int, not {each!r}")
    if stop < start:
        raise ValueError(f"a window cannot end with step {stop} and start with step {start}")
    wanted = None if ranks is None else {ranks} if isinstance(ranks, int) else set(ranks)
    chosen = wanted is None or _rank() in wanted
    window = ProfileWindow(
        start, stop, name=name, domain=domain, cuda_profiler=cuda_profiler, chosen=chosen
    )
    if chosen:
        import atexit

        _steps.add_listener(window)
        atexit.register(window.remove)
        window._undo += (
            lambda: atexit.unregister(window.remove),
            lambda: _steps.remove_listener(window),
        )
        if verbose:
            _tell(start, stop, name if domain is None else f"{name}@{domain}")
    return window


def _rank() -> int:
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    for variable in _RANKS:
        if os.environ.get(variable, "").isdecimal():
            return int(os.environ[variable])
    return 0


def _started_profiler() -> Any:
    """CUDA's runtime with its profiler switched on, or None where CUDA is not in use."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    runtime = torch.cuda.cudart()
    runtime.cudaProfilerStart()
    return runtime


def _tell(start: int, stop: int, trigger: str) -> None:
    from nvspan.nsight.nsys_command import command_line

    steps = f"steps {start} to {stop}" if stop > start else f"step {start}"
    if switch.tool() == "nsys":
        text = f"nvspan: {steps} are captured as {trigger}"
    else:
        text = f"nvspan: not under nsys; to capture {steps}:\n    {command_line(trigger)}"
    if text not in _told:
        _told.add(text)
        print(text, file=sys.stderr)
