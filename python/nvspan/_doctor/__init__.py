# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The probes of `nvspan.doctor`: the process, its tools, its devices."""
