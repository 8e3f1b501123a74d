# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Loops with one level: steps that are marked, numbered, named, or known by what they hold."""

from __future__ import annotations

from answers.key.program import MS, TRAIN, Program
from answers.key.truth import Truth, recording, says


@recording
def marked_steps(program: Program) -> Truth:
    parts = {"forward": {"encoder": 2, "decoder": 2}, "backward": 4, "optimizer.step": 1}
    program.thread(domain="torch").loop("step", 20, parts)
    return Truth("step", 20, may="dominant", headline={"forward": program.share("forward", "step")})


@recording
def numbered_iterations(program: Program) -> Truth:
    program.loop("iteration{}", 30)
    return Truth("iteration", 30)


@recording
def numbered_steps_of_five_digits(program: Program) -> Truth:
    program.loop("step_{:05d}", 64)
    return Truth("step", 64)


@recording
def numbers_after_an_equals_sign(program: Program) -> Truth:
    program.loop("step={}", 40)
    return Truth("step", 40)


@recording
def names_of_digits(program: Program) -> Truth:
    program.loop("{}", 40, noise=0.03)
    return Truth("#", 40)


@recording
def numbers_of_an_earlier_run(program: Program) -> Truth:
    """A loop that goes on from a checkpoint does not begin at 0."""
    thread = program.thread()
    for number in range(300, 350):
        with thread.range(f"train#{number}"):
            thread.run({"PjitFunction(update)": 6, "device_put": 5})
    return Truth("train", 50, may="dominant")


@recording
def steps_of_the_torch_profiler(program: Program) -> Truth:
    program.loop("ProfilerStep#{}", 15)
    return Truth("ProfilerStep", 15)


@recording
def numbered_queries(program: Program) -> Truth:
    parts = {"scan": 3, "hash_join": 5, "aggregate": 2.5}
    program.loop("Q{} execute", 50, parts, noise=0.05)
    return Truth("Q execute", 50, may="dominant")


@recording
def hexadecimal_ids(program: Program) -> Truth:
    threads = [program.thread(f"uvicorn-{number}", noise=0.2) for number in range(4)]
    for _ in range(150):
        thread = min(threads, key=lambda thread: thread.now)
        thread.now += int(program.random.exponential(3 * MS))
        with thread.range(f"req-{int(program.random.integers(1 << 40)):010x}a1"):
            thread.run({"validate_token": 2, "load_cart": 3, "price": 3})
    return Truth("req", 150, unit="request")


@recording
def words_that_count_rounds(program: Program) -> Truth:
    program.loop("tick {:04d}", 240, {"physics": 5, "ai": 4, "render": 6}, noise=0.03)
    return Truth("tick", 240)


@recording
def known_by_structure(program: Program) -> Truth:
    thread = program.thread()
    with thread.range("main"):
        thread.loop("train_one", 40, {"prepare": 3, "compute": 4, "store": 2}, pause=0)
    return Truth("train_one", 40)


@recording
def known_by_structure_in_five_runs(program: Program) -> Truth:
    thread = program.thread()
    for _ in range(5):
        with thread.range("run_all"):
            thread.loop("work_unit", 20, {"decode": 1, "transform": 1.2, "emit": 0.9}, pause=0)
            thread.leaf("report", 5)
    return Truth("work_unit", 100, may="stage between")


@recording
def body_around_a_known_name(program: Program) -> Truth:
    parts = {"fetch": 2, "train_step": {"forward": 2, "backward": 2.2}, "log": 1}
    program.loop("iteration", 40, parts)
    return Truth(
        "iteration",
        40,
        may="dominant",
        headline={"train_step": program.share("train_step", "iteration")},
    )


@recording
def one_range_that_repeats(program: Program) -> Truth:
    program.loop("simulate", 50, {"": 4}, pause=0.1)
    return Truth("simulate", 50)


@recording
def layers_are_no_steps(program: Program) -> Truth:
    layers = {f"layer{number}": {"attn": 0.3, "mlp": 0.35} for number in range(12)}
    program.loop("generate", 30, {"embed": 0.2} | layers | {"head": 0.3})
    return Truth("generate", 30, may="dominant")


@recording
def backward_ranges_are_no_steps(program: Program) -> Truth:
    thread = program.thread(domain="torch")
    for _ in range(10):
        with thread.range("model"):
            thread.run({"conv1": 2, "conv2": 2.2, "fc": 1.9})
        begin, end = thread.now, thread.now + 3 * MS
        for name, start in (("model", begin), ("conv2", begin + MS), ("fc", begin)):
            thread.span(name, start, begin + MS if name == "fc" else end, category="backward")
        thread.now = end + 2000
    return Truth("model", 10, may="between")


@recording
def game_ticks_in_a_cycle(program: Program) -> Truth:
    thread = program.thread(noise=0.05)
    thread.leaf("boot", 20)
    for _ in range(200):
        thread.run({"input": 1, "update": 7, "draw": 6, "": 0.3})
    return Truth("input -> update -> draw", 200, may="dominant")


@recording
def cycle_of_siblings(program: Program) -> Truth:
    thread = program.thread()
    for _ in range(30):
        thread.run({"load": 3, "compute": 4, "save": 2})
    return Truth("load -> compute -> save", 30)


@recording
def cycle_within_main(program: Program) -> Truth:
    thread = program.thread()
    with thread.range("main"):
        thread.leaf("setup", 5)
        for _ in range(30):
            thread.run({"poll sensors": 3, "update": 4, "render": 2.9})
    return Truth("poll sensors -> update -> render", 30, may="stage")


@recording
def cycle_of_an_adversarial_pair(program: Program) -> Truth:
    thread = program.thread(noise=0.04)
    for _ in range(80):
        thread.run({"d_step": 5, "g_step": 4, "": 0.2})
    return Truth("d_step -> g_step", 80, may="dominant")


@recording
def cycle_of_a_bare_training_loop(program: Program) -> Truth:
    parts = {"optimizer.zero_grad": 0.3, "forward": 4, "loss.backward": 5, "optimizer.step": 1.5}
    thread = program.thread(noise=0.03)
    for _ in range(70):
        thread.run(parts)
    return Truth(" -> ".join(parts), 70)


@recording
def steps_of_start_and_end(program: Program) -> Truth:
    thread = program.thread()
    for _ in range(60):
        start = thread.now
        middle = start + 4 * MS * (1 + 0.03 * program.random.random())
        end = middle + 5 * MS * (1 + 0.03 * program.random.random())
        thread.span("train_iter", start, end + 2000)
        thread.span("load_batch", start + 500, middle - 500)
        thread.span("update_weights", middle + 500, end)
        thread.now = int(end + 90_000)
    return Truth("train_iter", 60, may="dominant")


@recording
def steps_in_a_trainer_thread(program: Program) -> Truth:
    main, trainer = program.thread(), program.thread("Trainer", noise=0.03)
    trainer.now = 2 * MS
    trainer.loop("train_epoch_part", 50)
    with main.range("main"):
        main.leaf("start", 1)
        main.until(trainer.now + 1000, "Thread.join")
    return Truth("train_epoch_part", 50)


@recording
def two_loops_one_after_the_other(program: Program) -> Truth:
    thread = program.thread()
    thread.loop("tokenize_file", 100, {"open": 1, "encode": 2})
    thread.loop("train_step", 60)
    return Truth("train_step", 60, (says("stage", "tokenize_file"),))


@recording
def payload_is_a_size(program: Program) -> Truth:
    """Not the number of the step: it comes in no order."""
    thread = program.thread()
    for size in program.random.integers(1000, 9000, 40).tolist():
        with thread.range("write_chunk", size=size):
            thread.run({"compress": 3, "checksum": 2.6, "append": 2.8})
    return Truth("write_chunk", 40)


@recording
def name_that_ends_like_that_of_a_layer(program: Program) -> Truth:
    program.loop("write_block", 40, {"compress": 3, "checksum": 2.6, "append": 2.8})
    return Truth("write_block", 40)


@recording
def payloads_of_equal_size(program: Program) -> Truth:
    thread = program.thread(noise=0.03)
    for _ in range(60):
        with thread.range("step", size=32):
            thread.run(TRAIN)
    return Truth("step", 60)


@recording
def compile_units(program: Program) -> Truth:
    thread = program.thread(noise=0.2)
    with thread.range("build"):
        thread.leaf("scan dependencies", 30)
        thread.loop("compile_unit", 12, {"lex": 10, "parse": 12, "codegen": 14})
        thread.leaf("link", 20)
    return Truth("compile_unit", 12, may="stage")


@recording
def other_threads_have_loops_too(program: Program) -> Truth:
    program.loop("step", 50, noise=0.03)
    worker = program.thread("metrics", noise=0.2)
    while worker.now < 480 * MS:
        worker.leaf("batch", 3)
        worker.spend(2)
    return Truth("step", 50)


@recording
def pipeline_of_two_threads(program: Program) -> Truth:
    first, second = (program.thread(f"stage {number}", noise=0.03) for number in range(2))
    for _ in range(60):
        with first.range("step"):
            first.run({"forward": 4, "send": 1})
        second.now = max(second.now, first.now)
        with second.range("step"):
            second.run({"recv activations": 0.3, "forward": 4})
    return Truth("step", 60, may="dominant between stage", headline={"forward": 100 * 4 / 5})


@recording
def equal_names_in_different_places(program: Program) -> Truth:
    """'norm' within 'forward' and within 'backward' are parts of different ranges."""
    parts = {
        "forward": {"norm": 0.4, "matmul": 2.2},
        "backward": {"norm": 1.8, "matmul": 0.9},
        "optimizer.step": 2.3,
    }
    program.loop("step", 40, parts)
    return Truth("step", 40, may="dominant")
