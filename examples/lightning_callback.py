# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Train with Lightning; one callback shows every step and its parts.

    nvspan record examples/lightning_callback.py

The class Ranges is the adapter: give one to your own Trainer's callbacks.
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import nvspan.torch


class Ranges(lightning.Callback):
    """A range for each step, within it the fetch, `forward`, `backward` and `optimizer.step`."""

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self.auto = nvspan.torch.auto(pl_module, trainer.optimizers)
        self.auto.step = trainer.global_step

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self.auto.remove()


class Line(lightning.LightningModule):
    """Learns the line that noisy points lie on."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(1, 1)
        self.losses: list[float] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)

    def training_step(self, batch: list[torch.Tensor], batch_idx: int) -> torch.Tensor:
        x, y = batch
        loss = nn.functional.mse_loss(self(x), y)
        self.losses.append(loss.item())
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20, help="(default: %(default)s)")
    steps = parser.parse_args().steps
    torch.manual_seed(0)
    x = torch.randn(16 * steps, 1)
    data = TensorDataset(x, 3 * x - 1 + 0.1 * torch.randn_like(x))
    model = Line()
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            accelerator="cpu", devices=1, max_steps=steps, callbacks=[Ranges()], logger=False,
            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
            default_root_dir=folder,
        )  # fmt: skip
        trainer.fit(model, DataLoader(data, batch_size=16))
    losses = model.losses
    print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} after {len(losses)} steps")


if __name__ == "__main__":
    main()
