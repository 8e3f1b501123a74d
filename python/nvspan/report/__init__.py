# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reports about recordings: tables, pages, comparisons, the viewer. The commands use them."""
