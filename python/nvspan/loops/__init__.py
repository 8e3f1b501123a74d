# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the loop of a program is: which range is a step, and what lies in and around it.

Columns and sums are C++'s (`src/reader/loops`); here is what depends on names and groups. It must
not know recordings, only the handle of one. Start with `loop`.
"""
