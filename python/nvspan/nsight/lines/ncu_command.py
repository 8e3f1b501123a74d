# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of Nsight Compute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nvspan.nsight.lines.counting import slice_of
from nvspan.nsight.lines.launchers import inside, is_launched, output_name, rank_variable
from nvspan.nsight.lines.on_ranks import wrapper
from nvspan.nsight.ranges.names import range_filters
from nvspan.nsight.ranges.range_filter import RangeFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.recording import Recording

REPLAY_MODES = ("kernel", "application", "range", "app-range")
PROCESSES = ("all", "application-only")
CLOCK_CONTROLS = ("base", "none", "boost", "force-boost", "reset")
CACHE_CONTROLS = ("all", "none")
PRESETS = {
    "quick": ["--metrics", "gpu__time_duration.sum"],
    "standard": ["--set", "detailed"],
    "comprehensive": ["--set", "full"],
}
# Plain names, as metrics or as sections of ncu.
METRICS = {
    "time": ("gpu__time_duration.sum",),
    "dram": ("dram__bytes.sum", "dram__throughput.avg.pct_of_peak_sustained_elapsed"),
    "tensor": ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",),
}
SECTIONS = {
    "occupancy": "Occupancy",
    "sol": "SpeedOfLight",
    "roofline": "SpeedOfLight_RooflineChart",
    "memory": "MemoryWorkloadAnalysis",
    "stalls": "WarpStateStats",
    "launch": "LaunchStats",
}
MOST_CALLS = 1000


def ncu_command(
    program: Sequence[str],
    ranges: str | Iterable[str | RangeFilter] = (),
    *,
    exclude: str | Iterable[str | RangeFilter] = (),
    recording: Recording | None = None,
    replay: str = "kernel",
    preset: str | None = None,
    metrics: Iterable[str] = (),
    sets: Iterable[str] = (),
    calls: str | tuple[int, ...] | None = None,
    kernel: str | None = None,
    kernel_id: str | None = None,
    launch_skip: int | None = None,
    launch_count: int | None = None,
    clock_control: str | None = None,
    cache_control: str | None = None,
    processes: str = "all",
    ranks: str | None = None,
    output: str | None = None,
    force: bool = False,
    options: Iterable[str] = (),
    ncu: str = "ncu",
) -> list[str]:
    """The command line with which Nsight Compute profiles the kernels in ranges of a program.

    Args:
        program: its command line. Of torchrun, srun and mpirun, ncu profiles what they start.
        ranges: of which the kernels are profiled; none are all kernels. Filters or their texts, and
            plain names as `range_filters` has them if there is a `recording`.
        exclude: ranges in which none is profiled.
        recording: of the program, for plain names and for `calls` without an end.
        replay: "kernel", "application", "range" or "app-range"; the last two profile each range as
            one thing, and need `ranges`.
        preset: "quick" (times), "standard" (the set ``detailed``) or "comprehensive" (``full``).
        metrics: names of ncu (with a ``__`` in them) or its sections, or plain ones: time, dram,
            tensor, occupancy, sol, roofline, memory, stalls, launch.
        sets: of sections, as ncu has them.
        calls: which calls of the one range, counted from 0: ``"3:5"`` are the fourth and the fifth,
            ``"::10"`` every tenth (with a `recording` only, which says how many there are).
        kernel: a part of the kernel's name, as a regular expression.
        kernel_id: ``context:stream:name:invocation``, as ncu has it.
        launch_skip: how many kernels that match are left out at first.
        launch_count: how many results at most.
        clock_control: "base" or "none"; newer versions also have "boost", "force-boost", "reset".
        cache_control: "all" (ncu's default) or "none".
        processes: "all" or "application-only".
        ranks: which of a launcher's ranks are profiled, as ``"0,3"`` or ``"0-3"``; None is all. The
            others run as they are.
        output: the report's name, with {host}, {rank} and {pid} filled in by ncu; the default is
            ``nvspan-{pid}``, and ``nvspan-{host}-{rank}-{pid}`` under a launcher.
        force: write over reports that exist.
        options: further options of ncu.
        ncu: the program ncu.

    Raises:
        TypeError: `program` or `options` is no list of strings, or a number no int.
        ValueError: an argument that ncu does not know, or that another one rules out.

    >>> ncu_command(["python", "train.py"], "app@step/", metrics=["time"], output="run")[5:10]
    ['--metrics', 'gpu__time_duration.sum', '--nvtx', '--nvtx-include', 'app@step/']
    """
    included, excluded = filters_of(ranges, recording), filters_of(exclude, recording)
    for name, value, known in (
        ("replay", replay, REPLAY_MODES),
        ("processes", processes, PROCESSES),
        ("preset", preset, tuple(PRESETS)),
        ("clock_control", clock_control, CLOCK_CONTROLS),
        ("cache_control", cache_control, CACHE_CONTROLS),
    ):
        if value is not None and value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    if replay in ("range", "app-range") and not included:
        raise ValueError(f"ranges must name what replay={replay!r} is to profile as one thing")
    words = ["--target-processes", processes, "--replay-mode", replay]
    if preset is not None:
        words += PRESETS[preset]
    words += _measured(metrics, sets)
    words += chosen_kernels(kernel, kernel_id, launch_skip, launch_count)
    words += ["--clock-control", clock_control] if clock_control is not None else []
    words += ["--cache-control", cache_control] if cache_control is not None else []
    if included or excluded:
        words.append("--nvtx")
    # ncu wants all of the first before the second.
    words += [word for filter in included for word in filter.arguments()]
    words += [word for filter in excluded for word in filter.arguments(exclude=True)]
    if calls is not None:
        words += _numbered(calls, included, excluded, recording)
    if force:
        words.append("--force-overwrite")
    launched = is_launched(program)
    report = output or ("nvspan-{host}-{rank}-{pid}" if launched else "nvspan-{pid}")
    words += ["--export", output_name(report, program)]
    if isinstance(options, str):
        raise TypeError(f"options must hold options, and not be one str: {options!r}")
    tool = [ncu, *words, *options]
    if ranks is not None:
        if not launched:
            raise ValueError("ranks needs a program that torchrun, srun or mpirun starts")
        tool = wrapper(tool, rank_variable(program), ranks)
    return inside(program, tool)


def _names(name: str, value: Iterable[str]) -> list[str]:
    if isinstance(value, str):
        raise TypeError(f"{name} must be several names, as ['time'], not {value!r}")
    return list(value)


def filters_of(
    ranges: str | Iterable[str | RangeFilter], recording: Recording | None
) -> list[RangeFilter]:
    """The filters for ranges: plain names where a recording tells them, else texts for ncu."""
    items = [ranges] if isinstance(ranges, str) else list(ranges)
    if recording is not None and items:
        return range_filters(items, recording)
    filters = []
    for item in items:
        if isinstance(item, RangeFilter):
            filters.append(item)
        else:  # a list with semicolons, each of which ncu wants in an option of its own
            filters += [RangeFilter.parse(text.strip()) for text in item.split(";") if text.strip()]
    return filters


def _measured(metrics: Iterable[str], sets: Iterable[str]) -> list[str]:
    """The options for sets, sections and metrics, each once."""
    words = [word for name in _names("sets", sets) for word in ("--set", name)]
    wanted: dict[str, None] = {}
    for name in _names("metrics", metrics):
        if name in METRICS:
            wanted.update(dict.fromkeys(METRICS[name]))
        elif "__" in name or ":" in name:
            wanted[name] = None
        elif name in SECTIONS or name[:1].isupper():
            words += section_words([name])
        else:
            known = ", ".join(sorted({*METRICS, *SECTIONS}))
            raise ValueError(
                f"metrics: no {name!r}; plain names are {known}, others are ncu's: "
                "'sm__cycles_active.avg', or a section as 'Occupancy'"
            )
    return [*words, *(["--metrics", ",".join(wanted)] if wanted else [])]


def section_words(names: Iterable[str]) -> list[str]:
    """ncu's options for sections by ncu's names or by plain ones."""
    return [word for name in names for word in ("--section", SECTIONS.get(name, name))]


def chosen_kernels(
    kernel: str | None, kernel_id: str | None, skip: int | None, count: int | None
) -> list[str]:
    """ncu's options that choose kernels, as `ncu_command` has them.

    Raises:
        TypeError, ValueError: as `ncu_command`.
    """
    words = []
    if kernel is not None:
        words += ["--kernel-name", f"regex:{kernel.removeprefix('regex:')}"]
    if kernel_id is not None:
        if kernel_id.count(":") < 3:
            raise ValueError(
                "kernel_id must be context:stream:name:invocation, as '::gemm:2', not "
                f"{kernel_id!r}"
            )
        words += ["--kernel-id", kernel_id]
    for name, number, least in (("launch_skip", skip, 0), ("launch_count", count, 1)):
        if number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"{name} must be an int, not {number!r}")
        if number < least:
            raise ValueError(f"{name} must be {least} or more, not {number}")
        words += [f"--{name.replace('_', '-')}", str(number)]
    return words


def _numbered(
    calls: str | tuple[int, ...],
    included: list[RangeFilter],
    excluded: list[RangeFilter],
    recording: Recording | None,
) -> list[str]:
    """Which calls of the range, as ncu numbers them: from 1."""
    if len(included) != 1 or excluded:
        raise ValueError(
            "calls needs one range and no exclude: ncu numbers the calls of all its filters "
            f"together, and here are {len(included)} and {len(excluded)}"
        )
    first, last, every = slice_of("calls", calls)
    if last is None:
        if recording is None:
            raise ValueError(f"calls must have an end, or a recording that says it: {calls!r}")
        last = included[0].evaluate(recording).calls
    numbers = range(first + 1, last + 1, every)
    if not numbers or len(numbers) > MOST_CALLS:
        raise ValueError(f"calls must be 1 to {MOST_CALLS} calls, not {len(numbers)}: {calls!r}")
    return ["--range-filter", f"::{'|'.join(map(str, numbers))}"]
