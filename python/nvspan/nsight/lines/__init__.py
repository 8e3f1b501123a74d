# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Command lines of Nsight Compute, and what both tools' lines have in common."""
