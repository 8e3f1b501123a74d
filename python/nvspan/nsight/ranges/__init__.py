# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Range filters of Nsight Compute: their text, plain names, and what they hit in a recording."""
