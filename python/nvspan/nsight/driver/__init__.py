# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The calls of CUDA's driver in a dry recording, and what range replay does with them."""
