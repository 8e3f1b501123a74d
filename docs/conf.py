# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration: pages in Markdown, read through MyST. CI builds them with -W."""

from __future__ import annotations

from importlib import metadata

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
