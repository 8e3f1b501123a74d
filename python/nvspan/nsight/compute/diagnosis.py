# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of range filters: why ncu profiled no kernel, from a recording of the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from nvspan.nsight.compute.messages import NOTE, OK, PROBLEM, Finding
from nvspan.nsight.ranges.names import Known, known_ranges, whole_name
from nvspan.nsight.ranges.range_filter import FilterHits, RangeFilter
from nvspan.recording import Recording

_PLACES = 3
AS_ONE = ("range", "app-range")
"""The replay modes that measure a range as one thing."""


def of_filter(filter: RangeFilter, recording: Recording, rank: int | None = None) -> Finding:
    """Whether a filter hits ranges of the program, or of one of its ranks, and what was meant if
    not."""
    hits = filter.evaluate(recording)
    if hits:
        ranks = _ranks(hits, recording)
        if rank is not None and None not in ranks and rank not in ranks:
            named = ", ".join(map(str, sorted(ranks, key=str)))
            return Finding(
                PROBLEM,
                f"'{filter}' did not run on this rank in the recording, but on {named}",
                options=("--ranks", named.replace(" ", "")),
            )
        times = "once" if hits.calls == 1 else f"{hits.calls} times"
        return Finding(OK, f"'{filter}' is a range of the program: it ran {times} in the recording")
    return replace(_missing(filter, known_ranges(recording)), instead=str(filter))


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
        return Finding(
            PROBLEM,
            f"{text}: no name is like this expression",
            ("'nvspan trace' shows the program's ranges",),
        )
    for name in filter.names:
        if not any(name in names for names in known.values()):
            return _unknown(text, name, known)
    if len(filter.names) > 1:
        return _apart(text, filter, known)
    (name,) = filter.names
    places = [domain for domain, names in known.items() if name in names]
    plain = tuple(_plain(domain, name, known) for domain in places[:_PLACES])
    if filter.domain not in places:
        where = " and ".join(map(_domain, places[:_PLACES]))
        meant = f"{text}: {name!r} is in {where}, and the filter means {_domain(filter.domain)}"
        return Finding(PROBLEM, meant, ranges=plain)
    nested, _ = known[filter.domain][name]
    ranges = (_plain(filter.domain, name, known),)
    if filter.span:
        why = (f"{text}: {name!r} is a push/pop range, and without a slash at its end the filter "
               "means start/end ranges")  # fmt: skip
    elif not nested:
        why = (
            f"{text}: {name!r} is a start/end range, and the slash at its end means push/pop ranges"
        )
    else:
        place = "outermost" if filter.bottom else "innermost"
        why = f"{text}: {name!r} is never the {place} range of its domain"
    return Finding(PROBLEM, why, ranges=ranges)


def _unknown(text: str, name: str, known: Known) -> Finding:
    every = sorted({name for names in known.values() for name in names})
    close = get_close_matches(name, every, 3, 0.0)
    if not close:
        return Finding(PROBLEM, f"{text}: the program has no ranges with names")
    nearest = ", ".join(map(repr, close))
    domain = next(domain for domain, names in known.items() if close[0] in names)
    return Finding(
        PROBLEM,
        f"{text}: there is no range {name!r}; the nearest are {nearest}",
        ranges=(_plain(domain, close[0], known),),
    )


def _apart(text: str, filter: RangeFilter, known: Known) -> Finding:
    names = " and ".join(map(repr, filter.names))
    if filter.span:
        return Finding(PROBLEM, f"{text}: {names} are never open together, as start/end ranges")
    places = [{d for d, names in known.items() if name in names} for name in filter.names]
    if not set.intersection(*places):
        why = f"{text}: {names} are of different domains, and a filter is for one of them"
        last = filter.names[-1]
        return Finding(PROBLEM, why, ranges=(_plain(min(places[-1], key=str), last, known),))
    why = f"{text}: {names} are ranges, but never so within each other in this domain"
    return Finding(
        PROBLEM, why, ("'outer > inner' lets any ranges be between the two",),
        ranges=(" > ".join(filter.names),),
    )  # fmt: skip


def of_kernels(replay: str, *, in_other_process: bool) -> Finding:
    """What is left where the range ran and no kernel was profiled in it."""
    remedies = [
        "'nvspan ncu --launch-count 20 ...' without a range shows kernels with their ranges",
        "the kernels are launched by another thread (as the backward pass of PyTorch is): mark "
        "them with a start/end range, nvspan.span, which counts for all threads",
        "the range captures a CUDA graph: its kernels run, and are profiled, where it is launched",
    ]
    if in_other_process:
        remedies.insert(0, "the range ran in another process than the kernels")
    text = "the range ran, but its thread launched no kernel in it"
    return Finding(PROBLEM, text, tuple(remedies))


def of_nesting(filters: Sequence[RangeFilter], recording: Recording) -> list[Finding]:
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
        Finding(NOTE, f"{name!r} runs within {outer!r}: range replay profiles the outer range "
                "alone", ("--per-region profiles each of them in a run of its own",),
                ("--per-region",))
        for name, outer in inner.items()
    ]  # fmt: skip


def before(
    filters: Sequence[RangeFilter], recording: Recording, replay: str, *, launched: bool
) -> list[Finding]:
    """What a run may meet, as far as a recording tells it."""
    found = []
    if replay in AS_ONE:
        found += of_nesting(filters, recording)
    if launched and replay != "app-range":
        found.append(Finding(
            NOTE,
            "kernels that wait for other ranks (NCCL) stop for good when ncu repeats them alone",
            ("leave them out: --exclude RANGE or --kernel REGEX; or use --replay app-range",),
        ))  # fmt: skip
    return found
