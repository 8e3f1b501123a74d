# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the page takes for granted; torch.cuda.nvtx raises without CUDA, so here it is nvspan's."""

import importlib.util

import nvspan

step, total = 3, 9
if importlib.util.find_spec("torch"):
    import torch  # noqa: F401

    import nvspan.torch

    nvspan.torch.nvtx.patch()
