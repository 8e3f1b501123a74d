# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A recording in a notebook: what is missing, the timeline, the flame graph, the ranges."""

from __future__ import annotations

from html import escape
from typing import Any

from nvspan.recording import Recording
from nvspan.report import page
from nvspan.report.page.widget import PARTS, fragment
from nvspan.report.render import cells, headings
from nvspan.report.summary import Summary

_BLOCKS = 1000
_THREADS = 8
_ROWS = 20
# Columns that `Recording.stats` has room for.
_OF_STATS = ("p90", "min", "mean", "std", "threads", "gpu_calls", "gpu_self", "gpu_p50")
_WIDTH, _LABELS, _ROW = 900, 130, 12


def html(recording: Recording) -> str:
    """The fragment for ``_repr_html_``: it loads nothing.

    Where scripts do not run, as in a notebook that is not trusted, it has a timeline that does not
    zoom.
    """
    summary = Summary(recording)
    strip = page.strip(recording, summary, _BLOCKS, _THREADS)
    parts = [f"<div>{escape(note)}</div>" for note in summary.notes]
    still = _timeline(strip)
    if still:
        parts += [fragment(recording, PARTS, summary), f"<noscript>{still}</noscript>"]
    columns = ["name", *(each for each in headings(summary)[:-1] if each not in _OF_STATS)]
    rows = summary.rows[:_ROWS]
    parts.append(_table([columns, *cells(summary, columns, rows)]))
    if len(summary.rows) > len(rows):
        parts.append(f"<div>... and {len(summary.rows) - len(rows)} more</div>")
    parts += (f"<div>{escape(line)}</div>" for line in summary.footnotes())
    return "<div>" + "".join(parts) + "</div>"


def _table(lines: list[list[str]]) -> str:
    """The first of `lines` is the heading; a wide table scrolls, and no cell breaks."""
    rows = []
    for number, line in enumerate(lines):
        tag = "td" if number else "th"
        made = (
            f'<{tag} style="text-align: {"right" if at else "left"}">{escape(cell)}</{tag}>'
            for at, cell in enumerate(line)
        )
        rows.append(f"<tr>{''.join(made)}</tr>")
    return (
        '<div style="overflow-x: auto"><table style="white-space: nowrap">'
        f"<thead>{rows[0]}</thead><tbody>{''.join(rows[1:])}</tbody></table></div>"
    )


def _hue(name: str) -> int:
    """As `hashOf` and `paintOf` of the page's colors have it."""
    code = 0x789D77B7
    units = name.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        code = ((code ^ (low | high << 8)) * 0x01000193) & 0xFFFFFFFF
    code = ((code ^ code >> 16) * 0x85EBCA6B) & 0xFFFFFFFF
    code = ((code ^ code >> 13) * 0xC2B2AE35) & 0xFFFFFFFF
    return (code ^ code >> 16) % 24 * 15


def _timeline(strip: dict[str, Any]) -> str:
    whole = max(strip["last"] - strip["first"], 1)
    scale = (_WIDTH - _LABELS) / whole
    shapes = []
    y = 0
    for thread in strip["threads"]:
        label = escape(thread["label"][:20])
        shapes.append(f'<text x="0" y="{y + 10}" font-size="11" fill="currentColor">{label}</text>')
        for level in thread["levels"]:
            at = 0
            for i in range(0, len(level), 4):
                at += level[i]
                name = strip["names"][level[i + 2]]
                many = f" and {level[i + 3] - 1} more" if level[i + 3] > 1 else ""
                shapes.append(
                    f'<rect x="{_LABELS + at * scale:.1f}" y="{y}" height="{_ROW - 1}" '
                    f'width="{max(level[i + 1] * scale, 0.5):.1f}" '
                    f'fill="hsl({_hue(name)} 50% 60%)"><title>{escape(name)}{many}</title></rect>'
                )
            y += _ROW
        y += 4
    if not shapes:
        return ""
    return (
        f'<svg viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" '
        f'height="{y}" role="img">{"".join(shapes)}</svg>'
    )
