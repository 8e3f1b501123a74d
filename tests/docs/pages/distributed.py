# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A model on the CPU, in a group of one process."""

import importlib.util

if importlib.util.find_spec("torch"):
    import torch
    from torch.nn.parallel import DistributedDataParallel  # noqa: F401

    import nvspan.torch  # noqa: F401

    torch.distributed.init_process_group(
        "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    )
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.randn(64, 8), batch_size=4)
