# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of many processes: their recordings reduced to one summary by any executor.

It must never scan a file in Python. Start with `many`.
"""
