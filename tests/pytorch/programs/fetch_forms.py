# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Loops whose loader `auto` is not given, or whose loader is prepared afterwards."""

from __future__ import annotations

import copy
import sys
import tempfile
import threading

import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import nvspan
import nvspan.torch

CASES = {}
FEW = 3  # batches of an epoch


def case(function):
    CASES[function.__name__] = function
    return function


def parts():
    model = torch.nn.Linear(4, 1)
    loader = DataLoader(TensorDataset(torch.ones(2 * FEW, 4)), batch_size=2)
    return model, torch.optim.SGD(model.parameters(), lr=0.1), loader


def train(model, optimizer, loader, backward=torch.Tensor.backward):
    for (x,) in loader:
        optimizer.zero_grad()
        backward(model(x).sum())
        optimizer.step()


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        for (x,) in loader:
            model(x)
    model.train()


@case
def bare():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer):
        train(model, optimizer, loader)
        train(model, optimizer, loader)
    train(model, optimizer, loader)


@case
def bare_with_evaluation():
    model, optimizer, loader = parts()
    other = DataLoader(loader.dataset, batch_size=FEW)
    with nvspan.torch.auto(model, optimizer):
        for _ in range(2):
            train(model, optimizer, loader)
            evaluate(model, other)


@case
def bare_with_accumulation():
    model, optimizer, _ = parts()
    loader = DataLoader(TensorDataset(torch.ones(12, 4)), batch_size=2)
    with nvspan.torch.auto(model, optimizer):
        for number, (x,) in enumerate(loader):
            model(x).sum().backward()
            if number % 2:
                optimizer.step()
                optimizer.zero_grad()


class Stream(IterableDataset):
    def __iter__(self):
        return iter(torch.ones(FEW, 4))


@case
def bare_without_a_length():
    model, optimizer, _ = parts()
    with nvspan.torch.auto(model, optimizer):
        for x in DataLoader(Stream(), batch_size=1):
            model(x).sum().backward()
            optimizer.step()


@case
def bare_with_looks_at_the_data_first():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer):
        next(iter(loader))
        for (x,) in loader:
            x.mean()
        evaluate(model, loader)
        nvspan.mark("train")
        train(model, optimizer, loader)


@case
def bare_with_evaluation_within_the_steps():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer):
        for (x,) in loader:
            evaluate(model, DataLoader(loader.dataset, batch_size=2 * FEW))
            model(x).sum().backward()
            optimizer.step()


@case
def bare_and_another_model_is_trained():
    model, optimizer, _ = parts()
    with nvspan.torch.auto(model, optimizer):
        train(*parts())


@case
def bare_and_the_loop_is_left_after_a_fetch():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer):
        for _ in range(2):
            for number, (x,) in enumerate(loader):
                if number == 1:
                    break
                model(x).sum().backward()
                optimizer.step()
            nvspan.mark("left")


class Broken(TensorDataset):
    def __getitem__(self, index):
        if self.tensors[0][index, 0] == 0:
            raise KeyError(index)
        return super().__getitem__(index)


@case
def bare_with_a_data_set_that_raises():
    model, optimizer, _ = parts()
    items = torch.tensor([[0.0] * 4, [1.0] * 4])
    loader = DataLoader(Broken(items))
    with nvspan.torch.auto(model, optimizer):
        for _ in range(2):
            try:
                train(model, optimizer, loader)
            except KeyError:
                nvspan.mark("raised")
            items[0] = 1


@case
def bare_and_compiled():
    model, optimizer, loader = parts()
    compiled = torch.compile(model, backend="eager")
    with nvspan.torch.auto(compiled, optimizer):
        torch.compile(train, backend="eager")(compiled, optimizer, loader)


@case
def another_loader_than_the_given():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer, loader):
        train(model, optimizer, DataLoader(loader.dataset, batch_size=2))
        train(model, optimizer, loader)


@case
def a_copy_of_the_given_loader():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer, loader):
        train(*copy.deepcopy((model, optimizer)), copy.copy(loader))


@case
def by_hand():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer):
        batches = iter(loader)
        for _ in range(FEW):
            (x,) = next(batches)
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


@case
def by_hand_again_and_again():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer):
        batches, number = iter(loader), 0
        while number < FEW + 1:
            try:
                (x,) = next(batches)
            except StopIteration:
                batches = iter(loader)
                (x,) = next(batches)
            model(x).sum().backward()
            optimizer.step()
            number += 1


def endless(loader):
    while True:
        yield from loader


def learn(model, optimizer, x):
    model(x).sum().backward()
    optimizer.step()


@case
def by_hand_from_a_generator():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer):
        batches = endless(loader)
        for _ in range(FEW + 1):
            learn(model, optimizer, next(batches)[0])


@case
def by_hand_of_one_batch():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer):
        for _ in range(FEW):
            (x,) = next(iter(loader))
            model(x).sum().backward()
            optimizer.step()


@case
def by_hand_with_evaluation_within():
    model, optimizer, loader = parts()
    others = iter(DataLoader(loader.dataset, batch_size=FEW))
    with nvspan.torch.auto(model, optimizer):
        batches = iter(loader)
        for number in range(FEW):
            if number % 2 == 0:
                model.eval()
                model(next(others)[0])
                model.train()
            learn(model, optimizer, next(batches)[0])


@case
def by_hand_a_look_before_each_epoch():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer):
        for _ in range(2):
            next(iter(loader))
            train(model, optimizer, loader)


def accelerated(when):
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    made = parts()
    auto = nvspan.torch.auto
    handle = auto(*made) if when == "before" else None
    model, optimizer, loader = accelerator.prepare(*made)
    if handle is None:
        handle = auto(model, optimizer, *([loader] if when == "with the loader" else []))
    with handle:
        train(model, optimizer, loader, accelerator.backward)


@case
def accelerate_with_evaluation_first():
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model, optimizer, loader = parts()
    other = DataLoader(loader.dataset, batch_size=FEW)
    with nvspan.torch.auto(model, optimizer, loader):
        model, optimizer, loader, other = accelerator.prepare(model, optimizer, loader, other)
        evaluate(model, other)
        train(model, optimizer, loader, accelerator.backward)


@case
def accelerate_without_a_for():
    from accelerate import Accelerator

    made = parts()
    with nvspan.torch.auto(*made):
        model, optimizer, loader = Accelerator(cpu=True).prepare(*made)
        batches = iter(loader)
        for _ in range(FEW):
            model(next(batches)[0]).sum().backward()
            optimizer.step()
            optimizer.zero_grad()


@case
def accelerate_in_a_thread():
    from accelerate import Accelerator

    made = parts()
    with nvspan.torch.auto(*made):
        model, optimizer, loader = Accelerator(cpu=True).prepare(*made)
        batches = []
        thread = threading.Thread(target=lambda: batches.extend(loader))
        thread.start()
        thread.join()
        train(model, optimizer, batches)


@case
def accelerate_before_prepare():
    accelerated("before")


@case
def accelerate_after_prepare():
    accelerated("after")


@case
def accelerate_with_the_prepared_loader():
    accelerated("with the loader")


def lightning_trainer(accumulated=1):
    import lightning

    model, _, loader = parts()

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = model

        def training_step(self, batch):
            return self.model(batch[0]).sum()

        def validation_step(self, batch):
            self.model(batch[0])

        def configure_optimizers(self):
            optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
            self.handle = nvspan.torch.auto(self.model, optimizer)
            return optimizer

    module = Module()
    lightning.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accumulate_grad_batches=accumulated,
    ).fit(module, loader, DataLoader(loader.dataset, batch_size=FEW))
    module.handle.remove()


@case
def lightning():
    lightning_trainer()


@case
def lightning_with_accumulation():
    lightning_trainer(FEW)


class Regression(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x, labels):
        output = self.layer(x)
        return {"loss": (output - labels).square().mean(), "output": output}


@case
def hugging_face():
    import transformers

    model = Regression()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = [{"x": torch.ones(4), "labels": torch.ones(1)} for _ in range(2 * FEW)]
    with tempfile.TemporaryDirectory() as folder, nvspan.torch.auto(model, optimizer):
        arguments = transformers.TrainingArguments(
            folder,
            num_train_epochs=1,
            per_device_train_batch_size=2,
            per_device_eval_batch_size=FEW,
            eval_on_start=True,
            eval_strategy="epoch",
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        )
        transformers.Trainer(
            model, arguments, train_dataset=rows, eval_dataset=rows, optimizers=(optimizer, None)
        ).train()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        nvspan.mark(f"case {name}")
        CASES[name]()
        nvspan.mark("end")
