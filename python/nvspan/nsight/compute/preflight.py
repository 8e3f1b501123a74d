# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a replay mode of Nsight Compute needs, checked before the run: by the calls of CUDA's driver
that a dry recording has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nvspan.nsight.compute.messages import NOTE, OK, PROBLEM, Finding
from nvspan.nsight.driver.driver_calls import ProcessCalls, driver_calls
from nvspan.nsight.driver.range_work import Work, works
from nvspan.nsight.lines.counting import slice_of
from nvspan.nsight.ranges.occurrences import occurrences
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.recording import Recording

_SHOWN = 4
AS_ONE = ("range", "app-range")
"""The modes that measure a range as one thing."""
_SAVES = ("kernel", "range")
_WARM_UP = ("run it once before the range begins: nvspan.torch.warmup(model, *inputs), or "
            "nvspan.nsight.profile_region(..., warmup=1)")  # fmt: skip
_ELSEWHERE = ("ranges that hold such calls can be profiled by --replay app-range, or kernel by "
              "kernel without --replay")  # fmt: skip


@dataclass(frozen=True)
class Preflight:
    """What was checked.

    Attributes:
        findings: one for each fact.
        fails: whether the run would profile nothing.
        unchecked: the one finding where nothing could be checked.
    """

    findings: list[Finding]
    fails: bool
    unchecked: Finding | None = None


class _Fact(NamedTuple):
    """What is so of a filter's ranges: the sentence goes on after their names."""

    status: str
    text: str
    remedies: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def preflight(
    filters: Sequence[RangeFilter], recording: Recording, replay: str, calls: str | None = None,
    problem: str | None = None,
) -> Preflight:  # fmt: skip
    """Checks what `replay` needs of the ranges that `filters` hit in a dry recording.

    Args:
        calls: which calls of the one range are profiled, as `ncu_command` has it.
        problem: why the recording has no calls of CUDA's driver, where that is known.

    Raises:
        ValueError: the recording has statistics only, or `calls` is none.
    """
    known = driver_calls(recording)
    if known.problem is not None:
        text = f"what --replay {replay} needs could not be checked: {problem or known.problem}"
        unchecked = Finding(NOTE, text)
        return Preflight([unchecked], fails=False, unchecked=unchecked)
    of = {filter: _works(filter, recording, known.processes, calls) for filter in filters}
    of = {filter: found for filter, found in of.items() if found}
    checks: list[Callable[[RangeFilter, list[Work]], _Fact | None]] = [_kernels]
    if replay == "range":  # the calls that make a context are among those that are refused
        checks += [_calls, _waits, _warmth]
    elif replay == "app-range":
        checks += [_context, _warmth]
    findings = [
        finding
        for check in checks
        for finding in _told((filter, check(filter, found)) for filter, found in of.items())
    ]
    if replay in _SAVES:
        findings += _memory([work for found in of.values() for work in found], known.processes,
                            replay)  # fmt: skip
    return Preflight(findings, _fails(of, replay))


def _works(
    filter: RangeFilter, recording: Recording, processes: dict[int, ProcessCalls],
    calls: str | None,
) -> list[Work]:  # fmt: skip
    """What is called in the chosen calls of a range, of the processes that use CUDA."""
    made: list[Work] = []
    hits = occurrences(filter, recording)
    for process, of in processes.items():
        chosen = [hit for hit in hits if hit.process == process]
        if calls is not None:
            first, last, every = slice_of("calls", calls)
            chosen = chosen[first:last:every]
        made += works(chosen, of, only_own_thread=not filter.span)
    return made


def _told(facts: Iterable[tuple[RangeFilter, _Fact | None]]) -> list[Finding]:
    """A finding for each fact, of all filters of which it is true."""
    names: dict[_Fact, list[str]] = {}
    for filter, fact in facts:
        if fact is not None:
            names.setdefault(fact, []).append(f"'{filter}'")
    made = []
    for fact, of in names.items():
        subject = of[0] if len(of) == 1 else f"each of {_listed(of)}"
        made.append(Finding(fact.status, f"{subject} {fact.text}", fact.remedies, fact.options))
    return made


def _times(count: int, of: int) -> str:
    if count == of:
        return "" if of == 1 else f" each of the {of} times"
    return f" {count} of {of} times"


def _listed(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def _first_alone(works: list[Work], is_bad: Callable[[Work], object]) -> bool:
    """Whether it is the first time in each process, and no other."""
    return len(works) > 1 and all(bool(is_bad(work)) == work.is_first for work in works)


def _kernels(filter: RangeFilter, works: list[Work]) -> _Fact | None:
    empty = [work for work in works if not work.launches]
    if not empty:
        return None
    if len(empty) < len(works):
        return _Fact(NOTE, f"launches no kernel{_times(len(empty), len(works))}")
    if any(work.captures for work in works):
        return _Fact(
            PROBLEM, "captures a CUDA graph, and launches no kernel",
            ("the graph's kernels run, and are profiled, where it is launched",),
        )  # fmt: skip
    if any(work.launches_elsewhere for work in works):
        return _Fact(
            PROBLEM, "launches no kernel in its thread: other threads launch them meanwhile",
            ("mark them with a start/end range, nvspan.span, which counts for all threads",),
        )  # fmt: skip
    return _Fact(PROBLEM, "launches no kernel: nothing would be profiled")


def _calls(filter: RangeFilter, works: list[Work]) -> _Fact | None:
    refused = [work for work in works if work.refused]
    unlisted = [work for work in works if work.unlisted]
    if not refused and not unlisted:
        return _Fact(OK, "makes only calls of CUDA that range replay can repeat")
    if not refused:
        called = list(dict.fromkeys(name for work in unlisted for name in work.unlisted))
        it = "it" if len(called) == 1 else "them"
        return _Fact(
            NOTE, f"calls {_listed(called)}{_times(len(unlisted), len(works))}: Nsight Compute's "
            f"documentation does not have {it} among the calls that range replay can repeat",
            (_ELSEWHERE,),
        )  # fmt: skip
    names = _listed(name for work in refused for name in work.refused)
    text = f"calls {names}{_times(len(refused), len(works))}, which range replay cannot repeat"
    if not any(work.is_first for work in refused):
        # Seen on an H200: the same calls pass in each range after a process's first, and its
        # results are right.
        return _Fact(
            NOTE, f"calls {names}{_times(len(refused), len(works))}, which Nsight Compute refuses "
            "in the first range that it profiles in a process",
        )  # fmt: skip
    if any(work.is_cold for work in refused):
        first = _first_alone(works, lambda work: work.refused)
        options = ("--calls", "1:") if first else ("--replay", "app-range")
        return _Fact(PROBLEM, f"{text}: CUDA begins in it", (_WARM_UP, _ELSEWHERE), options)
    if any(work.captures for work in refused):
        remedy = "capture the graph before the range begins, and launch it within"
        return _Fact(PROBLEM, f"{text}: a CUDA graph is captured in it", (remedy, _ELSEWHERE),
                     ("--replay", "app-range"))  # fmt: skip
    return _Fact(PROBLEM, text, (f"call {names} outside of the range", _ELSEWHERE),
                 ("--replay", "app-range"))  # fmt: skip


def _waits(filter: RangeFilter, works: list[Work]) -> _Fact | None:
    if ends := sum(work.ends_amid_work for work in works):
        return _Fact(
            NOTE, f"ends{_times(ends, len(works))} without a call that waits for its work", (
                "annotate(sync=True), nvspan.nsight.profile_region and torch.cuda.synchronize() "
                "wait",),
        )  # fmt: skip
    before = ""
    if any(work.begins_amid_work for work in works):
        before = "; for what came before it, Nsight Compute waits"
    return _Fact(OK, f"waits for its work before it ends{before}")


def _context(filter: RangeFilter, works: list[Work]) -> _Fact | None:
    cold = [work for work in works if work.is_cold]
    if not cold:
        return None
    options = ("--calls", "1:") if _first_alone(works, lambda work: work.is_cold) else ()
    return _Fact(
        PROBLEM, f"makes the CUDA context{_times(len(cold), len(works))}: there must be one when a "
        "range begins that is to be measured as one thing", (_WARM_UP,), options,
    )  # fmt: skip


def _warmth(filter: RangeFilter, works: list[Work]) -> _Fact | None:
    if any(work.is_cold for work in works):
        return None
    loads = [work for work in works if work.loads]
    if not loads:
        return _Fact(OK, "begins in a context that is there, and loads no kernels")
    options = ("--calls", "1:") if _first_alone(works, lambda work: work.loads) else ()
    return _Fact(
        NOTE, f"loads kernels{_times(len(loads), len(works))}: the library is not warm",
        (_WARM_UP,), options,
    )  # fmt: skip


def _bytes(count: float) -> str:
    unit, name = (2**30, "GiB") if count >= 2**30 else (2**20, "MiB")
    return f"{count / unit:.1f} {name}"


def host_memory() -> int:
    """How many bytes of this machine's memory are available; 0 where nobody can tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0


def _memory(works: list[Work], processes: dict[int, ProcessCalls], replay: str) -> list[Finding]:
    """Whether what the kernels write can be saved beside it."""
    known = [m for work in works for m in processes[work.process].memory_at(work.start) if m.total]
    if not known:
        return []
    most = max(known, key=lambda memory: memory.used / memory.total)
    free, host = most.total - most.used, host_memory()
    text = f"{_bytes(most.used)} of the GPU's {_bytes(most.total)} are in use"
    if most.used <= free:
        return [Finding(OK, f"{text}: what is written can be saved beside it between passes")]
    other = "app-range" if replay == "range" else "application"
    place = "the host's memory, which is slow"
    if host and most.used > free + host:
        place = f"the host's memory, of which {_bytes(host)} are available, and then in a file"
    return [Finding(
        NOTE, f"{text}: of what is written, more than {_bytes(free)} would be saved in {place}",
        (f"--replay {other} repeats the program instead, and saves nothing",),
        ("--replay", other),
    )]  # fmt: skip


def _fails(of: dict[RangeFilter, list[Work]], replay: str) -> bool:
    """Whether nothing would be profiled: Nsight Compute ends a process at the first range that it
    cannot repeat."""
    works = sorted((w for found in of.values() for w in found), key=lambda w: (w.process, w.start))
    if not works:
        return False
    first = {work.process: work for work in reversed(works)}
    return replay == "range" and all(work.refused for work in first.values())
