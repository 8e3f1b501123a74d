# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration: pages in Markdown, read through MyST. CI builds them with -W."""

from __future__ import annotations

import lzma
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

project = "nvspan"
author = "The nvspan authors"
copyright = "2026, The nvspan authors"
version = release = metadata.version("nvspan")

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True
nitpick_ignore_regex = [("py:class", r".*")]  # types of the standard library have no page here

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

add_module_names = False
python_use_unqualified_type_names = True
highlight_language = "python"

html_theme = "furo"
html_title = f"nvspan {release}"
html_theme_options = {"sidebar_hide_name": False, "top_of_page_buttons": []}

HERE = Path(__file__).resolve().parent
# The live sample page, and the recording that it is made of: a training loop on an H200.
SAMPLE = HERE.parent / "tests" / "data" / "loops" / "blocks.nvspan.xz"


def write_sample(app, error):
    """Make sample.html as a user does: by `nvspan report`."""
    if error is not None or app.builder.format != "html":
        return
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder, "transformer.nvspan")
        recording.write_bytes(lzma.decompress(SAMPLE.read_bytes()))
        command = [sys.executable, "-m", "nvspan", "report", "-o", f"{app.outdir}/sample.html"]
        subprocess.run([*command, str(recording)], check=True, stdout=subprocess.DEVNULL)


def setup(app):
    app.connect("build-finished", write_sample)
