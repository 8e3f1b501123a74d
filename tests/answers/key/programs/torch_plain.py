# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A training loop with ranges around its parts."""

import torch
from measured import phase

torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for _ in range(60):
    with phase("step"):
        with phase("data"):
            inputs, labels = torch.randn(256, 256), torch.randint(0, 10, (256,))
        with phase("forward"):
            loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        with phase("backward"):
            loss.backward()
        with phase("optimizer.step"):
            optimizer.step()
            optimizer.zero_grad()
