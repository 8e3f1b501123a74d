# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Two recordings."""

import nvspan

for name in ("run-1.nvspan", "run-2.nvspan"):
    with nvspan.record(name), nvspan.annotate("step"):
        pass
