# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Loops within loops: epochs of batches, rollout and update, trials of folds of fits."""

from __future__ import annotations

from answers.key.program import TRAIN, Parts, Program, Thread
from answers.key.truth import Truth, recording, says


def epochs(
    program: Program,
    count: int,
    batches: int,
    *,
    outer: str = "epoch",
    inner: str = "batch",
    after: Parts | None = None,
) -> Thread:
    """Epochs of batches; `after` are parts at the end of an epoch."""
    thread = program.thread()
    for number in range(count):
        with thread.range(outer.format(number)):
            thread.loop(inner, batches, pause=0)
            thread.run(after or {})
    return thread


@recording
def four_epochs(program: Program) -> Truth:
    epochs(program, 4, 25)
    return Truth("batch", 100)


@recording
def six_epochs(program: Program) -> Truth:
    epochs(program, 6, 25)
    return Truth("batch", 150)


@recording
def one_epoch(program: Program) -> Truth:
    epochs(program, 1, 80)
    return Truth("batch", 80)


@recording
def numbered_batches_in_numbered_epochs(program: Program) -> Truth:
    epochs(program, 4, 25, outer="epoch {}", inner="batch#{}")
    return Truth("batch", 100)


@recording
def epochs_of_known_words(program: Program) -> Truth:
    epochs(program, 3, 50, outer="train_one_epoch", inner="train_batch")
    return Truth("train_batch", 150)


@recording
def epochs_without_batches(program: Program) -> Truth:
    thread = program.thread(noise=0.03)
    for number in range(12):
        with thread.range(f"Epoch {number + 1}/12"):
            thread.leaf("train", 80)
        thread.leaf("validate", 40)
    return Truth("Epoch", 12, (says("stage", "validate", figures=(11,)),), may="dominant")


@recording
def micro_batches(program: Program) -> Truth:
    """The gradient is accumulated: the optimizer's step makes the step."""
    thread = program.thread()
    for _ in range(30):
        with thread.range("train_step"):
            thread.loop("micro_batch", 4, {"forward": 1, "backward": 1.8}, pause=0)
            thread.leaf("optimizer.step", 1)
    share = program.share("micro_batch", "train_step")
    return Truth(
        "train_step", 30, (says("dominant", "micro_batch", shares={"micro_batch": share}),)
    )


@recording
def epochs_of_batches_of_micro_batches(program: Program) -> Truth:
    thread = program.thread()
    for _ in range(3):
        with thread.range("epoch"):
            for _ in range(20):
                with thread.range("batch"):
                    thread.loop("micro_batch", 4, {"forward": 1, "backward": 1.8}, pause=0)
                    thread.leaf("optimizer.step", 2)
    share = program.share("micro_batch", "batch")
    return Truth("batch", 60, (says("dominant", "micro_batch", shares={"micro_batch": share}),))


@recording
def episodes_of_steps(program: Program) -> Truth:
    thread = program.thread()
    for _ in range(8):
        with thread.range("episode"):
            thread.leaf("env.reset", 2)
            thread.loop("step", 40, {"policy": 0.8, "env.step": 0.9}, pause=0)
    return Truth("step", 320, may="dominant")


@recording
def numbered_episodes(program: Program) -> Truth:
    thread = program.thread(noise=0.05)
    parts = {"select_action": 1.2, "env.step": 0.9, "learn": 1.1}
    for number in range(20):
        with thread.range(f"episode {number}"):
            thread.leaf("reset", 1)
            thread.loop("step", 30, parts, pause=0)
    return Truth("step", 600)


@recording
def rollout_and_update(program: Program) -> Truth:
    """Two inner loops: the iteration around both is the step."""
    thread = program.thread(noise=0.03)
    for number in range(24):
        with thread.range(f"iteration {number}"):
            with thread.range("rollout"):
                thread.loop("act", 10, {"policy": 0.5, "env": 0.6}, pause=0)
            with thread.range("update"):
                thread.loop("sgd", 6, {"loss": 0.7, "apply": 0.9}, pause=0)
    return Truth(
        "iteration",
        24,
        may="dominant",
        headline={
            "rollout": program.share("rollout", r"iteration \d+"),
            "update": program.share("update", r"iteration \d+"),
        },
    )


@recording
def rollout_and_update_in_turn(program: Program) -> Truth:
    """The same without a range around both: told from one of the loops, the other by its range."""
    thread = program.thread(noise=0.03)
    for _ in range(24):
        with thread.range("rollout"):
            thread.loop("act", 10, {"policy": 0.5, "env": 0.6}, pause=0)
        with thread.range("update"):
            thread.loop("sgd", 6, {"loss": 0.7, "apply": 0.9}, pause=0)
    finding = says("stage|between", shares={"update": program.share("update")}, figures=(10,))
    return Truth("act", 240, (finding,), may="dominant")


@recording
def folds_without_trials(program: Program) -> Truth:
    thread = program.thread(noise=0.04)
    for number in range(5):
        with thread.range(f"fold {number}"):
            thread.run({"fit": 100, "score": 80})
    return Truth("fold", 5, may="dominant")


@recording
def trials_of_folds_of_fits(program: Program) -> Truth:
    thread = program.thread(noise=0.04)
    for trial in range(6):
        with thread.range(f"trial {trial}"):
            thread.leaf("suggest", 2)
            for fold in range(5):
                with thread.range(f"fold {fold}"):
                    thread.run({"split": 3, "fit": 9, "score": 7})
    return Truth("fold", 30, may="dominant")


@recording
def folds_beside_an_evaluation(program: Program) -> Truth:
    """What evaluates a trial is a stage: the folds are the steps."""
    thread = program.thread(noise=0.04)
    for _ in range(12):
        with thread.range("trial"):
            for _ in range(5):
                with thread.range("fold"):
                    thread.run({"split": 8, "fit": 10, "score": 9})
            thread.leaf("evaluate", 35)
    finding = says("stage", shares={"evaluate": program.share("evaluate")})
    return Truth("fold", 60, (finding,))


@recording
def generations_that_breed(program: Program) -> Truth:
    """A known word without a number; what makes the next generation is a quarter of each."""
    thread = program.thread(noise=0.04)
    for _ in range(40):
        with thread.range("generation"):
            for _ in range(6):
                with thread.range("individual"):
                    thread.run({"simulate": 5, "score": 4, "penalize": 3.5})
            thread.leaf("breed", 25)
    shares = {"individual": program.share("individual", "generation")}
    return Truth("generation", 40, (says("dominant", shares=shares),), headline=shares)


@recording
def slabs_of_newton_rounds(program: Program) -> Truth:
    """By structure alone: the rounds vary, and the mesh is adapted once a slab."""
    thread = program.thread(noise=0.04)
    for number in range(60):
        with thread.range("advance_slab"):
            thread.leaf("adapt_mesh", 16)
            for _ in range(3 + number % 2):
                with thread.range("newton"):
                    thread.run({"assemble": 6, "factorize": 7, "substitute": 5})
    shares = {"newton": program.share("newton", "advance_slab")}
    findings = (says("dominant", shares=shares), says("period", "newton"))
    return Truth("advance_slab", 60, findings)


@recording
def experiments_of_epochs(program: Program) -> Truth:
    """Many rounds are steps, whatever is around them."""
    thread = program.thread(noise=0.04)
    for number in range(6):
        with thread.range(f"experiment {number}"):
            thread.leaf("prepare", 160)
            for _ in range(30):
                with thread.range("epoch"):
                    thread.run({"forward": 14, "gradient": 15, "apply": 11})
    finding = says("stage|between", shares={"prepare": program.loop_share("epoch", "prepare")})
    return Truth("epoch", 180, (finding,))


@recording
def batches_whose_outer_level_has_work(program: Program) -> Truth:
    """What an epoch spends outside of its batches is told by range."""
    epochs(program, 6, 20, after={"shuffle": 40})
    return Truth("batch", 120, (says("stage", "shuffle"),), may="between")


@recording
def documents_of_pages(program: Program) -> Truth:
    """Numbered names go before structure; the pages are what the documents consist of."""
    thread = program.thread(noise=0.04)
    for number in range(12):
        with thread.range(f"document {number}"):
            thread.loop("page", 15, {"render": 3, "ocr": 4, "layout": 3.2}, pause=0)
    shares = {"page": program.share("page", r"document \d+")}
    return Truth("document", 12, (says("dominant", shares=shares),), headline=shares)


@recording
def partitions_of_a_table(program: Program) -> Truth:
    parts = {"extract": 20, "transform": lambda i: 150 if i == 17 else 22, "load": 21}
    program.loop("partition-{:03d}", 24, parts, noise=0.05)
    finding = says("rare", "transform", figures=(1, 24))
    return Truth("partition", 24, (finding,))


@recording
def recursion_within_steps(program: Program) -> Truth:
    thread = program.thread()

    def visit(depth: int) -> None:
        with thread.range("visit"):
            thread.leaf("compare", 0.3)
            for _ in range(2 if depth else 0):
                visit(depth - 1)

    for number in range(20):
        with thread.range(f"step {number}"):
            thread.run({"read": 2.0})
            visit(3)
            thread.run({"write": 2.2})
    return Truth("step", 20, (says("dominant", "visit", "compare"),), may="unnamed")


@recording
def validation_with_batches_of_the_same_name(program: Program) -> Truth:
    thread = program.thread()
    for _ in range(5):
        with thread.range("epoch"):
            thread.loop("batch", 25, pause=0)
            with thread.range("validate"):
                thread.loop("batch", 8, {"forward": 2.6, "metrics": 0.5}, pause=0)
    return Truth("batch", 125, (says("stage", "validate"),))


@recording
def tests_between_trainings(program: Program) -> Truth:
    thread = program.thread()
    for _ in range(3):
        for stage, count, parts in (("train", 40, TRAIN), ("test", 15, {"forward": 2.6})):
            with thread.range(stage):
                thread.loop("step", count, parts, pause=0)
    return Truth("step", 120, (says("stage", "test", figures=(2,)),))
