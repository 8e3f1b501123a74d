# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan diff``: what became slower or faster from some recordings to others."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import nvspan
from nvspan.answers.compare import ONE_RUN, SURE, Changes, compare, compare_all, read_runs
from nvspan.cli.common import many
from nvspan.cli.common.options import CUDA, MANY, SELECTION, TABLE, names, percentage
from nvspan.cli.common.parser import Parser, parser_of
from nvspan.cli.common.reading import (
    chosen_cuda,
    emit,
    note,
    opened,
    refuse_compute,
    selected_runs,
    stem_of,
)
from nvspan.recording.label import matches
from nvspan.recording.losses import damage_lines
from nvspan.recording.steps import OTHER, OUTSIDE
from nvspan.recording.time_text import counted, duration, exact_percent, percent
from nvspan.report import emptiness, render, text
from nvspan.report.kernel_changes import kernel_columns
from nvspan.report.line_changes import line_columns
from nvspan.report.narrow import fitted, width_of
from nvspan.report.progress import Progress

_USAGE = """\
nvspan diff [options] A B
       nvspan diff [options] A [A ...] -- B [B ...]"""

_DESCRIPTION = """\
Compares recordings B with recordings A: the mean duration of each range, and
the typical step by its phases, without warm-up. Files whose times overlap count
as one run. All limits hold at once with the probability --confidence. A change
is "slower" or "faster" when it is at least --threshold and its limits exclude
0. It is "same" when its limits are within the threshold, else "unsure". With
one run a side a change cannot be told from drift of the machine: give three or
more. Where the runs have samples, a slower range names the line that takes
longer, and where they have kernels, the kernel.
Reports of Nsight Systems are recordings, too.

--fail exits with 0 when nothing is slower, 1 when a range is slower, gone or
new, and 2 with one run a side."""

_MOST_NAMED = 3
_COLORS = {"slower": "31", "faster": "32", "unsure": "33"}


def _certainty(given: str) -> float:
    value = percentage(given)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must lie between 0% and 100%, not {given!r}")
    return value


def _two_names(given: str) -> list[str]:
    found = [name for name in given.split(",") if name]
    if len(found) != 2:
        raise argparse.ArgumentTypeError(f"must be two names, as in old,new, not {given!r}")
    return found


def _label(row: dict[str, Any]) -> str:
    """A range or phase, as `nvspan steps` has it."""
    if "of_step" in row and row["name"] == OTHER:
        return str(row["label"]).replace(OTHER, OUTSIDE, 1)
    return text.printable(row["label"])


def _cells(row: dict[str, Any], has_limits: bool, evidence: Sequence[str]) -> list[str]:
    both = (row["before"], row["after"])
    low, high = (percent(row[key], "+") for key in ("low", "high"))
    limits = [f"{low} .. {high}" if low else "", exact_percent(row["confidence"])]
    return [
        *("" if side is None else str(side["calls"]) for side in both),
        *("" if side is None else duration(side["mean"]) for side in both),
        percent(row["change"], "+"),
        *(limits if has_limits else ()),
        row["verdict"],
        _label(row),
        *("" if row[key] is None else row[key].cell() for key in evidence),
    ]


_KEYS = (
    *("domain", "name", "kind", "backward"),
    *("verdict", "change", "low", "high", "confidence", "of_step"),
)
_FIGURES = ("runs", "calls", "mean", "std", "p50", "total", "warmup")
_EVIDENCE = ("line", "kernel")
_LINE = ("line", "line_function", "line_added", "kernel", "kernel_added")
_COLUMNS = (*_KEYS, *_LINE, *(f"{key}_{side}" for side in ("before", "after") for key in _FIGURES))


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = {**{key: row.get(key) for key in _KEYS}, **line_columns(row), **kernel_columns(row)}
    for side in ("before", "after"):
        for key in _FIGURES:
            flat[f"{key}_{side}"] = None if row[side] is None else row[side][key]
    return flat


def _sides(parser: Parser, argv: Sequence[str]) -> tuple[argparse.Namespace, list[str], list[str]]:
    """The options, and the files of both sides: two, or those before and after "--"."""
    if "--" not in argv:
        options = parser.parse_args(argv)
        if len(options.files) > 2:
            parser.error("put -- between the files of the two sides: A A -- B B")
        if len(options.files) < 2:
            parser.error("two recordings are needed: A B")
        return options, options.files[:1], options.files[1:]
    at = list(argv).index("--")
    if "--" in argv[at + 1 :]:
        parser.error("-- separates two sides, and is here more than once")
    options = parser.parse_args(argv[:at])
    before = options.files
    parser.parse_args(argv[at + 1 :], options)
    for name, files in (("before", before), ("after", options.files)):
        if not files:
            parser.error(f"there is no recording {name} --")
    return options, before, options.files


def _common_start(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    return next((first[:i] for i, c in enumerate(first) if last[i : i + 1] != c), first)


def _names_of(sides: Sequence[Sequence[str]]) -> list[str]:
    """What tells the two sides apart in their paths: "A" and "B" where nothing short does."""
    paths = [[os.path.abspath(stem_of(file)) for file in files] for files in sides]
    folders = [[os.path.dirname(path) for path in side] for side in paths]
    for known in (paths, folders):
        found = [
            _common_start([os.path.basename(p) for p in side]).rstrip("-_. ") for side in known
        ]
        if all(found) and found[0] != found[1]:
            return [text.shortened(text.printable(name), 16) for name in found]
    return ["A", "B"]


def _parser() -> Parser:
    parser = parser_of("diff", _DESCRIPTION, SELECTION, TABLE, CUDA, MANY, usage=_USAGE)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="A ... -- B ...",
        help="the earlier recordings, and after -- the later ones",
    )
    parser.option(
        "--threshold PERCENT",
        "ignore changes of the mean up to this: 5%% (the default) or 0.05",
        type=percentage,
        default=0.05,
    )
    parser.option(
        "--confidence PERCENT",
        "confidence of all rows together: 95%% (the default)",
        type=_certainty,
        default=SURE,
    )
    parser.option(
        "--names A,B", "names of the two sides (default: from their paths)", type=_two_names
    )
    parser.option(
        "--repeats",
        "count each file, or directory of a job, as one run, also where times overlap",
    )
    parser.option("--fail", "exit with 1 if a range is slower, gone or new")
    parser.option("--strict", "with --fail: exit with 1 also if a row is unsure")
    parser.option(
        "--allow PATTERN",
        "with --fail: ignore these ranges, by name or domain:name (* and ?); may be repeated",
        action="append",
    )
    parser.option("--step NAME", "the range that is a step, as for nvspan steps")
    parser.option("--phases NAME,NAME", "the phases of a step, as for nvspan steps", type=names)
    return parser


def _compared(
    parser: Parser,
    options: argparse.Namespace,
    sides: Sequence[Sequence[nvspan.Recording]],
    own: Sequence[Sequence[nvspan.Recording]],
) -> tuple[Changes, Changes]:
    """The rows of the typical step of `sides`, and those of the ranges of `own`.

    There are no rows of steps where a filter by name is asked for, no range repeats, or steps have
    no phases.
    """
    asked = options.step or options.phases
    limits = (options.threshold, options.confidence)
    if asked or not options.filter:
        try:
            found = compare_all(
                sides[0],
                sides[1],
                *limits,
                step=options.step,
                phases=options.phases,
                ranges=(own[0], own[1]),
            )
            if asked or any(row["name"] not in ("step", OTHER) for row in found[0]):
                return found
        except ValueError as error:
            if asked:
                parser.fail(str(error))
    return Changes(), compare(own[0], own[1], *limits)


def _blocks(
    options: argparse.Namespace,
    called: Sequence[str],
    steps: Sequence[dict[str, Any]],
    ranges: Sequence[dict[str, Any]],
) -> tuple[list[str], dict[int, str]]:
    """The tables of steps and ranges as lines, and the colors of lines."""
    headings = [f"{figure} {name}" for figure in ("calls", "mean") for name in called]
    headings.append("change")
    # Of one run a side nothing has limits.
    has_limits = any(row["low"] is not None for row in (*steps, *ranges))
    if has_limits:
        headings += [f"{exact_percent(options.confidence)} limits", "confidence"]
    lines: list[str] = []
    colors: dict[int, str] = {}
    least = [*headings[6:], *headings[:2], *headings[5:6]]
    width = width_of(sys.stdout)
    layout = partial(fitted, form=options.format, width=width, dispensable=least)
    for rows, last in ((steps, "step"), (ranges, "range")):
        if not rows:
            continue
        evidence = [key for key in _EVIDENCE if any(row[key] is not None for row in rows)]
        cells = [_cells(row, has_limits, evidence) for row in rows]
        names = ["verdict", last, *evidence]
        table = layout([*headings, *names], cells, names)
        for number, row in enumerate(rows, len(lines) + 1):
            if row["verdict"] in _COLORS:
                colors[number] = _COLORS[row["verdict"]]
        lines += [*table.split("\n"), ""]
    return lines, colors


def _ending(
    options: argparse.Namespace,
    called: Sequence[str],
    sides: Sequence[Sequence[object]],
    rows: Sequence[dict[str, Any]],
) -> list[str]:
    ranges = [row for row in rows if "of_step" not in row]
    phases = [row for row in rows if "of_step" in row]  # most of them are ranges as well
    slower = max(sum(row["verdict"] == "slower" for row in part) for part in (ranges, phases))
    said = f"{slower or 'nothing'} slower by more than {exact_percent(options.threshold)}"
    counts = [sum(row[s]["warmup"] for row in ranges if row[s]) for s in ("before", "after")]
    if any(counts):
        parts = [f"{count} of {name}" for count, name in zip(counts, called, strict=True)]
        said += f"; calls of the warm-up are left out: {', '.join(parts)}"
    runs = [len(side) for side in sides]
    if max(runs) == 1:
        return [said, f"one run of each: {ONE_RUN}"]
    named = zip(runs, called, strict=True)
    sizes = [f"{counted(count, 'run')} of {name}" for count, name in named]
    sure = exact_percent(options.confidence)
    return [said, f"{' and '.join(sizes)}; all limits hold at once with {sure}"]


def _failed(
    options: argparse.Namespace, sides: Sequence[Sequence[object]], rows: Sequence[dict[str, Any]]
) -> int:
    """The exit code of --fail; standard error has what the table does not say."""
    if max(len(side) for side in sides) == 1:
        note([f"--fail needs three runs of each side or more: {ONE_RUN}"])
        return 2
    allowed = options.allow or ()
    judged = [row for row in rows if not matches(allowed, row["domain"], row["name"])]
    if any(row["verdict"] in ("slower", "gone", "new") for row in judged):
        return 1
    unsure = [row["label"] for row in judged if row["verdict"] == "unsure"]
    if not unsure:
        return 0
    shown = ", ".join(text.printable(label) for label in unsure[:_MOST_NAMED])
    more = f" and {len(unsure) - _MOST_NAMED} more" if len(unsure) > _MOST_NAMED else ""
    note([f"unsure: {shown}{more}; more runs of each side tell"])
    return 1 if options.strict else 0


def _print(
    options: argparse.Namespace,
    called: Sequence[str],
    sides: Sequence[Sequence[object]],
    steps: Sequence[dict[str, Any]],
    ranges: Sequence[dict[str, Any]],
) -> int:
    """Prints the rows in the format asked for; 1 where --fail asks for it."""
    rows = [*steps, *ranges]
    if options.format == "json":
        failed = emit(json.dumps([_flat(row) for row in rows], indent=1))
    elif options.format == "csv":
        flat = [_flat(row) for row in rows]
        failed = emit(render.as_csv(flat, _COLUMNS, options.escape_formulas))
    else:
        lines, colors = _blocks(options, called, steps, ranges)
        lines = [*(lines or ["no ranges", ""]), *_ending(options, called, sides, rows)]
        failed = emit("\n".join(lines), colors)
    return failed or (_failed(options, sides, rows) if options.fail else 0)


def _compare_jobs(
    parser: Parser, options: argparse.Namespace, files: Sequence[Sequence[str]]
) -> int:
    """The files of jobs of many ranks: each side is one run, with --repeats each of its words."""
    many.refuse(parser, options, "step", "phases", "cuda")
    parts = [[[word] for word in side] if options.repeats else [side] for side in files]
    sides = [
        [
            # Of a recording the comparison asks for statistics alone.
            cast("nvspan.Recording", job.matching(options.filter))
            for job in (many.read_files(parser, part, options.executor) for part in side)
        ]
        for side in parts
    ]
    with Progress("comparing"):
        rows = compare(sides[0], sides[1], options.threshold, options.confidence)
    called = options.names or _names_of(files)
    return _print(options, called, sides, [], rows)


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan diff`` with the arguments `argv`."""
    parser = _parser()
    options, *files = _sides(parser, argv)
    if (options.strict or options.allow) and not options.fail:
        parser.error("--strict and --allow go with --fail")
    refuse_compute(parser, files[1], against=files[0])
    if any(many.is_many(options, side) for side in files):
        return _compare_jobs(parser, options, files)
    called = options.names or _names_of(files)
    sides = []
    for side in files:
        runs = opened(parser, partial(read_runs, *side, each=options.repeats))
        note(line for run in runs for line in damage_lines(run))
        sides.append(selected_runs(runs, options))
    with Progress("comparing"):
        own = [[chosen_cuda(run, options) for run in runs] for runs in sides]
        steps, ranges = _compared(parser, options, sides, own)
    note(emptiness.comparison(dict(zip(called, own, strict=True))))
    return _print(options, called, sides, steps, ranges)
