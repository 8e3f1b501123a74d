# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The command that hands figures of recordings to other tools: ``nvspan metrics``."""
