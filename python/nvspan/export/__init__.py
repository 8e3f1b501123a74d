# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings in the formats of other programs: Perfetto, Parquet, CSV, stacks."""
