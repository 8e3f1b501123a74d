# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which rank of a job made the others wait, in which range, and what that costs.

It must never scan a file in Python. Start with `analysis`.
"""
