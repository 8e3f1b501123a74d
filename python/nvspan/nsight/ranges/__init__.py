# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Range filters of Nsight Compute: syntax, plain names, and hits in a recording."""
