# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What nvspan.torch costs: its nvtx beside torch's, models with ranges, a compiled block.

Without CUDA torch's own functions raise and their column stays empty. Bare and annotated models
take turns; a figure is the least of all turns. Examples:

    python benchmarks/bench_torch.py
    python benchmarks/bench_torch.py --repeats 400 --inductor

The exit code is 1 when a target was missed, and 0 otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import null_tool
from worker import compile_loop

PAIRS = {  # name: (statement, how many times cheaper than torch's, without a tool)
    "range_push, range_pop": ("nvtx.range_push('a'); nvtx.range_pop()", 8),
    "with range(text)": ("with nvtx.range('a'): pass", 25),
    "with range(format)": ("with nvtx.range('step {}', i): pass", 25),
    "range_start, range_end": ("nvtx.range_end(nvtx.range_start('a'))", 0),
    "mark": ("nvtx.mark('a')", 0),
}
FLOOR = ("import sys as m", "m.getrefcount('a'); m.getrecursionlimit()")  # the least two calls cost
LAYERS = 100
FEW_LAYERS = 25  # a step that is shorter than the time that a busy machine gives at once
EMITTED = {  # under torch's profiler, one process for each setting of `emit`
    "annotate": "with nvspan.annotate('a'): pass",
    "record_function": "with torch.profiler.record_function('a'): pass",
}


def nvtx_figures(repeats: int) -> dict[str, float]:
    """ns of each statement for nvspan and, where it works, torch."""
    import torch

    modules = {"nvspan": "from nvspan.torch import nvtx"}
    if torch.cuda.is_available():
        modules["torch"] = "from torch.cuda import nvtx"
    loops = {"empty": compile_loop("", "pass")}
    for name, (statement, _) in PAIRS.items():
        for module, setup in modules.items():
            loops[f"{module} {name}"] = compile_loop(setup, statement)
    loops["floor"] = compile_loop(*FLOOR)
    best = dict.fromkeys(loops, float("inf"))
    for _ in range(repeats):
        for name, loop in loops.items():
            best[name] = min(best[name], loop(5000) / 5000)
    empty = best.pop("empty")
    return {name: ns - empty for name, ns in best.items()}


def emit_figures(repeats: int) -> dict[str, float]:
    """ns of a range with the NVSPAN_EMIT that is set, with no profiler of torch and under one."""
    from torch.profiler import ProfilerActivity, profile

    loops = {"empty": compile_loop("", "pass")}
    for name, statement in EMITTED.items():
        loops[name] = compile_loop("import nvspan, torch", statement)
    best: dict[str, float] = {}
    for turn in range(repeats):
        for state in ("idle", "active"):
            with contextlib.ExitStack() as stack:
                if state == "active":
                    if turn >= 5:  # what a profiler has seen is slow to read
                        continue
                    stack.enter_context(profile(activities=[ProfilerActivity.CPU]))
                for name, loop in loops.items():
                    key = f"{name} {state}"
                    best[key] = min(best.get(key, float("inf")), loop(1000) / 1000)
    return {
        key: ns - best[f"empty {key.split()[-1]}"]
        for key, ns in best.items()
        if not key.startswith("empty")
    }


def compare(one: Callable[[], Any], other: Callable[[], Any], turns: int) -> tuple[float, float]:
    """The least time of each in us, in turns."""
    best = [float("inf"), float("inf")]
    for turn in range(turns + 3):
        for i, call in enumerate((one, other)):
            start = time.perf_counter()
            call()
            spent = (time.perf_counter() - start) * 1e6
            if turn >= 3:
                best[i] = min(best[i], spent)
    return best[0], best[1]


def model_figures(repeats: int, inductor: bool) -> dict[str, tuple[float, float]]:
    """(bare, annotated) in us."""
    import torch

    from nvspan.torch import annotate_module

    torch.set_num_threads(1)
    x = torch.randn(2, 4)

    def model(layers: int) -> Any:
        torch.manual_seed(0)
        return torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(layers)])

    bare, forward = model(LAYERS), model(LAYERS)
    few, backward = model(FEW_LAYERS), model(FEW_LAYERS)
    annotate_module(forward)
    annotate_module(backward, backward=True)

    def both_ways(each: Any) -> Callable[[], Any]:
        return lambda: each(x).sum().backward()

    figures = {}
    with torch.no_grad():
        figures["forward"] = compare(lambda: bare(x), lambda: forward(x), repeats)
    figures["forward and backward"] = compare(both_ways(few), both_ways(backward), 4 * repeats)
    compiled = [_block(annotated) for annotated in (False, True)]
    backend = "inductor" if inductor else "eager"
    with torch.no_grad():
        calls = [torch.compile(each, backend=backend, fullgraph=True) for each in compiled]
        y = torch.randn(2, 16, 64)
        figures[f"compiled block, {backend}"] = compare(
            lambda: calls[0](y), lambda: calls[1](y), repeats
        )
    return figures


def loop_figures(repeats: int) -> tuple[float, float]:
    """us of a step of training a small transformer: bare and under auto; the least of all steps."""
    import torch

    from nvspan.torch import auto

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), torch.nn.Linear(32, 1)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.utils.data.TensorDataset(torch.randn(40, 8, 32))
    loader = torch.utils.data.DataLoader(data, batch_size=4)

    def epoch() -> float:
        times = [time.perf_counter()]
        for (x,) in loader:
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            times.append(time.perf_counter())
        return min(b - a for a, b in itertools.pairwise(times)) * 1e6

    best = [float("inf"), float("inf")]
    epoch()
    for _ in range(repeats):
        best[0] = min(best[0], epoch())
        with auto(model, optimizer, loader):
            best[1] = min(best[1], epoch())
    return best[0], best[1]


def operator_figures(repeats: int) -> tuple[float, float]:
    """us of a small operator: bare and under annotate_ops."""
    import torch

    from nvspan.torch import annotate_ops

    x = torch.ones(4)

    def calls() -> None:
        for _ in range(100):
            torch.add(x, x)

    def annotated() -> None:
        with annotate_ops():
            calls()

    bare, shown = compare(calls, annotated, repeats)
    return bare / 100, shown / 100


def _block(annotated: bool) -> Any:
    """A block of a transformer with 20 annotations, or without."""
    import contextlib

    import torch

    import nvspan

    kept = nvspan.annotate("kept")
    nothing = contextlib.nullcontext()
    names = [nvspan.annotate(f"part {i}") if annotated else nothing for i in range(19)]

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.norm = torch.nn.LayerNorm(64)
            self.qkv = torch.nn.Linear(64, 192)
            self.out = torch.nn.Linear(64, 64)
            self.up = torch.nn.Linear(64, 256)
            self.down = torch.nn.Linear(256, 64)

        def forward(self, x: Any) -> Any:
            for each in names:
                with each:
                    x = x + 1
            q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
            with kept if annotated else nothing:
                x = x + self.out(torch.nn.functional.scaled_dot_product_attention(q, k, v))
            return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))

    return Block()


def run(state: str, arguments: list[str], tool: Path, emit: str = "nvtx") -> dict[str, Any]:
    environment = {k: v for k, v in os.environ.items() if "INJECTION" not in k}
    environment["NVSPAN_EMIT"] = emit
    if state == "a tool":
        environment["NVTX_INJECTION64_PATH"] = str(tool)
    command = [sys.executable, __file__, *arguments]
    result: dict[str, Any] = json.loads(
        subprocess.check_output(command, env=environment, text=True)
    )
    return result


def table(measured: dict[str, dict[str, Any]]) -> bool:
    """Prints the figures; True if every target was met."""
    met = True
    print("| ns | torch, no tool | nvspan, no tool | torch, a tool | nvspan, a tool | target |")
    print("| --- " * 6 + "|")
    for name, (_, times) in PAIRS.items():
        cells = [
            f"{measured[state]['nvtx'][f'{module} {name}']:.0f}"
            if f"{module} {name}" in measured[state]["nvtx"] else ""
            for state in measured for module in ("torch", "nvspan")
        ]  # fmt: skip
        idle = measured["no tool"]["nvtx"]
        if times and f"torch {name}" in idle:
            met = met and idle[f"torch {name}"] >= times * idle[f"nvspan {name}"]
        print("| " + " | ".join([name, *cells, f">= {times}x" if times else ""]) + " |")
    floor = [measured[state]["nvtx"]["floor"] for state in measured]
    print(f"| two calls of C functions that do nothing | | {floor[0]:.0f} | | {floor[1]:.0f} | |")
    layers = f"{LAYERS} layers, {FEW_LAYERS} with backward"
    print(f"\n| us, {layers} | bare | annotated, no tool | bare | annotated, a tool |")
    print("| --- " * 5 + "|")
    for name, (bare, annotated) in measured["no tool"]["model"].items():
        under = measured["a tool"]["model"][name]
        print(f"| {name} | {bare:.1f} | {annotated:.1f} | {under[0]:.1f} | {under[1]:.1f} |")
        if name == "forward" or name.startswith("compiled"):
            met = met and annotated <= 1.01 * bare
    print("\n| us, a step of a small transformer | bare | auto |")
    print("| --- " * 3 + "|")
    for state, figures in measured.items():
        print(f"| {state} | {figures['loop'][0]:.1f} | {figures['loop'][1]:.1f} |")
    bare, annotated = measured["no tool"]["loop"]
    met = met and annotated <= 1.01 * bare
    for state, figures in measured.items():
        one, shown = figures["operator"]
        print(f"\nan operator, {state}: {one:.2f} us, {shown:.2f} under annotate_ops")
    under = measured["a tool"]["model"]["forward"]
    each = (under[1] - under[0]) / (LAYERS + 1)
    print(f"\na forward range with a tool: {each:.2f} us (target: 1)")
    under = measured["a tool"]["model"]["forward and backward"]
    both = (under[1] - under[0]) / (FEW_LAYERS + 1)
    print(f"backward: {both:.2f} us per module forward + backward with a tool (target: 8)")
    return met and each <= 1 and both <= 8


def emit_table(emitted: dict[tuple[str, str], dict[str, float]]) -> None:
    print(
        "\n| ns, torch's profiler | emit=nvtx, none | nvtx+torch, none | nvtx+torch, active |",
        end="",
    )
    print(" record_function, none | active |")
    print("| --- " * 6 + "|")
    for state in ("no tool", "a tool"):
        alone, both = emitted[state, "nvtx"], emitted[state, "nvtx,torch"]
        cells = (
            alone["annotate idle"], both["annotate idle"], both["annotate active"],
            both["record_function idle"], both["record_function active"],
        )  # fmt: skip
        print("| " + " | ".join([f"annotate, {state}", *(f"{ns:.0f}" for ns in cells)]) + " |")


def main() -> int:
    """Runs one process for each state and prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=200, help="turns of each subject")
    parser.add_argument("--inductor", action="store_true", help="compile the block by Inductor")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--work-emit", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work_emit:
        print(json.dumps(emit_figures(max(5, options.repeats // 4))))
        return 0
    if options.work:
        nvtx = nvtx_figures(max(3, options.repeats // 10))
        model = model_figures(options.repeats, options.inductor)
        loop = loop_figures(max(5, options.repeats // 5))
        operator = operator_figures(options.repeats)
        figures = {"nvtx": nvtx, "model": model, "loop": loop, "operator": operator}
        print(json.dumps(figures))
        return 0
    arguments = ["--repeats", str(options.repeats), *(["--inductor"] if options.inductor else [])]
    with tempfile.TemporaryDirectory() as folder:
        tool = null_tool.build(Path(folder), extension=True)
        states = ("no tool", "a tool")
        measured = {s: run(s, ["--work", *arguments], tool) for s in states}
        emitted = {
            (s, emit): run(s, ["--work-emit", *arguments], tool, emit)
            for s in states
            for emit in ("nvtx", "nvtx,torch")
        }
    met = table(measured)
    emit_table(emitted)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
