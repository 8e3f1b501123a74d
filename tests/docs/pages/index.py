# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The first page records the loop, and shows the figures of the recording in tests/data/loops."""

from helpers.recorded_loops import unpack


def prepared(command):
    """What is asked of the recordings is asked of those whose figures the page shows."""
    if command.startswith("nvspan explain"):
        unpack("slow", "before.nvspan")
    if command.startswith("nvspan diff"):
        unpack("fixed", "after.nvspan")
    # How steady the steps are depends on the machine: the report of a run is not compared.
    return f"{command} " if command.startswith("nvspan record -o before") else command
