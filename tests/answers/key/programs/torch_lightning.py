# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A LightningModule with ranges around the parts of its step; the trainer's epochs around them."""

import lightning
import torch
from measured import phase, work
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.Linear(256, 1))

    def training_step(self, batch):
        with phase("training_step"):
            with phase("augment"):
                work(60)
            with phase("forward"):
                return self.layers(batch[0]).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 1e-3)


trainer = lightning.Trainer(
    max_epochs=2,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Model(), DataLoader(TensorDataset(torch.randn(30 * 32, 128)), batch_size=32))
