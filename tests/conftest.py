# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every test starts without an NVTX tool, whatever the environment of the test run says."""

from __future__ import annotations

import os

for _name in ("NVTX_INJECTION64_PATH", "NVTX_INJECTION32_PATH", "NVSPAN_TRACE", "NVTX_DISABLE"):
    os.environ.pop(_name, None)
