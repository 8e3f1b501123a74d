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
from nvspan.answers.compare import SURE, compare, compare_steps, read_runs
from nvspan.cli.common import many
from nvspan.cli.common.ncu_reports import is_ncu, names, read_ncu
from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import (
    add_cuda,
    add_escape_formulas,
    add_selection,
    chosen_cuda,
    emit,
    note,
    opened,
    selected_runs,
    stem_of,
)
from nvspan.recording.losses import damage_lines
from nvspan.recording.steps import OTHER
from nvspan.recording.time_text import duration
from nvspan.report import emptiness, render, text
from nvspan.report.narrow import fitted, width_of
from nvspan.report.progress import Progress

_USAGE = """\
nvspan diff [options] A B
       nvspan diff [options] A [A ...] -- B [B ...]"""

_DESCRIPTION = """\
Compares the mean duration of each range, and the typical step by its phases, of
the recordings B with those of the recordings A, without warm-up. Files whose
times overlap are of one run. A change counts when it is larger than --threshold
and at least as certain as --confidence: with one run a side by how calls vary,
with more by how runs do. Reports of Nsight Systems are recordings; reports of
Nsight Compute are compared by range."""

_COLORS = {"slower": "31", "faster": "32", "unsure": "33"}


def _part(given: str) -> float:
    try:
        value = float(given.rstrip("%")) / (100 if given.endswith("%") else 1)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a share such as 5% or 0.05, not {given!r}"
        ) from None
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a finite share of 0 or more, not {given!r}")
    return value


def _certainty(given: str) -> float:
    value = _part(given)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 % and 100 %, not {given!r}")
    return value


def _two_names(given: str) -> list[str]:
    found = names(given)
    if len(found) != 2:
        raise argparse.ArgumentTypeError(f"must be two names, as in old,new, not {given!r}")
    return found


def _percent(value: float | None, sign: str = "+") -> str:
    return "" if value is None else f"{100 * value:{sign}.1f} %"


def _cells(row: dict[str, Any]) -> list[str]:
    both = (row["before"], row["after"])
    limits = "" if row["low"] is None else f"{_percent(row['low'])} .. {_percent(row['high'])}"
    return [
        *("" if side is None else str(side["calls"]) for side in both),
        *("" if side is None else duration(side["mean"]) for side in both),
        _percent(row["change"]), limits, _percent(row["confidence"], ""), row["verdict"],
        text.printable(row["label"]),
    ]  # fmt: skip


_KEYS = ("domain", "name", "kind", "backward", "verdict", "change", "low", "high", "confidence",
         "of_step")  # fmt: skip
_FIGURES = ("runs", "calls", "mean", "std", "p50", "total", "warmup")
_COLUMNS = (*_KEYS, *(f"{key}_{side}" for side in ("before", "after") for key in _FIGURES))


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = {key: row.get(key) for key in _KEYS}
    for side in ("before", "after"):
        for key in _FIGURES:
            flat[f"{key}_{side}"] = None if row[side] is None else row[side][key]
    return flat


def _sides(
    parser: argparse.ArgumentParser, argv: Sequence[str]
) -> tuple[argparse.Namespace, list[str], list[str]]:
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


def _of_ncu(
    parser: argparse.ArgumentParser, options: argparse.Namespace, sides: Sequence[list[str]]
) -> int:
    """Reports of Nsight Compute, by range."""
    from nvspan.nsight.results import tables as ncu_tables

    chosen = options.filter or options.start is not None or options.stop is not None
    chosen = chosen or options.step or options.phases or options.names or options.repeats
    chosen = chosen or options.cuda
    if chosen or options.confidence != parser.get_default("confidence"):
        parser.error(
            "--filter, --from, --to, --cuda, --confidence, --names, --repeats, --step and --phases "
            "cannot be used with reports of Nsight Compute"
        )
    rows = ncu_tables.compare(*(read_ncu(parser, files) for files in sides))
    if options.format == "json":
        failed = emit(json.dumps(rows, indent=1))
    elif options.format == "csv":
        failed = emit(render.as_csv(rows, ncu_tables.COMPARE_COLUMNS, options.escape_formulas))
    else:
        headings, cells = ncu_tables.compared(rows)
        layout = text.markdown if options.format == "markdown" else text.aligned
        failed = emit(layout(headings, cells, ncu_tables.LEFT) if rows else "no ranges")
    slower = [row for row in rows if (row["change"] or 0) > options.threshold]
    return 1 if failed or (options.fail and slower) else 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("diff", _DESCRIPTION, _USAGE)
    parser.add_argument(
        "files", nargs="*", metavar="A ... -- B ...",
        help="the recordings to compare with, and after -- those to judge",
    )  # fmt: skip
    parser.add_argument(
        "--threshold", metavar="PART", type=_part, default=0.05,
        help="ignore changes of the mean up to this: 5%% (the default) or 0.05",
    )  # fmt: skip
    parser.add_argument(
        "--confidence", metavar="PART", type=_certainty, default=SURE,
        help="how certain a change must be: 95%% (the default)",
    )  # fmt: skip
    parser.add_argument(
        "--names", metavar="A,B", type=_two_names,
        help="what the two sides are called (default: by their paths)",
    )  # fmt: skip
    parser.add_argument(
        "--repeats", action="store_true",
        help="each file is a run of its own, also where the times of files overlap",
    )  # fmt: skip
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a range became slower")
    parser.add_argument("--step", metavar="NAME", help="the range that is a step, as of steps")
    parser.add_argument(
        "--phases", metavar="NAME,NAME", type=names, help="the phases of a step, as of steps"
    )
    add_selection(parser)
    add_cuda(parser)
    parser.add_argument("--format", choices=render.FORMATS, default="table")
    add_escape_formulas(parser)
    many.add_many(parser)
    return parser


def _steps(
    parser: argparse.ArgumentParser, options: argparse.Namespace,
    sides: Sequence[Sequence[nvspan.Recording]],
) -> list[dict[str, Any]]:  # fmt: skip
    """The rows of the typical step.

    None where a filter by name is asked for, no range repeats, or steps have no phases.
    """
    asked = options.step or options.phases
    if options.filter and not asked:
        return []
    try:
        rows = compare_steps(
            sides[0], sides[1], options.threshold, options.confidence, step=options.step,
            phases=options.phases,
        )  # fmt: skip
        has_phases = any(row["name"] not in ("step", OTHER) for row in rows)
        return rows if asked or has_phases else []
    except ValueError as error:
        if asked:
            parser.exit(1, f"{parser.prog}: {error}\n")
        return []


def _blocks(
    options: argparse.Namespace, called: Sequence[str], steps: Sequence[dict[str, Any]],
    ranges: Sequence[dict[str, Any]],
) -> tuple[list[str], dict[int, str]]:  # fmt: skip
    """The tables of steps and ranges as lines, and the colors of lines."""
    headings = ["calls " + called[0], "calls " + called[1], "mean " + called[0],
                "mean " + called[1], "change", f"{100 * options.confidence:g} % limits",
                "confidence", "verdict"]  # fmt: skip
    lines: list[str] = []
    colors: dict[int, str] = {}
    width = width_of(sys.stdout)
    least = ["confidence", headings[0], headings[1], headings[5]]
    for rows, last in ((steps, "step"), (ranges, "range")):
        if not rows:
            continue
        cells = [_cells(row) for row in rows]
        if options.format == "markdown":
            table = text.markdown([*headings, last], cells, ("verdict", last))
        else:
            table = fitted([*headings, last], cells, ("verdict", last), width, least)
        shown = table.split("\n")
        first = len(lines) + 1
        colors.update({first + i: _COLORS[row["verdict"]] for i, row in enumerate(rows)
                       if row["verdict"] in _COLORS})  # fmt: skip
        lines += [*shown, ""]
    return lines, colors


def _ending(
    options: argparse.Namespace, called: Sequence[str],
    sides: Sequence[Sequence[object]], rows: Sequence[dict[str, Any]],
) -> list[str]:  # fmt: skip
    slower = sum(row["verdict"] == "slower" for row in rows)
    said = f"{slower} slower by more than {100 * options.threshold:g} %"
    ranges = [row for row in rows if "of_step" not in row]
    counts = [sum(row[s]["warmup"] for row in ranges if row[s]) for s in ("before", "after")]
    if any(counts):
        parts = [f"{count} of {name}" for count, name in zip(counts, called, strict=True)]
        said += f"; calls of the warm-up are left out: {', '.join(parts)}"
    runs = [len(side) for side in sides]
    if max(runs) == 1:
        return [said]
    many = [f"{count} {'run' if count == 1 else 'runs'} of {name}"
            for count, name in zip(runs, called, strict=True)]  # fmt: skip
    test = "Welch's test" if min(runs) >= 3 else "Student's test"
    return [said, f"{' and '.join(many)}: the noise is what varies from run to run ({test})"]


def _print(
    options: argparse.Namespace, called: Sequence[str], sides: Sequence[Sequence[object]],
    steps: Sequence[dict[str, Any]], ranges: Sequence[dict[str, Any]],
) -> int:  # fmt: skip
    """Prints the rows in the format asked for; 1 where --fail asks for it."""
    if options.format == "json":
        failed = emit(json.dumps([_flat(row) for row in [*steps, *ranges]], indent=1))
    elif options.format == "csv":
        flat = [_flat(row) for row in [*steps, *ranges]]
        failed = emit(render.as_csv(flat, _COLUMNS, options.escape_formulas))
    else:
        lines, colors = _blocks(options, called, steps, ranges)
        lines = [*(lines or ["no ranges", ""]), *_ending(options, called, sides, [*steps, *ranges])]
        failed = emit("\n".join(lines), colors)
    slower = any(row["verdict"] == "slower" for row in [*steps, *ranges])
    return 1 if failed or (options.fail and slower) else 0


def _of_many(
    parser: argparse.ArgumentParser, options: argparse.Namespace, files: Sequence[Sequence[str]]
) -> int:  # fmt: skip
    """The files of jobs of many ranks: each side is one run."""
    given = [
        f"--{name}" for name in ("step", "phases", "cuda", "repeats") if getattr(options, name)
    ]
    given += ["--from"] * (options.start is not None) + ["--to"] * (options.stop is not None)
    if given:
        parser.error(f"{' and '.join(given)} cannot be used with many files")
    jobs = [many.read_files(parser, side, options.executor) for side in files]
    with Progress("comparing"):
        # Of a recording the comparison asks for statistics alone.
        parts = [cast("nvspan.Recording", job.matching(options.filter)) for job in jobs]
        rows = compare(parts[0], parts[1], options.threshold, options.confidence)
    called = options.names or _names_of(files)
    return _print(options, called, [[job] for job in jobs], [], rows)


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan diff`` with the arguments `argv`."""
    parser = _parser()
    options, *files = _sides(parser, argv)
    if is_ncu([*files[0], *files[1]]):
        return _of_ncu(parser, options, files)
    if options.many or any(map(many.are_many, files)):
        return _of_many(parser, options, files)
    called = options.names or _names_of(files)
    sides = []
    for side in files:
        runs = opened(parser, partial(read_runs, *side, each=options.repeats))
        note(line for run in runs for line in damage_lines(run))
        sides.append(selected_runs(runs, options))
    with Progress("comparing"):
        own = [[chosen_cuda(run, options) for run in runs] for runs in sides]
        ranges = compare(own[0], own[1], options.threshold, options.confidence)
        steps = _steps(parser, options, sides)
    note(emptiness.comparison(dict(zip(called, own, strict=True))))
    return _print(options, called, sides, steps, ranges)
