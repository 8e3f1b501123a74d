# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A rank of a gloo job whose black box passes triggers on, or not, by `auto(distributed=True)`.

auto_triggers.py tcp|file|late [off]: which store the process group has, or that there is none yet;
off: triggers are not to be shared.
"""

from __future__ import annotations

import glob
import os
import sys
import threading
import time

import torch
import torch.distributed as dist

import nvspan
import nvspan.torch

FOLDER = os.path.dirname(os.environ["NVSPAN_RECORD"].partition(":")[2])


def is_shared():
    return "nvspan triggers" in [thread.name for thread in threading.enumerate()]


def auto(share):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    nvspan.torch.auto(model, optimizer, distributed=True, share_triggers=share)
    return model, optimizer


def step(model, optimizer):
    model(torch.ones(2, 4)).sum().backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
    optimizer.step()


def main(store, *off):
    store_file = os.path.join(os.path.dirname(FOLDER), "store")
    parts = None
    if store == "late":
        parts = auto(not off)
        print("before", is_shared())
    dist.init_process_group(
        "gloo",
        init_method=f"file://{store_file}" if store == "file" else None,
        rank=int(os.environ["RANK"]),
        world_size=int(os.environ["WORLD_SIZE"]),
    )
    for _ in range(2):  # the second finds that all is done, or has been said
        parts = auto(not off)
    print("begins", is_shared())
    step(*parts)
    # All have recorded by now: where they share a folder, they find it out.
    end = time.monotonic() + float(os.environ["SHARED_FOR"])
    while is_shared() and time.monotonic() < end:
        time.sleep(0.01)
    print("goes on", is_shared())
    dist.barrier()
    if dist.get_rank() == 1 and nvspan.trigger("the loss is not a number") is False:
        print("no recording")
    reached = is_shared() or dist.get_rank() == 1 or "host-1" in FOLDER
    end = time.monotonic() + 60
    while reached and not glob.glob(f"{FOLDER}/nvspan-trigger-*/where.json"):
        assert time.monotonic() < end, "no bundle"
        time.sleep(0.01)
    step(*parts)
    dist.destroy_process_group()


main(*sys.argv[1:])
