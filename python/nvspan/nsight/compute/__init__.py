# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of Nsight Compute: what is recorded before, what came out, and why nothing did."""
