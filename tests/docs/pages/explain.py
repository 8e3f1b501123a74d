# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The recordings of tests/data/loops, whose figures the page shows, and a model."""

import importlib.util
from pathlib import Path

from helpers.recorded_loops import unpack, unpack_ranks

unpack("data", "train.nvspan")
unpack("blocks", "blocks.nvspan")
unpack("saves", "run.nvspan")
if importlib.util.find_spec("torch"):
    import torch

    import nvspan.torch  # noqa: F401

    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.randn(64, 8), batch_size=4)


def prepared(command):
    """The page's programs are those that were recorded; the ranks' files come last."""
    if command.endswith("run-*.nvspan"):
        for path in unpack_ranks(Path()):
            path.rename(path.name.replace("ranks", "run"))
    return None if command.startswith("nvspan record") else command
