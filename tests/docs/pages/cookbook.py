# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The recordings of tests/data/loops whose figures the page shows, and a model."""

import importlib.util
import os
from pathlib import Path

from helpers.recorded_loops import unpack, unpack_ranks

unpack("data", "train.nvspan")
# An editable install is imported before pytest could rewrite it.
os.environ["PYTEST_ADDOPTS"] = "-W ignore::pytest.PytestAssertRewriteWarning"
if importlib.util.find_spec("torch"):
    import torch

    import nvspan.torch  # noqa: F401

    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.randn(64, 8), batch_size=4)


def prepared(command):
    """What is asked of a recording is asked of the one whose figures the page shows; two recordings
    of sleeps may differ where the machine is busy, so the comparison is of one."""
    if command.endswith("run.nvspan"):
        unpack("saves", "run.nvspan")
    if command.endswith("run-*.nvspan"):
        for path in unpack_ranks(Path()):
            path.rename(path.name.replace("ranks", "run"))
    if command.startswith("nvspan record") and "branch.nvspan" in command:
        return "cp main.nvspan branch.nvspan"
    return command
