# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Train a small transformer with PyTorch; auto shows the loop, annotate_module the blocks.

    nvspan record examples/train_transformer.py --steps 20 --checkpoint

It learns to continue sums such as 12+34=46, written digit by digit. With --compile the model is
compiled: the ranges within it are dropped, and the graphs are those of the bare model.
"""

from __future__ import annotations

import argparse

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

import nvspan
import nvspan.torch

TEXT = "0123456789+="
LENGTH = 8  # of "12+34=46", and of every other
BATCH = 32


class Block(nn.Module):
    """Attention to what came before, then a network for each position."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with nvspan.annotate("attention", domain="torch"):
            parts = self.qkv(self.norm(x)).chunk(3, -1)
            q, k, v = (each.unflatten(-1, (self.heads, -1)).transpose(1, 2) for each in parts)
            attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(x)


class Transformer(nn.Module):
    """A stack of blocks that says what comes next."""

    def __init__(self, width: int, layers: int, recompute: bool) -> None:
        super().__init__()
        self.recompute = recompute
        self.embedding = nn.Embedding(len(TEXT), width)
        self.position = nn.Parameter(torch.zeros(LENGTH, width))
        self.blocks = nn.ModuleList([Block(width, 4) for _ in range(layers)])
        self.head = nn.Linear(width, len(TEXT))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens) + self.position[: tokens.shape[1]]
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.recompute else block(x)
        return self.head(x)


class Sums(Dataset):
    """Batches of sums, made when they are asked for."""

    def __init__(self, batches: int) -> None:
        self.batches = batches

    def __len__(self) -> int:
        return self.batches

    def __getitem__(self, index: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(index)
        numbers = torch.randint(10, 50, (BATCH, 2), generator=generator).tolist()
        lines = [f"{a}+{b}={a + b}" for a, b in numbers]
        return torch.tensor([[TEXT.index(each) for each in line] for line in lines])


def train(steps: int, device: str, recompute: bool, compiled: bool) -> list[float]:
    """Train and return the loss of each step. The loop is that of any program: auto shows it."""
    torch.manual_seed(0)
    model = Transformer(64, 2, recompute).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    loader = DataLoader(Sums(steps), batch_size=None)
    criterion = nvspan.torch.loss(nn.CrossEntropyLoss())
    nvspan.torch.annotate_module(model, backward=True, include=["blocks.?", "head"])
    if compiled:
        model = torch.compile(model)
    nvspan.torch.auto(model, optimizer, loader, device=device == "cuda")

    losses = []
    for batch in loader:
        tokens = nvspan.torch.to_device(batch, device)
        optimizer.zero_grad()
        output = model(tokens[:, :-1])
        loss = criterion(output.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50, help="(default: %(default)s)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    parser.add_argument("--checkpoint", action="store_true", help="recompute the blocks")
    parser.add_argument("--compile", action="store_true", help="compile the model")
    arguments = parser.parse_args()
    losses = train(arguments.steps, arguments.device, arguments.checkpoint, arguments.compile)
    print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} after {len(losses)} steps")


if __name__ == "__main__":
    main()
