# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Where a step's time goes: paths of largest parts, time in no range, an odd one, tiny ranges."""

from __future__ import annotations

from answers.key.program import TRAIN, Program
from answers.key.truth import Truth, recording, says


@recording
def path_of_largest_parts(program: Program) -> Truth:
    backward = {"attn": {"softmax": 4, "matmul": 1}, "mlp": 1.4}
    program.loop("step", 50, {"data": 0.3, "forward": 1, "backward": backward})
    shares = {name: program.share(name, "step") for name in ("backward", "softmax")}
    finding = says("dominant", "attn", shares=shares)
    return Truth("step", 50, (finding,), headline=shares | {"attn": program.share("attn", "step")})


@recording
def path_through_molecular_dynamics(program: Program) -> Truth:
    force = {"bonded": 0.2, "nonbonded": {"neighbor": 0.4, "pair": 1.8}}
    thread = program.thread()
    thread.leaf("read_topology", 10)
    thread.loop("timestep", 400, {"force": force, "integrate": 0.3})
    shares = {name: program.share(name, "timestep") for name in ("force", "pair")}
    finding = says("dominant", "nonbonded", shares=shares)
    return Truth("timestep", 400, (finding,), headline=shares)


@recording
def path_that_ends_in_a_wide_range(program: Program) -> Truth:
    """None of its children has half of it: the path ends there."""
    model = {"embed": 1, "attn": 2, "mlp": 2.2, "norm": 1.4}
    program.loop("step", 50, {"forward": model, "loss": 0.6, "optimizer.step": 1})
    shares = {"forward": program.share("forward", "step")}
    return Truth("step", 50, (says("dominant", shares=shares),), headline=shares)


@recording
def path_through_a_sequential_of_digits(program: Program) -> Truth:
    net = {"0": 1, "1": 1.2, "2": 5, "3": 0.8}
    program.loop("training_step", 40, {"Net": net, "loss.backward": 3})
    shares = {"Net": program.share("Net", "training_step")}
    return Truth("training_step", 40, (says("dominant", "'2'", shares=shares), says("odd", "'2'")))


@recording
def time_in_no_range(program: Program) -> Truth:
    program.loop("step", 50, {"data": 2, "forward": 2, "": 3, "optimizer": 1.5})
    share = 100 - sum(program.share(name, "step") for name in ("data", "forward", "optimizer"))
    finding = says("unnamed", "optimizer", shares={"": share})
    return Truth("step", 50, (finding,))


@recording
def time_in_a_range_outside_of_its_parts(program: Program) -> Truth:
    assemble = {"lookup": 0.5, "": 7}
    program.loop("solve", 50, {"assemble": assemble, "factorize": 2, "output": 1})
    shares = {"assemble": program.share("assemble", "solve")}
    return Truth("solve", 50, (says("dominant", shares=shares), says("unnamed", "assemble")))


@recording
def time_at_the_end_of_a_step(program: Program) -> Truth:
    program.loop("step", 50, {"read": 3, "parse": 3.2, " ": 0, "": 4})
    share = 100 - sum(program.share(name, "step") for name in ("read", "parse"))
    return Truth("step", 50, (says("unnamed", "parse", shares={"": share}),))


@recording
def one_layer_is_odd(program: Program) -> Truth:
    layers = {f"layer{number}": 3 if number == 5 else 1 for number in range(8)}
    program.loop("step", 25, layers)
    return Truth("step", 25, (says("odd", "layer5", figures=()),))


@recording
def one_block_is_odd(program: Program) -> Truth:
    blocks = {
        f"h.{number}": {"attn": 0.5 if number != 7 else 2.6, "mlp": 0.6} for number in range(10)
    }
    program.loop("forward_pass", 40, {"embed": 0.4} | blocks)
    return Truth("forward_pass", 40, (says("odd", "h.7"),), may="dominant")


@recording
def layers_of_growing_size(program: Program) -> Truth:
    """None is odd."""
    layers = {f"layer{number}": 1 + 0.08 * number for number in range(8)}
    program.loop("step", 40, layers, noise=0.03)
    return Truth("step", 40)


def tiny(program: Program, step: str, rounds: int, name: str, count: int, ms: float) -> Truth:
    thread = program.thread()
    for _ in range(rounds):
        with thread.range(step):
            thread.leaf("open", 0.05)
            for _ in range(count):
                thread.leaf(name, ms)
                thread.now += 150
    finding = says("overhead", name, figures=(rounds * count,))
    return Truth(step, rounds, (finding,), may="dominant unnamed")


@recording
def tiny_cells(program: Program) -> Truth:
    return tiny(program, "iteration", 30, "cell", 400, 0.0004)


@recording
def tiny_words(program: Program) -> Truth:
    return tiny(program, "document", 10, "tokenize_word", 2000, 0.0005)


@recording
def many_ranges_that_are_not_tiny(program: Program) -> Truth:
    thread = program.thread(noise=0.1)
    for _ in range(20):
        with thread.range("batch"):
            for _ in range(60):
                thread.run({"parse": 0.02, "check": 0.022, "store": 0.021})
    return Truth("batch", 20, may="dominant")


@recording
def few_tiny_ranges(program: Program) -> Truth:
    program.loop("step", 50, TRAIN | {"count": 0.0005}, noise=0.03)
    return Truth("step", 50)


@recording
def four_equal_parts(program: Program) -> Truth:
    program.loop("step", 50, {"a": 2.4, "b": 2.5, "c": 2.6, "d": 2.5}, noise=0.03)
    return Truth("step", 50)


@recording
def parts_with_parts(program: Program) -> Truth:
    encoder = {"self_attention": 1.2, "feed_forward": 1.3}
    decoder = {"cross_attention": 1.1, "feed_forward": 1.4}
    parts = {"load": 1.9, "encoder": encoder, "decoder": decoder, "update": 2.1}
    program.loop("step", 50, parts, noise=0.03)
    return Truth("step", 50, headline={"encoder": program.share("encoder", "step")})
