# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recording NVTX events of the running process into a file."""

from __future__ import annotations

import os
import sys

from nvspan import _core, launch
from nvspan._runtime import gpu_work
from nvspan._runtime import lines as line_samples
from nvspan._runtime.registry import callers_of_nvtx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

RECORD_VARIABLE = "NVSPAN_RECORD"
_DEFAULT_NAME = "nvspan-{pid}.nvspan"


def mode_config(mode: str) -> str:
    """What the injection library calls the mode: "full", "stats", "armed" or "ring=N" with N in
    MB.

    Raises:
        ValueError: it is none of them.
    """
    name, _, size = mode.partition("=")
    if name in ("full", "stats", "armed") and not size:
        return name
    if name == "ring":
        try:
            megabytes = float(size or 64)
        except ValueError:
            megabytes = 0
        if megabytes > 0:
            return f"ring:{int(megabytes * 1_000_000)}"
    raise ValueError(f"mode must be full, stats, armed or ring=MB, not {mode!r}")


def _name_bytes(megabytes: float) -> int:
    if isinstance(megabytes, bool) or not isinstance(megabytes, (int, float)):
        raise TypeError(f"names must be a number of megabytes, not {megabytes!r}")
    if not 1e-6 <= megabytes <= 1e9:
        raise ValueError(f"names must be a number of megabytes above 0, not {megabytes!r}")
    return int(megabytes * 1_000_000)


def config_string(
    path: str | os.PathLike[str] | None = None,
    mode: str = "full",
    domains: Iterable[str] | None = None,
    min_duration: int | None = None,
    run: int = 0,
    names: float | None = None,
    *,
    annotate_cost: int = 0,
    cuda: str | None = None,
) -> str:
    """The configuration of the injection library for a recording, as passed in NVSPAN_TRACE.

    `annotate_cost` is kept for readers: the ns of one annotation, recorded; 0: not measured.
    `cuda` None: what the variable NVSPAN_RECORD_CUDA of the process says.

    Raises:
        ValueError: an unknown mode, a file name with a null character, `names` that are not more
            than 0, what `cuda` cannot be, or kernels in a mode that keeps no events.
        TypeError: `names` is no number.
    """
    if isinstance(domains, str):
        raise TypeError(f"domains must be a list of names, not {domains!r}; write [{domains!r}]")
    name = _DEFAULT_NAME if path is None else path
    parts = launch._config_parts("record", name, domains)
    parts.append(f"mode={mode_config(mode)}")
    if min_duration:
        parts.append(f"min_duration={int(min_duration)}")
    if names is not None:
        parts.append(f"names={_name_bytes(names)}")
    if run:
        parts.append(f"run={run}")
    if cuda is not None:
        if gpu_work.check_choice(cuda) != "off" and mode in ("stats", "armed"):
            raise ValueError(f"cuda={cuda} needs the mode full or ring, not {mode}")
        parts.append(f"cuda={cuda}")
    if annotate_cost:
        parts.append(f"annotate_cost={annotate_cost}")
    return ";".join(parts)


def run_of(path: str) -> int | None:
    """The number of the run that wrote a recording, 0 where it has none; None: not a recording."""
    from nvspan import _reader

    header = _reader.file_header(os.fsencode(path))
    return None if header is None else header.run


def recording_files(path: str | os.PathLike[str] | None, run: int) -> list[str]:
    """The files that processes with this `run` made of the template `path`, the oldest first."""
    from nvspan import _reader

    folder, name = os.path.split(os.path.abspath(os.fspath(path or _DEFAULT_NAME)))
    prefix = os.path.splitext(name)[0].partition("{")[0]
    found = []
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    for entry in names:
        if not entry.startswith(prefix):
            continue
        full = os.path.join(folder, entry)
        try:
            header = _reader.file_header(os.fsencode(full))
            if header is not None and header.run == run:
                found.append((os.stat(full).st_ctime_ns, full))
        except OSError:
            continue
    return [full for _, full in sorted(found)]


class record(launch._Attachment):
    """Records NVTX events into a file, from `start` to `stop`.

    It sees the annotations that go through nvspan at any time, and those of another library (torch,
    nvtx, a C++ extension) if that library makes its first NVTX call while it runs: NVTX looks for a
    tool once. Start it before importing such libraries, or use ``nvspan record``, to have all.
    A warning says when one of them was imported before.

    Args:
        path: the file; ``{host}``, ``{rank}`` and ``{pid}`` are replaced. None is
            ``nvspan-{pid}.nvspan`` in the current directory. A file that exists is never touched:
            "-1", "-2", ... is put before the suffix. `paths` says what the names became.
        mode: "full"; "ring=64" keeps the newest events in 64 MB; "stats" keeps statistics alone, in
            memory that goes with the number of names, up to `names`; "armed" keeps no events, only
            which ranges are open, for `nvspan.where`.
        domains: the names of the domains to record ("NVTX" is the default domain); None: all.
        min_duration: ranges shorter than so many ns are left out, those of push and pop unless
            something that was kept happened inside.
        names: the megabytes of the file that names may take; None: what the variable
            NVSPAN_RECORD_NAMES says, else 16 in a ring, 32 of statistics, no limit in full. Events
            whose new names do not fit keep their times and counts, and are called "(other names)",
            in each domain.

        lines: how many times a second the stacks of Python's threads are sampled; "auto": at
            first 1,000 times, then as often as a two-hundredth of a processor allows; "armed": once
            ``nvspan attach --lines`` asks for it; None: not.
        cuda: what is recorded of GPUs, in the modes full and ring: "kernels" (or "auto"), kernels,
            copies, sets and graphs with the calls that launched them; "api", all calls of the
            runtime and the driver too; "memory", allocations and frees too; "graphs", each kernel
            of a graph too; several of them with commas; "all"; "off". None: what the variable
            NVSPAN_RECORD_CUDA says, else nothing. Work that was launched before the recording
            began is not in it.

    Raises:
        ValueError: an unknown mode, `names` that are not more than 0, a rate that `lines` cannot
            be, or what `cuda` cannot be.
        TypeError: `names` or `lines` is no number.

    Each start makes a new file. Forked children, and programs that are started meanwhile, record
    into files of their own. Whatever happens to the process, what was recorded can be read.

    >>> import nvspan
    >>> with nvspan.record("run.nvspan") as recorder:                    # doctest: +SKIP
    ...     with nvspan.annotate("step"):
    ...         pass
    >>> nvspan.read(*recorder.paths).stats().rows[0].calls            # doctest: +SKIP
    1
    """

    _noun = "recording"
    _done = "recorded"

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        mode: str = "full",
        domains: Iterable[str] | None = None,
        min_duration: int | None = None,
        names: float | None = None,
        lines: float | str | None = None,
        cuda: str | None = None,
    ) -> None:
        self._period = None if lines is None else line_samples.period_of(lines)
        self._path = os.path.abspath(os.fsdecode(_DEFAULT_NAME if path is None else path))
        self._run = int.from_bytes(os.urandom(6), "little") | 1
        self._cuda = cuda
        self._has_cuda_injection = False
        super().__init__(
            config_string(self._path, mode, domains, min_duration, self._run, names, cuda=cuda)
        )

    @property
    def paths(self) -> list[str]:
        """The files of this recording, of every process, the oldest first."""
        return recording_files(self._path, self._run)

    def _after_attaching(self, library: str) -> None:
        os.environ[launch.INJECTION_VARIABLE] = library
        os.environ[launch.CONFIG_VARIABLE] = self._config
        self._has_cuda_injection = gpu_work.add_to_environment(os.environ, self._cuda, library)
        if self._has_cuda_injection:
            gpu_work.lend_cupti()
        if self._period is None:
            return
        problem = line_samples.start(library, self._period)
        if problem is not None:
            import warnings

            text = f"lines are not sampled: {problem}"
            warnings.warn(text, _core.NvspanWarning, stacklevel=4)

    def _before_detaching(self) -> None:
        line_samples.stop()
        os.environ.pop(launch.INJECTION_VARIABLE, None)
        os.environ.pop(launch.CONFIG_VARIABLE, None)
        if self._has_cuda_injection:
            gpu_work.remove_from_environment()

    def _after_start(self) -> None:
        early = [name for name in callers_of_nvtx if name in sys.modules]
        if not early:
            return
        import warnings

        text = (
            f"{' and '.join(early)} was imported before the recording started, so its ranges may "
            "be missing; start the recording before importing it, or use 'nvspan record'"
        )
        try:
            warnings.warn(text, _core.NvspanWarning, stacklevel=4)
        except Warning:
            self.stop()  # warnings are errors here: nothing has begun
            raise


def record_as_environment_says() -> None:
    """Makes NVTX load the injection library where NVSPAN_RECORD names a file.

    It is called by ``import nvspan``. Where another tool is attached, nothing is recorded.
    """
    if not os.environ.get(RECORD_VARIABLE):
        return
    try:
        library = launch.injection_library()
    except RuntimeError:
        return
    tool = launch.attached_tool()
    if tool is None:
        os.environ[launch.INJECTION_VARIABLE] = library
        gpu_work.add_to_environment(os.environ, None, library)
    elif os.path.basename(tool) != os.path.basename(library):
        os.write(2, f"nvspan: {RECORD_VARIABLE} ignored: another NVTX tool is attached ({tool})\n"
                 .encode(errors="replace"))  # fmt: skip


def sample_as_environment_says() -> None:
    """Begins to sample lines where NVSPAN_RECORD_LINES says so, and nothing has begun before.

    It is called by ``import nvspan``, once NVTX finds the recorder.
    """
    rate = os.environ.get(line_samples.LINES_VARIABLE)
    tool = launch.attached_tool()
    if not rate or tool is None or "nvspan._lines" in sys.modules:
        return
    try:
        library = launch.injection_library()
        if os.path.basename(tool) != os.path.basename(library):
            return
        period = line_samples.period_of(rate)
        problem = None if period is None else line_samples.start(tool, period)
    except RuntimeError:
        return
    except ValueError as error:
        problem = str(error).replace("lines must", f"{line_samples.LINES_VARIABLE} must")
    if problem is not None:
        text = f"nvspan: lines are not sampled: {problem}\n"
        os.write(2, text.encode(errors="replace"))
