# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Where the time of steps went, as text, CSV, JSON or Markdown."""

from __future__ import annotations

import json
from functools import partial

from nvspan.answers.bottleneck import find_bottleneck
from nvspan.answers.choice import choice_fields, choice_lines
from nvspan.answers.words import left_out, share
from nvspan.recording.frame import flat
from nvspan.recording.steps import HELD_UP, WAITING, Steps, phase_title
from nvspan.recording.time_text import counted, duration
from nvspan.report import text
from nvspan.report.narrow import fitted
from nvspan.report.render import as_csv

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.recording.steps import StepRow

_LEAST_EXCESS = 0.05  # of the typical step, for a phase to be named
_MOST_OUTLIERS = 10
_NARROW = 100  # columns, in which a step that differs has one reason


def difference(found: Steps, row: StepRow) -> list[tuple[str, float]]:
    """The phases in which a step took longer or shorter than the typical one, the most first."""
    usual = found.typical.cpu
    least = _LEAST_EXCESS * found.typical.duration
    over = [(phase, row["cpu"][phase] - usual[phase]) for phase in found.phases]
    return sorted((o for o in over if abs(o[1]) >= least), key=lambda o: -abs(o[1]))


def _signed(ns: float) -> str:
    return ("+" if ns >= 0 else "-") + duration(abs(ns))


def notes(found: Steps) -> list[str]:
    """What the reader of the figures should know: sentences."""
    typical = found.typical
    said = []
    if left := left_out(typical.warm_up, typical.outliers):
        said.append(f"the typical step leaves out {left}")
    if found.unclosed:
        said.append(f"{counted(found.unclosed, 'step')} did not end in the thread that started it")
    if HELD_UP in found.phases:
        holder = text.printable(found.loop.holds.holds[0].name)
        said.append(
            f"{HELD_UP}: another {found.choice.unit} holds the event loop, mostly in '{holder}'"
        )
    if found.outside:
        said.append(f"no step launched {counted(found.outside, 'piece')} of the GPU's work")
    if found.unshared:
        said.append(
            f"{counted(found.unshared, 'piece')} of the GPU's work are in no {found.choice.unit}: "
            f"several were open, and the ranges of the launching thread do not tell whose it was"
        )
    if found.by_run_time:
        said.append(
            f"of {counted(found.by_run_time, 'piece')} of the GPU's work the launch is not known "
            "(replays of CUDA graphs): it is counted where it ran"
        )
    if found.other_devices:
        said.append("GPU idle is about the busiest of the devices")
    return said


def heading(found: Steps) -> str:
    """How many steps there are, and what the typical one takes."""
    typical = found.typical
    name = text.printable(found.step)
    choice = found.choice
    if choice.overlapping:
        rate = len(found) / max(1e-9, found.loop.steps_extent / 1e9)
        return (
            f"{counted(len(found), choice.unit)} of {name}; latency p50 {duration(typical.p50)}, "
            f"p90 {duration(typical.p90)}, p99 {duration(typical.p99)}; up to "
            f"{found.loop.steps.peak} at once, {found.loop.steps.mean_open:.1f} on average; "
            f"{rate:.3g} a second"
        )
    return (
        f"{counted(len(found), 'step')} of {name}; the typical one takes "
        f"{duration(typical.duration)} (p50 {duration(typical.p50)}, "
        f"p99 {duration(typical.p99)}), the mean of {typical.steps}"
    )


def _gpu_heads(found: Steps) -> list[str]:
    return ["GPU", "GPU idle"][: found.has_work + found.has_idle]


def _gpu_cells(found: Steps, busy: float, idle: float) -> list[str]:
    return [duration(busy), duration(idle)][: found.has_work + found.has_idle]


def typical_table(found: Steps) -> tuple[list[str], list[list[str]]]:
    """The typical step by its phases: headings and rows."""
    typical = found.typical
    whole = typical.duration
    heads = ["phase", "CPU", "share", *_gpu_heads(found)]
    cells = []
    for phase in found.phases:
        row = [phase_title(phase), duration(typical.cpu[phase]),
               share(typical.cpu[phase], whole)]  # fmt: skip
        row += _gpu_cells(found, typical.gpu[phase], typical.idle[phase])
        cells.append(row)
    if found.has_idle and typical.idle[WAITING]:
        cells.append([f"({WAITING})", "", "", "", duration(typical.idle[WAITING])])
    last = ["step", duration(whole), share(whole, whole)]
    last += _gpu_cells(found, typical.busy, sum(typical.idle.values()))
    cells.append(last)
    return heads, cells


def _step_name(row: StepRow) -> str:
    return f"#{row['index']}" if row["number"] is None else str(row["number"])


def _odd_table(
    found: Steps, most: int | None, parts: int = 3
) -> tuple[list[str], list[list[str]], int]:
    rows = found.rows(("warm-up", "outlier"))
    whole = found.typical.duration
    rows.sort(key=lambda row: -abs(row["duration"] - whole))
    shown = sorted(rows[:most], key=lambda row: row["index"])
    cells = []
    for row in shown:
        over = difference(found, row)
        what = ", ".join(f"{phase_title(phase)} {_signed(ns)}" for phase, ns in over[:parts])
        cells.append([_step_name(row), row["state"], duration(row["duration"]),
                      _signed(row["duration"] - whole), what])  # fmt: skip
    return ["step", "state", "CPU", "than typical", "of which"], cells, len(rows) - len(shown)


def _all_table(found: Steps, top: int | None) -> tuple[list[str], list[list[str]], int]:
    heads = ["step", "state", "CPU", *map(phase_title, found.phases), *_gpu_heads(found)]
    cells = []
    rows = found.rows()
    for row in rows[:top]:
        line = [_step_name(row), row["state"], duration(row["duration"])]
        line += [duration(row["cpu"][phase]) for phase in found.phases]
        line += _gpu_cells(found, row["busy"], sum(row["idle"].values()))
        cells.append(line)
    return heads, cells, len(rows) - len(cells)


def render(
    found: Steps, *, each: bool = False, top: int | None = None, form: str = "table",
    width: int | None = None,
) -> str:  # fmt: skip
    """The steps as text: the typical one, and those that differ, or with `each` all of them."""
    usual = found.typical.cpu
    least = ["GPU idle", "GPU", *sorted(usual, key=lambda phase: usual[phase])]

    layout = partial(fitted, form=form, width=width, dispensable=least)
    gap = "\n\n"
    blocks = [heading(found), "\n".join(choice_lines(found.choice))]
    if found.typical.steps:
        blocks.append(layout(*typical_table(found), ("phase",)))
        if found.has_work:
            blocks.append(find_bottleneck(found).text)
    if each:
        heads, cells, more = _all_table(found, top)
    else:
        heads, cells, more = _odd_table(
            found, top or _MOST_OUTLIERS, 3 if width is None or width > _NARROW else 1
        )
    if cells:
        table = layout(heads, cells, ("step", "state", "of which"))
        blocks.append(
            table + (f"{gap if form == 'markdown' else chr(10)}... and {more} more" if more else "")
        )
    return gap.join(blocks)


def as_json(found: Steps, top: int | None = None) -> str:
    """Everything, times in ns."""
    return json.dumps({
        "step": found.step, "choice": choice_fields(found.choice), "phases": found.phases,
        "typical": found.typical.as_dict(),
        "limit": find_bottleneck(found).fields(), "notes": notes(found), "has_work": found.has_work,
        "outside": found.outside, "unshared": found.unshared, "by_run_time": found.by_run_time,
        "unclosed": found.unclosed,
        "steps": found.rows()[:top],
    }, indent=1)  # fmt: skip


def csv(found: Steps, top: int | None = None, escape_formulas: bool = False) -> str:
    """A row for each step, times in ns."""
    rows = [flat(row) for row in found.rows()[:top]]
    columns = ["index", "process", "thread", "number", "state", "start", "duration"]
    if found.has_work:
        columns += ["busy", "ops", "ahead", "behind", "waits", "wait_calls"]
    kinds = ("cpu.", "gpu.", "idle.")[: 1 + found.has_work + found.has_idle]
    columns += [name for name in found.names if name.startswith(kinds)]
    return as_csv(rows, columns if rows else ["index", "duration"], escape_formulas)
