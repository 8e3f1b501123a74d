# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""examples/device_ranges.py where there is nothing to run it on: one line says what is missing."""

from __future__ import annotations

import pytest

from helpers.traced import python
from helpers.tree import ROOT

EXAMPLE = ROOT / "examples" / "device_ranges.py"
NO_GPU = "class cuda:\n    @staticmethod\n    def is_available(): return False\n"


@pytest.mark.parametrize(
    ("torch", "missing"),
    [
        ("raise ImportError", "this example needs torch: pip install torch"),
        (NO_GPU, "this example needs a CUDA GPU, and torch finds none"),
    ],
)
def test_what_is_missing_is_said_in_one_line(tmp_path, torch, missing):
    (tmp_path / "torch.py").write_text(torch)
    done = python(EXAMPLE, env={"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (1, "", missing + "\n")
