# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that need no GPU."""


def prepared(command):
    """A command as it can run here: without a GPU `nvspan ncu` prints its line."""
    if command.startswith("nvspan ncu") and not (GPU or "--dry-run" in command):  # noqa: F821
        return command.replace("nvspan ncu", "nvspan ncu --dry-run", 1)
    return command
