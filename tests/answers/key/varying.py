# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Steps that vary: modes, periods, jumps, trends, ups and downs, rare slow ones."""

from __future__ import annotations

import numpy as np
from answers.key.program import TRAIN, Program
from answers.key.truth import Truth, recording, says

BATCH = {"decode": 3.0, "augment": 3.0, "push": 3.0}

# Of a loop that grows, in ms, beside bursts of other programs.
BUSY = """
    5.0 1.3 1.5 5.9 1.9 6.4 6.4 2.9 7.6 9.7 7.7 8.2 4.5 9.3 8.0 9.9 6.6 5.5 6.2 5.8 6.3 6.5 6.3
    7.2 7.9 7.6 8.0 8.4 8.5 8.9 9.0 9.0 8.8 9.2 9.5 9.7 10.9 11.4 16.4 26.8 26.8 18.1 30.1 23.4
    20.7 23.3 13.5 12.6 14.7 13.4 13.4 15.1 13.9 13.2 16.0 17.6 36.5 36.2 28.1 30.0
"""


def extra(numbers, ms: float):
    """A part that only these rounds have."""
    return lambda number: ms if number in numbers else 0


@recording
def two_modes_at_random(program: Program) -> Truth:
    long = program.random.random(120) < 0.4
    program.loop("step", 120, TRAIN | {"forward": lambda i: 6.5 if long[i] else 2.6})
    durations = program.durations("forward") / 1e6
    split = durations > 4.5
    times = (float(np.median(durations[split])), float(np.median(durations[~split])))
    return Truth("step", 120, (says("modes", "forward", times=times),), may="dominant")


@recording
def two_modes_of_which_one_is_rare(program: Program) -> Truth:
    long = program.random.random(80) < 0.2
    program.loop("step", 80, TRAIN | {"recompile": lambda i: 6 if long[i] else 0})
    return Truth("step", 80, may="modes rare")


@recording
def two_modes_of_every_part(program: Program) -> Truth:
    """Long and short sequences: no single part makes the difference."""
    long = program.random.random(150) < 0.5
    program.loop("batch", np.where(long, 2.2, 1.0).tolist(), noise=0.04)
    return Truth("batch", 150, (says("modes"),))


@recording
def two_modes_by_unnamed_time(program: Program) -> Truth:
    long = program.random.random(100) < 0.35
    parts = {"read": 3, "": lambda i: 5 if long[i] else 0.2, "parse": 2.6, "emit": 2.8}
    program.loop("chunk", 100, parts, noise=0.03)
    return Truth(
        "chunk", 100, (says("modes", absent=("'read'", "'parse'", "'emit'")),), may="unnamed"
    )


@recording
def sawtooth_that_rises(program: Program) -> Truth:
    program.loop("step", 150, TRAIN | {"backward": lambda i: 2.8 * (1 + 0.25 * (i % 10))})
    return Truth("step", 150, (says("sawtooth", "backward", figures=(10,)),), may="dominant")


@recording
def sawtooth_that_falls(program: Program) -> Truth:
    parts = {"scan": lambda i: 7 - 0.6 * (i % 8), "filter": 3, "write": 2.5}
    program.loop("chunk", 128, parts, noise=0.03)
    return Truth("chunk", 128, (says("sawtooth", "scan", figures=(8,)),), may="dominant")


@recording
def sawtooth_of_fifteen(program: Program) -> Truth:
    parts = {"append": lambda i: 2 + 0.4 * (i % 15), "hash": 3, "ack": 2.5}
    program.loop("ingest", 120, parts, noise=0.04)
    return Truth("ingest", 120, (says("sawtooth", "append", figures=(15,)),), may="dominant")


@recording
def every_eighth_step(program: Program) -> Truth:
    program.loop("step", 120, TRAIN | {"log_metrics": extra(range(5, 120, 8), 7)})
    return Truth("step", 120, (says("period", "8th", "log_metrics"),))


@recording
def every_eighth_step_with_strays(program: Program) -> Truth:
    strays = program.pick(6, 160)
    parts = TRAIN | {
        "data": lambda i: 7.2 if i in strays else 2.4,
        "log_metrics": extra(range(5, 160, 8), 7),
    }
    program.loop("step", 160, parts, noise=0.03)
    return Truth("step", 160, (says("period", "8th", "log_metrics"),), may="rare")


@recording
def every_sixteenth_tick(program: Program) -> Truth:
    parts = {"physics": 5, "ai": 4, "render": 6, "gc.collect": extra(range(15, 240, 16), 9)}
    program.loop("tick {:04d}", 240, parts, noise=0.03)
    return Truth("tick", 240, (says("period", "16th", "gc.collect"),))


@recording
def every_25th_step(program: Program) -> Truth:
    program.loop("step={}", 150, TRAIN | {"snapshot": extra(range(24, 150, 25), 30)})
    return Truth("step", 150, (says("period", "25th", "snapshot"),))


@recording
def every_second_step(program: Program) -> Truth:
    program.loop("step", 64, TRAIN | {"all_reduce": extra(range(1, 64, 2), 5)}, noise=0.05)
    return Truth("step", 64, (says("period", "2nd", "all_reduce"),))


@recording
def three_in_turn(program: Program) -> Truth:
    program.loop("process_batch", 90, BATCH | {"decode": lambda i: [3, 5, 4][i % 3]}, noise=0.04)
    return Truth("process_batch", 90, may="sawtooth period")


@recording
def about_every_ninth(program: Program) -> Truth:
    """Eight to ten apart is no period."""
    due = set(np.cumsum(program.random.integers(8, 11, 16)).tolist())
    program.loop("step", 140, TRAIN | {"flush": extra(due, 20)}, noise=0.03)
    return Truth("step", 140, may="rare modes")


@recording
def jump_of_the_whole_step(program: Program) -> Truth:
    program.loop("step", [1] * 60 + [1.35] * 40, noise=0.04)
    durations = program.durations("step") / 1e6
    times = (float(np.median(durations[:60])), float(np.median(durations[60:])))
    return Truth("step", 100, (says("jump", "slower", figures=(60,), times=times),))


@recording
def jump_in_a_short_run(program: Program) -> Truth:
    program.loop("step", 12, TRAIN | {"data": lambda i: 2.4 if i < 7 else 7.2})
    return Truth("step", 12, (says("jump", "slower", "data", figures=(7,)),))


@recording
def jump_of_attention(program: Program) -> Truth:
    parts = {"attention": lambda i: 3 if i < 90 else 4.5, "mlp": 3, "sample": 1}
    program.loop("decode_one", 160, parts, noise=0.05)
    return Truth(
        "decode_one", 160, (says("jump", "slower", "attention", figures=(90,)),), may="dominant"
    )


@recording
def jump_at_the_end(program: Program) -> Truth:
    program.loop("iter {}", 48, TRAIN | {"optimizer.step": lambda i: 2 if i < 36 else 4.4})
    return Truth("iter", 48, (says("jump", "slower", "optimizer.step", figures=(36,)),))


@recording
def jump_down(program: Program) -> Truth:
    program.loop("train_step", 80, TRAIN | {"data": lambda i: 7.2 if i < 30 else 2.4})
    return Truth("train_step", 80, (says("jump", "faster", "data", figures=(30,)),))


@recording
def jump_after_a_warm_up(program: Program) -> Truth:
    program.loop("iter {}", [6, 3] + [1] * 60 + [1.4] * 40, noise=0.03)
    return Truth("iter", 102, (says("jump", figures=(62,)), says("warm-up", figures=(2,))))


@recording
def growth_of_a_history(program: Program) -> Truth:
    program.loop("iteration", 120, TRAIN | {"append history": lambda i: 0.5 + 0.05 * i}, noise=0.04)
    return Truth("iteration", 120, (says("trend", "slow", "append history"),))


@recording
def growth_by_a_leak(program: Program) -> Truth:
    program.loop("iter_{}", 300, TRAIN | {"dedupe": lambda i: 1 + 0.008 * i}, noise=0.06)
    return Truth("iter", 300, (says("trend", "slow", "dedupe"),))


@recording
def growth_on_a_busy_machine(program: Program) -> Truth:
    """Bursts of other programs: times within a stretch differ by a third."""
    times = []
    for i in range(160):
        busy = 1 + 0.35 * abs(np.sin(i / 9.0)) * program.random.random()
        times.append((1 + i / 40) * busy)
    program.loop("load_batch", times, {"parse": 3, "sort": 3.2, "index": 2.8}, noise=0.08)
    return Truth("load_batch", 160, (says("trend", "slow"),))


@recording
def growth_of_the_slow_loop(program: Program) -> Truth:
    """examples/slow_loop.py on a machine that was busy with other programs."""
    program.loop(
        "iteration",
        [float(ms) / 10 for ms in BUSY.split()],
        {"load": 9, "forward": 0.5, "update": 0.5},
    )
    return Truth("iteration", 60, (says("trend", "slow", "load"),), may="dominant rare")


@recording
def speed_up_of_a_warm_cache(program: Program) -> Truth:
    parts = {"miss": lambda i: 1 + 6 * np.exp(-i / 50), "hit": 3, "merge": 2.5}
    program.loop("lookup_batch", 150, parts, noise=0.04)
    return Truth("lookup_batch", 150, (says("trend", "miss", absent=("slow",)),), may="warm-up")


@recording
def ups_and_downs(program: Program) -> Truth:
    program.loop("step", [1] * 40 + [1.5] * 40 + [1] * 40, noise=0.03)
    return Truth("step", 120, (says("levels"),))


@recording
def ups_and_downs_of_a_throttled_processor(program: Program) -> Truth:
    waves = 1 + 0.2 * np.sin(np.arange(200) / 200 * 4 * np.pi)
    program.loop("step", waves.tolist())
    return Truth("step", 200, (says("levels"),))


@recording
def parts_that_cancel(program: Program) -> Truth:
    parts = TRAIN | {
        "data": lambda i: 2.4 * (1 + 0.01 * i),
        "backward": lambda i: 2.8 * (1 - 0.0086 * i),
    }
    program.loop("step", 100, parts, noise=0.03)
    return Truth("step", 100, (says("cancel", "data", "backward"),))


@recording
def cache_that_trades(program: Program) -> Truth:
    hits = program.random.uniform(0, 1, 100)
    parts = {"parse": 3, "memory": lambda i: 2 + 3 * hits[i], "disk": lambda i: 5 - 3 * hits[i]}
    program.loop("query", 100, parts)
    return Truth("query", 100, (says("cancel", "memory", "disk"),))


@recording
def rare_slow_steps(program: Program) -> Truth:
    program.loop("step", 200, TRAIN | {"gc": extra((31, 90, 91, 155), 60)})
    return Truth("step", 200, (says("rare", "gc", figures=(4, 200)),))


@recording
def rare_recompilations(program: Program) -> Truth:
    program.loop("train_step", 60, TRAIN | {"torch.compile": extra((22, 41), 90)}, noise=0.03)
    return Truth("train_step", 60, (says("rare", "torch.compile", figures=(2, 60)),))


@recording
def rare_slow_steps_of_a_part_that_is_always_there(program: Program) -> Truth:
    parts = TRAIN | {"data": lambda i: 40 if i in (17, 63, 64, 112) else 2.4}
    program.loop("step", 140, parts, noise=0.03)
    return Truth("step", 140, (says("rare", "data", figures=(4, 140)),))


@recording
def a_phase_that_grows_in_noisy_steps(program: Program) -> Truth:
    """What a step takes says nothing: its largest phase varies by half."""
    thread = program.thread(noise=0.04)
    for number in range(120):
        with thread.range("step"):
            thread.leaf("solve", 15, 0.5)
            thread.run({"lookup": 3 + 0.04 * number, "assemble": 5, "write": 2.5})
        thread.spend(0.02)
    findings = (says("trend", "lookup", absent=("solve", "assemble")),)
    return Truth("step", 120, findings, may="dominant rare")


@recording
def phases_that_vary_in_noisy_steps(program: Program) -> Truth:
    """Each phase for itself, and none over time."""
    thread = program.thread(noise=0.3)
    for _ in range(160):
        with thread.range("step"):
            thread.run({"solve": 6, "lookup": 4, "assemble": 5, "write": 4.5})
        thread.spend(0.02)
    return Truth("step", 160)
