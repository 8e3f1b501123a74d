# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of Nsight Compute: the dry recording before one, and the explanation after it."""
