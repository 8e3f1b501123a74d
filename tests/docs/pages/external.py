# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The trace and the table that the page reads."""

import json
from pathlib import Path

events = [{"ph": "X", "name": "a", "ts": 1, "dur": 5, "pid": 1, "tid": 2}]
Path("trace.json").write_text(json.dumps(events))
Path("calls.csv").write_text("ts,duration,label\n1,2,a call\n")
