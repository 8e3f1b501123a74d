# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m nvspan``: the same as the ``nvspan`` command."""

from __future__ import annotations

import sys

from nvspan.cli import main

if __name__ == "__main__":
    status = main()
    if status:
        sys.exit(status)
