# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every other room may use this one: domains, steps, switches, names, warnings, choices."""
