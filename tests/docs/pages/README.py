# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The recording that the first command leaves, which .ci/readme.sh runs."""

import subprocess

subprocess.run(
    ["nvspan", "record", "--no-report", "-o", "before.nvspan", "examples/slow_loop.py"],
    check=True, capture_output=True,
)  # fmt: skip
