# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Stages of a run: evaluation, checkpoints, warm-up, set-up, what follows the last step."""

from __future__ import annotations

from answers.key.program import MS, TRAIN, Program
from answers.key.truth import Truth, recording, says


def at_every(distance: int, ms: float):
    """A part that runs after every so many rounds."""
    return lambda number: ms if number % distance == distance - 1 else 0


@recording
def evaluation_after_every_ten_steps(program: Program) -> Truth:
    program.loop("step", 65, after={"evaluate": at_every(10, 40)})
    finding = says(
        "stage",
        "Evaluation",
        "evaluate",
        figures=(10,),
        shares={"evaluate": program.share("evaluate")},
    )
    return Truth("step", 65, (finding,))


@recording
def evaluation_beside_pauses_of_microseconds(program: Program) -> Truth:
    """Pauses without the evaluation differ threefold, and are a thousandth of the run."""
    pause = {"": lambda number: 0.012 if number % 3 == 0 else 0.004}
    program.loop("step", 65, before=pause, after={"evaluate": at_every(10, 40)}, pause=0)
    return Truth("step", 65, (says("stage", "Evaluation", "evaluate", figures=(10,)),))


@recording
def evaluation_with_batches(program: Program) -> Truth:
    thread = program.thread()
    for _ in range(2):
        with thread.range("epoch"):
            thread.loop("batch", 60, pause=0)
            with thread.range("validate"):
                thread.loop("val_batch", 20, {"forward": 2.6, "metrics": 0.5}, pause=0)
    return Truth("batch", 120, (says("stage", "validate"),))


@recording
def evaluation_longer_than_the_training(program: Program) -> Truth:
    """It is no share of the step, however long it is."""
    program.loop("train_step", 45, after={"evaluate": at_every(10, 400)})
    finding = says(
        "stage", "Evaluation", "evaluate", shares={"evaluate": program.share("evaluate")}
    )
    return Truth("train_step", 45, (finding,))


@recording
def checkpoint_after_every_twenty_steps(program: Program) -> Truth:
    program.loop("step {}", 110, after={"save_checkpoint": at_every(20, 80)})
    finding = says(
        "stage",
        "Checkpoint",
        "save_checkpoint",
        figures=(20,),
        shares={"save_checkpoint": program.share("save_checkpoint")},
    )
    return Truth("step", 110, (finding,))


@recording
def evaluation_and_checkpoint(program: Program) -> Truth:
    after = {"eval": at_every(15, 60), "write_ckpt": at_every(30, 90)}
    program.loop("iteration {}", 125, after=after)
    evaluation = says("stage", "Evaluation", "eval", figures=(15,))
    checkpoint = says("stage", "Checkpoint", "write_ckpt", figures=(30,))
    return Truth("iteration", 125, (evaluation, checkpoint))


@recording
def another_stage_now_and_then(program: Program) -> Truth:
    program.loop("step", 100, after={"rebalance shards": at_every(30, 60)})
    finding = says("stage", "rebalance shards", figures=(30,), absent=("Evaluation", "Checkpoint"))
    return Truth("step", 100, (finding,))


@recording
def checkpoint_that_costs_nothing(program: Program) -> Truth:
    program.loop("step", 100, after={"save_checkpoint": at_every(50, 3)})
    return Truth("step", 100)


@recording
def warm_up_of_three_steps(program: Program) -> Truth:
    program.loop("step", [12, 6, 2.5] + [1] * 60)
    return Truth("step", 63, (says("warm-up", figures=(3,)),))


@recording
def warm_up_by_compilation(program: Program) -> Truth:
    parts = TRAIN | {"torch.compile": lambda i: 300 if i == 0 else 0}
    program.loop("train_step", 60, parts)
    return Truth("train_step", 60, (says("warm-up", "torch.compile"),))


@recording
def warm_up_of_the_first_batch(program: Program) -> Truth:
    program.loop("batch {}", [5] + [1] * 40, noise=0.04)
    return Truth("batch", 41, (says("warm-up", "first"),))


@recording
def no_warm_up(program: Program) -> Truth:
    """The first step is within what the others take."""
    program.loop("step", [1.12] + [1] * 60, noise=0.06)
    return Truth("step", 61)


@recording
def slow_first_epoch(program: Program) -> Truth:
    """An empty cache: thirty steps are a jump, or a long warm-up."""
    thread = program.thread(noise=0.03)
    for epoch in range(4):
        with thread.range("epoch"):
            thread.loop("train_batch", 30, TRAIN | {"data": 7.2 if epoch == 0 else 2.4}, pause=0)
    return Truth("train_batch", 120, may="jump warm-up")


@recording
def set_up_before_the_first_step(program: Program) -> Truth:
    thread = program.thread()
    with thread.range("load_model"):
        thread.run({"read_weights": 700, "to_device": 200})
    thread.loop("iteration", 40)
    finding = says("stage", "load_model", shares={"": program.share("load_model")})
    return Truth("iteration", 40, (finding,))


@recording
def set_up_and_end(program: Program) -> Truth:
    thread = program.thread()
    thread.run({"import torch": 900, "compile": 600})
    thread.loop("step", 40)
    thread.leaf("save_model", 150)
    return Truth("step", 40, (says("stage", "import torch"), says("stage", "save_model")))


@recording
def set_up_in_no_range(program: Program) -> Truth:
    """Before the first range nothing is known, between two much is."""
    thread = program.thread()
    thread.leaf("parse arguments", 2)
    thread.spend(300)
    thread.loop("step", 60)
    finding = says("stage", shares={"": 100 * 302 / (program.span() / MS)})
    return Truth("step", 60, (finding,))


@recording
def uploads_after_the_last_step(program: Program) -> Truth:
    thread, uploader = program.loop("step", 50), program.thread("uploader")
    uploader.now = thread.now - 100 * MS
    uploader.leaf("upload", 500)
    thread.until(uploader.now, "uploader.join")
    return Truth("step", 50, (says("stage", "uploader.join"),))


@recording
def short_set_up(program: Program) -> Truth:
    thread = program.thread()
    thread.leaf("read config", 10)
    thread.loop("step", 60)
    return Truth("step", 60)


@recording
def test_set_of_every_epoch(program: Program) -> Truth:
    thread = program.thread(noise=0.03)
    for number in range(5):
        with thread.range(f"epoch {number}"):
            thread.loop("train_batch", 30, pause=0)
            with thread.range("test"):
                thread.loop("test_batch", 10, {"forward": 2.6}, pause=0)
            thread.leaf("checkpoint", 60)
    return Truth("train_batch", 150, (says("stage", "test"), says("stage", "checkpoint")))
