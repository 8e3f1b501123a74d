# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What every other room may use: domains, steps, switches, names, warnings, choices."""
