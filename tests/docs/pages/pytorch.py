# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the page takes for granted. tests/pytorch looks at graphs; here no code is generated."""

import functools
import importlib.util

device = "cpu"
batches = [1, 2]
if importlib.util.find_spec("torch"):
    import torch

    torch.compile = functools.partial(torch.compile, backend="eager")
    batches = torch.randn(2, 4, 8)


def train(batch):
    pass
