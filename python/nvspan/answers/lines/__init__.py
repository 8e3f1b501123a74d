# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The lines of code that findings are about, where samples are enough to name them. Uses
`nvspan.report` and `nvspan.recording`; start with `finder`."""
