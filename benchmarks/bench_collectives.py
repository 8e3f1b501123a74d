# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What auto(distributed=True) costs a collective while no tool is there, and while one records.

    python benchmarks/bench_collectives.py

The function of torch.distributed that is shown is replaced by an empty one, so that what is left is
the cost of the range. Beside it: an empty wrapper of the same form, and a kept annotation.
Needs torch. CPU time of the thread, the best of several turns, in ns a call.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

import nvspan
from nvspan.torch._loop import collectives
from nvspan.torch._loop.run_delay import run_delay

CALLS, TURNS = 20_000, 15


def cost(call: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(TURNS):
        begin = time.thread_time_ns()
        for _ in range(CALLS):
            call()
        best = min(best, (time.thread_time_ns() - begin) / CALLS)
    return best


def main() -> None:
    gc.disable()
    folder = tempfile.mkdtemp()
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=0, world_size=1)
    tensor, group = torch.ones(1024), dist.new_group([0])
    real = dist.all_reduce

    def all_reduce(tensor: Any, op: Any = None, group: Any = None, async_op: bool = False) -> None:
        pass

    def wrapper(*args: Any, **kwargs: Any) -> None:
        all_reduce(*args, **kwargs)

    kept = nvspan.annotate("all_reduce")

    def annotated() -> None:
        with kept:
            pass

    def nothing() -> None:
        pass

    empty = cost(nothing)
    alone = cost(lambda: all_reduce(tensor))
    rows = [
        ("a kept annotation", cost(annotated) - empty),
        ("an empty wrapper", cost(lambda: wrapper(tensor)) - alone),
    ]
    dist.all_reduce = dist.distributed_c10d.all_reduce = all_reduce
    remove = collectives.install(torch)
    rows.append(("all_reduce, no tool", cost(lambda: dist.all_reduce(tensor)) - alone))
    rows.append(("of a group, no tool", cost(lambda: dist.all_reduce(tensor, group=group)) - alone))
    with nvspan.record(Path(folder) / "run.nvspan"):
        rows.append(("all_reduce, recorded", cost(lambda: dist.all_reduce(tensor)) - alone))
    rows.append(("of that the time without a core", cost(run_delay) - empty))
    remove()
    dist.all_reduce = dist.distributed_c10d.all_reduce = real
    rows.append(("all_reduce of one gloo rank", cost(lambda: dist.all_reduce(tensor))))
    for name, ns in rows:
        print(f"{name:<32}{ns:>10.0f} ns")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
