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
    columns = headings(summary)
    rows = summary.rows[:_ROWS]
    heads = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = (
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in cells(summary, columns, rows)
    )
    parts.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>")
    if len(summary.rows) > len(rows):
        parts.append(f"<div>... and {len(summary.rows) - len(rows)} more</div>")
    parts += (f"<div>{escape(line)}</div>" for line in summary.footnotes())
    return "<div>" + "".join(parts) + "</div>"


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
