# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Train with the Trainer of Hugging Face; one callback shows every step and its parts.

    nvspan record examples/hf_trainer_callback.py

The class Ranges is the adapter: give one to your own Trainer's callbacks.
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import (
    PretrainedConfig,
    PreTrainedModel,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

import nvspan.torch


class Ranges(TrainerCallback):
    """A range for each step, within it the fetch, `forward`, `backward` and `optimizer.step`."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.auto = nvspan.torch.auto(kwargs["model"], kwargs["optimizer"])
        self.auto.step = state.global_step

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.auto.remove()


class LineConfig(PretrainedConfig):
    model_type = "line"


class Line(PreTrainedModel):
    """Learns the line that noisy points lie on."""

    config_class = LineConfig

    def __init__(self, config: LineConfig) -> None:
        super().__init__(config)
        self.layer = nn.Linear(1, 1)
        self.losses: list[float] = []
        self.post_init()

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        loss = nn.functional.mse_loss(self.layer(x), labels)
        self.losses.append(loss.item())
        return {"loss": loss}


class Points(Dataset):
    """Points on a line, with some noise."""

    def __init__(self, count: int) -> None:
        self.x = torch.randn(count, 1)
        self.y = 3 * self.x - 1 + 0.1 * torch.randn_like(self.x)

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"x": self.x[index], "labels": self.y[index]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20, help="(default: %(default)s)")
    steps = parser.parse_args().steps
    torch.manual_seed(0)
    model = Line(LineConfig())
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, max_steps=steps, per_device_train_batch_size=16, optim="sgd",
            learning_rate=0.1, lr_scheduler_type="constant", max_grad_norm=0, use_cpu=True,
            report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True,
        )  # fmt: skip
        trainer = Trainer(model, arguments, train_dataset=Points(16 * steps), callbacks=[Ranges()])
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    losses = model.losses
    print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} after {len(losses)} steps")


if __name__ == "__main__":
    main()
