# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What connects the package with what it is built on: the extension module. It may import every
module of the package; only `nvspan` itself imports it."""
