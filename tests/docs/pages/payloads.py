# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A program whose steps have payloads."""

from pathlib import Path

Path("train.py").write_text("""
import nvspan

for step in range(3, 5):
    with nvspan.annotate("step", payload={"step": step, "loss": 0.25, "shape": (8, 128)}):
        pass
""")
