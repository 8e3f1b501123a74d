# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Three layers of a model, each a range."""

import torch

import nvspan

torch.manual_seed(0)
layers = [
    torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.LayerNorm(512)).cuda()
    for _ in range(3)
]
x = torch.randn(256, 512, device="cuda")


def forward(x):
    with nvspan.annotate("forward", domain="torch"):
        for number, layer in enumerate(layers):
            with nvspan.annotate(f"layers.{number}", domain="torch"):
                x = layer(x)
    return x


for _ in range(3):
    forward(x).sum().backward()
torch.cuda.synchronize()
for number in range(2):
    with nvspan.annotate("step", domain="app", payload=number):
        forward(x)
torch.cuda.synchronize()
