# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A model of twelve blocks, each module a range of the CPU and of the GPU, forward and backward."""

import torch

import nvspan.torch

torch.manual_seed(0)
WIDTH = 256


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.attention = torch.nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(), torch.nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(x)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(1000, WIDTH)
        self.h = torch.nn.ModuleList(Block() for _ in range(12))
        self.head = torch.nn.Linear(WIDTH, 1000)

    def forward(self, x):
        x = self.embed(x)
        for block in self.h:
            x = block(x)
        return self.head(x)


device = "cuda" if torch.cuda.is_available() else "cpu"
model = Model().to(device)
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
batches = [torch.randint(0, 1000, (16, 128)) for _ in range(8)]
loader = torch.utils.data.DataLoader(batches, batch_size=None)
nvspan.torch.auto(model, optimizer, loader, device=device == "cuda")
nvspan.torch.annotate_module(model, backward=True, device=device == "cuda")
for batch in loader:
    optimizer.zero_grad()
    model(batch.to(device)).square().mean().backward()
    optimizer.step()
if device == "cuda":
    torch.cuda.synchronize()
