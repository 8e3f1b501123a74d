# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the page takes for granted."""

import importlib.util

device = "cpu"
batches = [1, 2]
if importlib.util.find_spec("torch"):
    import torch

    batches = torch.randn(2, 4, 8)


def train(batch):
    pass
