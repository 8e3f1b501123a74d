# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that need no GPU."""

from helpers import device


def prepared(command):
    """A command as it can run here: without a GPU `nvspan ncu` prints its line."""
    if command.startswith("nvspan ncu") and not (device.REAL or "--dry-run" in command):
        return command.replace("nvspan ncu", "nvspan ncu --dry-run", 1)
    return command
