# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A program whose range is closed by nobody, and a library."""

import types
from pathlib import Path

mylib = types.SimpleNamespace(run=lambda: None)
Path("train.py").write_text("""import nvspan


def step():
    with nvspan.annotate("step"):
        nvspan.push_range("backward")


step()
""")
