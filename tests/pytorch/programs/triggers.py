# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A rank of a gloo job whose black box passes triggers on; what it does is in its argument.

triggers.py ask|slow|exception|fork before|after|never: whether the rank destroys the process group
once all have opened their bundles, after these are whole, or never.
triggers.py ask killed|stopped: what becomes of rank 0, whose process has the store, before rank 1
asks for a bundle.
"""

from __future__ import annotations

import glob
import os
import signal
import sys
import threading
import time

import torch.distributed as dist

import nvspan
import nvspan.torch

FOLDER = os.path.dirname(os.environ["NVSPAN_RECORD"].partition(":")[2])


def wait_for_bundle(file="where.json"):
    """where.json is the last of its files."""
    end = time.monotonic() + 60
    while not glob.glob(f"{FOLDER}/nvspan-trigger-*/{file}"):
        assert time.monotonic() < end, "no bundle"
        time.sleep(0.01)


def steps(count, seconds=0.002):
    for _ in range(count):
        with nvspan.annotate("step"):
            time.sleep(seconds)


def fork():
    """In the child nothing is shared, and its end ends nothing of the parent's."""
    child = os.fork()
    if child == 0:
        from nvspan.torch._loop import triggers

        assert triggers._sharing is None
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def lose_the_store(rank, number):
    """Rank 0 is gone, or answers no more: rank 1 goes on, and ends, as if there were no store."""
    if rank == 0:
        print("ends", flush=True)
        os.kill(os.getpid(), number)
    time.sleep(1)
    names = [thread.name for thread in threading.enumerate()]
    assert ("nvspan triggers" in names) is (number == signal.SIGSTOP), names
    assert nvspan.trigger("alone")
    wait_for_bundle()
    print("ends", flush=True)


def main(what, end):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    with nvspan.annotate("first"):
        assert nvspan.torch.share_triggers() is True
        assert nvspan.torch.share_triggers() is True  # of the same group: no second thread
    if what == "fork":
        fork()
    dist.barrier()
    if end in ("killed", "stopped"):
        lose_the_store(rank, signal.SIGKILL if end == "killed" else signal.SIGSTOP)
        return
    if rank == 1:
        if what == "slow":
            steps(100)
            steps(1, 3)
        elif what == "exception":
            steps(1)
            raise RuntimeError("secret")
        else:
            assert nvspan.trigger("the loss is not a number")
    if end == "before":
        wait_for_bundle("why.jsonl")
        dist.barrier()
        dist.destroy_process_group()
    wait_for_bundle()
    time.sleep(1)  # one that was passed on again would come now
    if end == "after":
        if what != "exception":
            dist.barrier()
        dist.destroy_process_group()
        assert nvspan.torch.share_triggers() is False
    print("ends", flush=True)


main(*sys.argv[1:])
