# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The recording that the first command leaves, which .ci/readme.sh runs."""

from helpers.recorded_loops import unpack

unpack("slow", "slow.nvspan")
