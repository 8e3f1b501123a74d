# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The families of recordings. Each module adds its own to `truth.RECORDINGS`."""

from __future__ import annotations

from answers.key import (
    between,
    event_loops,
    held_out_first_quiet,
    held_out_first_told,
    held_out_fourth_quiet,
    held_out_fourth_told,
    held_out_second_quiet,
    held_out_second_told,
    held_out_third_quiet,
    held_out_third_told,
    nested,
    quiet,
    requests,
    stages,
    steps,
    varying,
    waits,
    where_time_goes,
    without_steps,
)

FAMILIES = (
    steps,
    nested,
    requests,
    event_loops,
    between,
    stages,
    where_time_goes,
    varying,
    waits,
    without_steps,
    quiet,
    held_out_first_quiet,
    held_out_first_told,
    held_out_second_quiet,
    held_out_second_told,
    held_out_third_quiet,
    held_out_third_told,
    held_out_fourth_quiet,
    held_out_fourth_told,
)
