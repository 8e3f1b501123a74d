# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A recording in a notebook: the page, in an iframe."""

from __future__ import annotations

from nvspan.recording import Recording
from nvspan.report import page
from nvspan.report.page.data import CELL

_STYLE = "width: 100%; height: 720px; border: 0"


def html(recording: Recording) -> str:
    """The fragment for ``_repr_html_``: it loads nothing, and its scripts reach only the page."""
    text = page.html(recording, size=CELL).replace("&", "&amp;").replace('"', "&quot;")
    return (
        '<iframe title="nvspan recording" sandbox="allow-scripts" '
        f'style="{_STYLE}" srcdoc="{text}"></iframe>'
    )
