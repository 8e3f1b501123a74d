# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What is made of recordings: tables, traces for viewers, pages. The commands are its users."""
