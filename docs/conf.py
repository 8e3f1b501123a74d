# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration: pages in Markdown, read through MyST, and the API from the docstrings.

CI builds them with -W.
"""

from __future__ import annotations

import importlib
import lzma
import os
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.util import logging

import nvspan

project = "nvspan"
author = "The nvspan authors"
copyright = "2026, The nvspan authors"
version = release = metadata.version("nvspan")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r".*")]  # docstrings name arguments and other packages' types too
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what an argument may be
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

add_module_names = False
python_use_unqualified_type_names = True
highlight_language = "python"

html_theme = "furo"
html_title = f"nvspan {release}"
html_theme_options = {"sidebar_hide_name": False, "top_of_page_buttons": []}

logger = logging.getLogger(__name__)
PUBLIC = [
    f"nvspan{part}"
    for part in ("", ".torch", ".torch.nvtx", ".nsight", ".watch", ".writer", ".imports")
]
HERE = Path(__file__).resolve().parent
# The live sample page, and the recording that it is made of: a training loop on an H200.
SAMPLE = HERE.parent / "tests" / "data" / "loops" / "blocks.nvspan.xz"


def run_nvspan(*arguments):
    command = [sys.executable, "-m", "nvspan", *arguments]
    environment = {**os.environ, "COLUMNS": "96", "NO_COLOR": "1"}
    return subprocess.check_output(command, text=True, env=environment)


class CommandHelp(Directive):
    """The --help of each command, under a heading of its own."""

    def run(self):
        names = re.findall(r"^  ([a-z]+)  ", run_nvspan("--help"), re.MULTILINE)
        return [self.section(name, run_nvspan(name, "--help")) for name in names]

    def section(self, name, text):
        title = f"nvspan {name}"
        block = nodes.literal_block(text, text, language="text")
        return nodes.section("", nodes.title(title, title), block, ids=[f"nvspan-{name}"])


def check_reference(app, env):
    """Every public name, and every member of a domain, is in the reference."""
    found = env.get_domain("py").objects
    names = [f"nvspan.Domain.{name}" for name in dir(nvspan.Domain) if name[0] != "_"]
    for path in PUBLIC:
        module = importlib.import_module(path)
        for name in module.__all__:
            shared = getattr(module, name) is getattr(nvspan, name, None)
            names.append(f"nvspan.{name}" if shared else f"{path}.{name}")
    for name in names:
        if name not in found:
            logger.warning("%s is not in the reference", name, location="api")


def write_sample(app, error):
    """Make sample.html as a user does: by `nvspan report`."""
    if error is not None or app.builder.format != "html":
        return
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder, "transformer.nvspan")
        recording.write_bytes(lzma.decompress(SAMPLE.read_bytes()))
        run_nvspan("report", "-o", f"{app.outdir}/sample.html", str(recording))


def setup(app):
    app.add_directive("command-help", CommandHelp)
    app.connect("env-check-consistency", check_reference)
    app.connect("build-finished", write_sample)
