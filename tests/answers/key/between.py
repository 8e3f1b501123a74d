# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Time between steps: a loader, a pause, saving; and the loops of frameworks."""

from __future__ import annotations

from answers.key.program import Program
from answers.key.truth import Truth, recording, says

SHORT = {"forward": 0.4, "backward": 0.5, "optimizer.step": 0.3}


@recording
def loader_between_steps(program: Program) -> Truth:
    program.loop("train_step", 40, SHORT, before={"dataloader.next": 8}, noise=0.05)
    shares = {"dataloader.next": program.loop_share("train_step", "dataloader[.]next")}
    finding = says("between", "data-bound", shares=shares)
    return Truth("train_step", 40, (finding,), may="stage")


@recording
def loader_between_steps_of_auto(program: Program) -> Truth:
    thread = program.thread(domain="torch", noise=0.05)
    parts = {"h2d": 0.2, "forward": 0.5, "backward": 0.6, "optimizer.step": 0.3}
    thread.loop("step", 60, parts, before={"dataloader.next": 9})
    shares = {"dataloader.next": program.loop_share("step", "dataloader[.]next")}
    return Truth("step", 60, (says("between", "data-bound", shares=shares),))


@recording
def accelerate_with_a_prepared_loader(program: Program) -> Truth:
    """The loader and the copy to the device lie before each step."""
    thread = program.thread(domain="torch", noise=0.05)
    before = {"dataloader.next": 5, "send_to_device": 0.6}
    parts = {"forward": 0.9, "accelerator.backward": 1.0, "optimizer.step": 0.8}
    thread.loop("step", 60, parts, before=before)
    shares = {"dataloader.next": program.loop_share("step", "dataloader[.]next")}
    return Truth("step", 60, (says("between", "data-bound", shares=shares),))


@recording
def accelerate_with_the_loader_in_the_step(program: Program) -> Truth:
    thread = program.thread(domain="torch", noise=0.05)
    parts = {
        "dataloader.next": 5,
        "forward": 0.9,
        "accelerator.backward": 1.0,
        "optimizer.step": 0.8,
    }
    thread.loop("step", 60, parts)
    share = program.share("dataloader[.]next", "step")
    return Truth(
        "step", 60, (says("dominant", "dataloader.next", shares={"dataloader.next": share}),)
    )


@recording
def lightning(program: Program) -> Truth:
    thread = program.thread(noise=0.05)
    prefix = "[pl][profile]"
    batch = {f"{prefix}optimizer_step": {f"{prefix}training_step": 3, f"{prefix}backward": 4}}
    loader = f"{prefix}[_TrainingEpochLoop].train_dataloader_next"
    for _ in range(3):
        with thread.range(f"{prefix}run_training_epoch"):
            thread.loop(f"{prefix}run_training_batch", 30, batch, before={loader: 6}, pause=0)
    share = program.loop_share(r".*run_training_batch", ".*train_dataloader_next")
    return Truth(
        f"{prefix}run_training_batch",
        90,
        (
            says("between", "data-bound", shares={"train_dataloader_next": share}),
            says("dominant", "optimizer_step", "backward"),
        ),
    )


@recording
def hugging_face(program: Program) -> Truth:
    thread = program.thread(noise=0.03)
    parts = {"compute_loss": 4, "accelerator.backward": 5}
    for number in range(3):
        with thread.range(f"epoch {number}"):
            thread.loop("training_step", 40, parts, after={"optimizer.step": 1.2}, pause=0)
            with thread.range("evaluation_loop"):
                thread.loop("prediction_step", 10, {"": 4}, pause=0)
    share = program.share("accelerator[.]backward", "training_step")
    return Truth(
        "training_step",
        120,
        (
            says("stage", "evaluation_loop"),
            says("dominant", "accelerator.backward", shares={"accelerator.backward": share}),
        ),
        may="between",
    )


@recording
def fetch_spins_in_a_bare_loop(program: Program) -> Truth:
    thread = program.thread(noise=0.05)
    thread.loop("train_batch", 80, SHORT, before={"next(loader)": 4})
    shares = {"next(loader)": program.loop_share("train_batch", r"next\(loader\)")}
    return Truth("train_batch", 80, (says("between", "data-bound", shares=shares),))


@recording
def pause_in_no_range(program: Program) -> Truth:
    program.loop("step", 40, pause=6)
    finding = says("between", shares={"": program.loop_share("step")})
    return Truth("step", 40, (finding,))


@recording
def saving_after_each_step(program: Program) -> Truth:
    program.loop("process_image", 30, {"decode": 5, "resize": 4}, after={"save": 4})
    shares = {"save": program.loop_share("process_image", "save")}
    finding = says("between", shares=shares, absent=("data-bound",))
    return Truth("process_image", 30, (finding,), may="dominant")


@recording
def sending_between_steps(program: Program) -> Truth:
    """No loader: the loop is not bound by its data."""
    program.loop("compute_tile", 60, {"scan": 3, "blur": 3.2}, after={"send_tile": 5}, noise=0.04)
    shares = {"send_tile": program.loop_share("compute_tile", "send_tile")}
    finding = says("between", shares=shares, absent=("data-bound",))
    return Truth("compute_tile", 60, (finding,), may="dominant")


@recording
def loader_that_stalls(program: Program) -> Truth:
    stalls = (13, 30, 31, 58, 70)
    loader = {"next(loader)": lambda i: 60 if i in stalls else 0.3}
    program.loop("train_step", 80, before=loader, noise=0.05, pause=0)
    return Truth("train_step", 80, (says("between", "next(loader)"), says("rare", "next(loader)")))


@recording
def pauses_that_grow(program: Program) -> Truth:
    program.loop("step", 120, after={"flush log": lambda i: 1 + 0.06 * i}, noise=0.04)
    return Truth("step", 120, (says("between", "flush log"), says("trend", "flush log")))


@recording
def short_pauses(program: Program) -> Truth:
    """4 % of the loop: nobody acts on it."""
    program.loop("step", 60, pause=0.4)
    return Truth("step", 60)


@recording
def short_logging_between_steps(program: Program) -> Truth:
    program.loop("step", 60, after={"log": 0.5}, noise=0.03)
    return Truth("step", 60)


@recording
def loader_that_is_fast_enough(program: Program) -> Truth:
    program.loop("train_step", 60, before={"dataloader.next": 0.3}, noise=0.03)
    return Truth("train_step", 60)


@recording
def loader_in_the_step_that_is_fast_enough(program: Program) -> Truth:
    parts = {"dataloader.next": 1.6, "forward": 2.6, "backward": 2.8, "optimizer.step": 2.0}
    program.loop("train_step", 60, parts, noise=0.03)
    return Truth("train_step", 60)


def fed_by(program: Program, feeder: str, name: str) -> None:
    """Each of 60 steps begins when another thread has made its batch, in a range of this name."""
    thread, other = program.thread(noise=0.05), program.thread(feeder, noise=0.05)
    for _ in range(60):
        other.now = thread.now
        with other.range(name):
            other.spend(8)
        thread.now = other.now + 20_000
        with thread.range("step"):
            for part, ms in SHORT.items():
                with thread.range(part):
                    thread.spend(ms)


@recording
def batches_of_a_loading_thread(program: Program) -> Truth:
    fed_by(program, "prefetch", "dataloader.next")
    finding = says("between", "data-bound", "'prefetch' runs 'dataloader.next'")
    return Truth("step", 60, (finding,))


@recording
def samples_of_a_simulating_thread(program: Program) -> Truth:
    fed_by(program, "simulator", "rollout")
    finding = says("between", "'simulator' runs 'rollout'", absent=("data-bound", "put ranges"))
    return Truth("step", 60, (finding,))


@recording
def pauses_beside_a_busy_thread(program: Program) -> Truth:
    """It reads all the time, and the steps do not begin as its ranges end."""
    program.loop("step", 60, SHORT, noise=0.05, pause=8)
    thread, other = program.threads[0], program.thread("reader", noise=0.05)
    while other.now < thread.now:
        with other.range("read_batch"):
            other.spend(0.7)
        other.spend(0.05)
    finding = says("between", absent=("reader", "read_batch", "data-bound"))
    return Truth("step", 60, (finding,))
