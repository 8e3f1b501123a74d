# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs start in processes that have imported torch, which takes five seconds of a processor
with its compiler."""

from helpers.preloaded import preloaded

torch_is_imported = preloaded("torch", "torch._dynamo")
