# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of range filters: why ncu profiled no kernel, from a recording of the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nvspan.nsight.compute.launches import launch_findings
from nvspan.nsight.compute.messages import OK, Finding, note, problem
from nvspan.nsight.ranges.names import Known, known_ranges, whole_name
from nvspan.nsight.ranges.range_filter import FilterHits, RangeFilter
from nvspan.recording import Recording
from nvspan.recording.nearest import nearest

_PLACES = 3
AS_ONE = ("range", "app-range")
"""The replay modes that measure a range as one thing."""


def filter_finding(filter: RangeFilter, recording: Recording, rank: int | None = None) -> Finding:
    """Whether a filter hits ranges of the program, or of one of its ranks, and what was meant if
    not."""
    hits = filter.evaluate(recording)
    if not hits:
        return replace(_missing(filter, known_ranges(recording)), instead=str(filter))
    ranks = _ranks(hits, recording)
    if rank is not None and None not in ranks and rank not in ranks:
        named = ", ".join(map(str, sorted(ranks, key=str)))
        return problem(
            f"'{filter}' did not run on this rank in the recording, but on {named}",
            options=("--ranks", named.replace(" ", "")),
        )
    times = "once" if hits.calls == 1 else f"{hits.calls} times"
    return Finding(OK, f"'{filter}' is a range of the program: it ran {times} in the recording")


def _ranks(hits: FilterHits, recording: Recording) -> set[int | None]:
    """The ranks on which ranges ran; None is a process without one."""
    process_of = recording.threads["process"]
    return {recording.processes[process_of[thread]].rank for thread in hits.threads}


def _plain(domain: str | None, name: str, known: Known) -> str:
    """The name as `range_filters` takes it: with its domain where others have it, too."""
    if sum(name in names for names in known.values()) == 1:
        return name
    return whole_name(domain, name)


def _domain(domain: str | None) -> str:
    return "the default domain" if domain is None else f"the domain {domain!r}"


def _missing(filter: RangeFilter, known: Known) -> Finding:
    text = f"'{filter}' hits no range of the program"
    if filter.regex:
        shows = "'nvspan trace' shows the program's ranges"
        return problem(f"{text}: no name is like this expression", shows)
    for name in filter.names:
        if not any(name in names for names in known.values()):
            return _unknown(text, name, known)
    if len(filter.names) > 1:
        return _apart(text, filter, known)
    (name,) = filter.names
    places = [domain for domain, names in known.items() if name in names]
    if filter.domain not in places:
        where = " and ".join(map(_domain, places[:_PLACES]))
        meant = f"{name!r} is in {where}, and the filter means {_domain(filter.domain)}"
        ranges = [_plain(domain, name, known) for domain in places[:_PLACES]]
        return problem(f"{text}: {meant}", ranges=ranges)
    if filter.span:
        why = (
            "is a push/pop range, and without a slash at its end the filter means start/end ranges"
        )
    elif "push_pop" not in known[filter.domain][name]:
        why = "is a start/end range, and the slash at its end means push/pop ranges"
    else:
        why = f"is never the {'outermost' if filter.bottom else 'innermost'} range of its domain"
    return problem(f"{text}: {name!r} {why}", ranges=[_plain(filter.domain, name, known)])


def _unknown(text: str, name: str, known: Known) -> Finding:
    close = nearest(name, set().union(*known.values()), 3, 0.0)
    if not close:
        return problem(f"{text}: the program has no ranges with names")
    names_text = ", ".join(map(repr, close))
    domain = next(domain for domain, names in known.items() if close[0] in names)
    return problem(
        f"{text}: there is no range {name!r}; the nearest are {names_text}",
        ranges=[_plain(domain, close[0], known)],
    )


def _apart(text: str, filter: RangeFilter, known: Known) -> Finding:
    names = " and ".join(map(repr, filter.names))
    if filter.span:
        return problem(f"{text}: {names} are never open together, as start/end ranges")
    places = [{d for d, names in known.items() if name in names} for name in filter.names]
    if not set.intersection(*places):
        last = filter.names[-1]
        return problem(
            f"{text}: {names} are of different domains, and a filter is for one of them",
            ranges=[_plain(min(places[-1], key=str), last, known)],
        )
    return problem(
        f"{text}: {names} are ranges, but never so within each other in this domain",
        "'outer > inner' lets any ranges be between the two",
        ranges=[" > ".join(filter.names)],
    )


def without_kernels(*, in_other_process: bool) -> Finding:
    """What is left where the range ran and no kernel was profiled in it."""
    return problem(
        "the range ran, but its thread launched no kernel in it",
        *["the range ran in another process than the kernels"] * in_other_process,
        "'nvspan ncu --launch-count 20 ...' without a range shows kernels with their ranges",
        "the kernels are launched by another thread (as the backward pass of PyTorch is): mark "
        "them with a start/end range, nvspan.span, which counts for all threads",
        "the range captures a CUDA graph: its kernels run, and are profiled, where it is launched",
    )


def nested_ranges(filters: Sequence[RangeFilter], recording: Recording) -> list[Finding]:
    """Ranges that lie within others of the filters: range replay profiles the outer ones alone."""
    names = {(f.domain, f.names[-1]) for f in filters if not (f.regex or f.span)}
    inner: dict[str, str] = {}
    strings, domains = recording.strings, recording._reader.domains()
    wanted = {
        (number, name)
        for number, domain in enumerate(domains)
        for name, text in enumerate(strings)
        if (domain, text) in names
    }
    ranges = recording._reader.filtered(wanted, None, -(2**63), 2**63 - 1, 0)
    columns = (memoryview(ranges.column("ranges", c)) for c in ("thread", "name", "start", "end"))
    thread_before, until, around = -1, 0, -1
    for thread, name, start, end in zip(*columns, strict=True):
        if thread == thread_before and start < until and name != around:
            inner.setdefault(strings[name], strings[around])
            continue
        if thread != thread_before or start >= until:
            thread_before, until, around = thread, end, name
    return [
        note(
            f"{name!r} runs within {outer!r}: range replay profiles the outer range alone",
            "--per-region profiles each of them in a separate run",
            options=("--per-region",),
        )
        for name, outer in inner.items()
    ]


def before(
    filters: Sequence[RangeFilter], recording: Recording, replay: str, *, launched: bool
) -> list[Finding]:
    """What a run may meet, as far as a recording tells it."""
    found = nested_ranges(filters, recording) if replay in AS_ONE else []
    found += launch_findings(filters, recording, replay)
    if launched and replay != "app-range":
        waiting = note(
            "kernels that wait for other ranks (NCCL) stop for good when ncu repeats them alone",
            "leave them out: --exclude RANGE or --kernel REGEX; or use --replay app-range",
        )
        found.append(waiting)
    return found
