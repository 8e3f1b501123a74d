# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs whose ranks wait in NCCL's operations on their GPUs: `nvspan where` names who is late."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import pytest

import nvspan
from helpers.device import PREAMBLE, environment, only_fake
from helpers.live import running, wait_until
from helpers.nccl_plugin import NCCL
from helpers.traced import needs_library
from nvspan.live.top.sampling import Sampler

pytestmark = [needs_library, only_fake]

LONG = 600_000_000_000  # ns
RANK = """
import os
rank = int(os.environ["RANK"])
made = {}
open_now = {}  # whether each operation has begun, as the others shall see it
def member(id, ranks, own):
    made[id] = Nccl(5, id=id, ranks=ranks, rank=own)
def launched(id, name, number):
    call = made[id].collective(name.encode(), number, 1)
    made[id].stop(call)
    open_now[name, number] = False
    return call
def begun(id, name, number):
    made[id].channel(launched(id, name, number), 0, now())
    open_now[name, number] = True
def ended(id, name, number):
    made[id].channel_stop(made[id].channel(launched(id, name, number), 0, now()), now())
    del open_now[name, number]
def seen():
    (own,) = nvspan.where(os.getpid(), samples=1).processes
    return {(of["name"], of["number"]): of["state"] == "begun" for of in own.devices if of["ranks"]}
"""
READY = """
while seen() != open_now:  # a thread of nvspan tells it
    time.sleep(0.01)
print("ready", flush=True); time.sleep(600)
"""


class Job:
    """Processes of which each has run its rank's code and hangs."""

    def __init__(self, folder, runs):
        self.folder, self.runs = folder, runs

    def verdict(self):
        return nvspan.where(self.folder, interval=0.2).verdict

    def said(self):
        verdict = self.verdict()
        return verdict.kind, verdict.ranks, verdict.text


@pytest.fixture
def job(tmp_path):
    with ExitStack() as stack:

        def make(*codes, mode="armed"):
            extra = {name: value for name, value in environment().items() if value is not None}
            runs = [
                stack.enter_context(running(
                    tmp_path, [sys.executable, "-c", PREAMBLE + NCCL + RANK + code + READY], mode,
                    rank=rank, extra=extra, until=False,
                ))
                for rank, code in enumerate(codes)
            ]  # fmt: skip
            for run in runs:
                run.wait_for()
            return Job(tmp_path, runs)

        yield make


ALL = "member(0xfeed, 4, rank)\nnvspan.push_range('step')\n"
WAITS = ALL + "ended(0xfeed, 'AllReduce', 39); begun(0xfeed, 'AllReduce', 40)\n"


@pytest.mark.parametrize("mode", ["armed", "full"])
def test_a_rank_that_never_launched(job, mode):
    late = ALL + "ended(0xfeed, 'AllReduce', 39); nvspan.push_range('load', domain='data')\n"
    found = job(WAITS, WAITS, late, WAITS, mode=mode)
    assert found.said() == (
        "held back", [2],
        "rank 2 never launched NCCL:AllReduce 40, and is in step > data:load; "
        "the GPUs of ranks 0, 1 and 3 wait in it",
    )  # fmt: skip


def test_a_rank_whose_gpu_works_on_something_else(job):
    late = (
        ALL
        + f"""
stream = cuda.stream()
with nvspan.device_range("forward", domain="model", stream=stream):
    cuda.launch(stream, {LONG})
launched(0xfeed, 'AllReduce', 40)
"""
    )
    found = job(WAITS, WAITS, WAITS, late)

    def is_seen():
        return "after model:forward" in found.verdict().text

    wait_until(is_seen, "the poller has seen that the kernel began")
    assert found.said() == (
        "held back", [3],
        "rank 3 launched NCCL:AllReduce 40, and its GPU has not started it, after model:forward, "
        "which has not ended; the GPUs of ranks 0-2 wait in it",
    )  # fmt: skip


def test_nobody_is_late(job):
    found = job(WAITS, WAITS, WAITS, WAITS)
    assert found.said() == (
        "cannot tell", [],
        "no verdict: the GPUs of ranks 0-3 are in NCCL:AllReduce 40, and no rank is missing",
    )  # fmt: skip


def test_different_operations(job):
    other = ALL + "begun(0xfeed, 'AllGather', 7)\n"
    found = job(WAITS, WAITS, other, WAITS)
    assert found.said() == (
        "cannot tell", [],
        "no verdict: the GPUs of ranks 0-3 are in different operations of a communicator: "
        "AllGather 7, AllReduce 40",
    )  # fmt: skip


def test_half_of_the_ranks(job):
    found = job(WAITS, WAITS, ALL, ALL)
    assert found.said() == (
        "cannot tell", [],
        "no verdict: ranks 2 and 3 never launched NCCL:AllReduce 40, and are in step; the GPUs of "
        "ranks 0 and 1 wait in it; that is half of the processes or more",
    )  # fmt: skip


def test_the_last_operation_counts_and_not_those_behind_it(job):
    ahead = WAITS + "for n in range(41, 44): launched(0xfeed, 'AllReduce', n)\n"
    found = job(ahead, ahead, ALL, ahead)
    assert found.said()[:2] == ("held back", [2])
    assert "NCCL:AllReduce 40, and" in found.said()[2]


def test_members_of_a_smaller_communicator_are_not_known(job):
    left = "member(1, 2, rank)\nnvspan.push_range('step')\n"
    right = "member(2, 2, rank - 2)\nnvspan.push_range('step')\n"
    found = job(left, left, right + "begun(2, 'AllReduce', 3)\n", right)
    assert found.said() == (
        "cannot tell", [],
        "no verdict: the GPU of rank 2 is in NCCL:AllReduce 3; 1 of the 2 ranks of its "
        "communicator never launched it, and which processes they are is not known",
    )  # fmt: skip


def test_a_member_of_a_smaller_communicator_that_launched(job):
    left = "member(1, 2, rank)\nnvspan.push_range('step')\n"
    right = "member(2, 2, rank - 2)\nnvspan.push_range('step')\n"
    found = job(left, left, right + "begun(2, 'AllReduce', 3)\n",
                right + "launched(2, 'AllReduce', 3)\n")  # fmt: skip
    assert found.said() == (
        "held back", [3],
        "rank 3 launched NCCL:AllReduce 3, and its GPU has not started it; "
        "the GPU of rank 2 waits in it",
    )  # fmt: skip


def test_who_waits_in_another_communicator_is_not_the_cause(job):
    waits = ALL + "begun(0xfeed, 'AllReduce', 40)\n"
    third = ALL + "member(2, 2, 0)\nbegun(2, 'AllGather', 5)\n"
    fourth = ALL + "member(2, 2, 1)\nnvspan.push_range('load')\n"
    found = job(waits, waits, third, fourth)
    kind, ranks, text = found.said()
    assert (kind, ranks) == ("held back", [3])
    assert text.startswith("ranks 2 and 3 never launched NCCL:AllReduce 40, and are in ")


def test_messages_between_two_ranks_say_nothing_of_the_others(job):
    sends = ALL + "made[0xfeed].channel(made[0xfeed].send(b'Send', 1, 1), 0, now())\n"
    sends += "open_now['Send', 1] = True\n"
    found = job(sends, ALL, ALL, ALL)
    assert found.said() == ("cannot tell", [], "no verdict: every process is in step")


def test_a_rank_whose_thread_waits_for_others_is_not_named(job):
    waits = ALL + "nvspan.push_range('barrier', domain='torch.distributed')\n"
    found = job(WAITS, WAITS, waits, WAITS)
    assert found.said()[:2] == ("cannot tell", [])


def test_operations_have_their_number_and_rank(job):
    found = job(WAITS, ALL + "launched(0xfeed, 'Broadcast', 7)\n", mode="ring=1")
    devices = [d for p in nvspan.where(found.folder).processes for d in p.devices]
    assert [(d["name"], d["state"], d["communicator"], d["number"], d["rank"], d["ranks"],
             d["device"], d["stream"]) for d in devices] == [
        ("AllReduce", "begun", 0xfeed, 40, 0, 4, 0, None),
        ("Broadcast", "launched", 0xfeed, 7, 1, 4, 0, None),
    ]  # fmt: skip


def test_top_says_it_too(job):
    found = job(WAITS, WAITS, ALL, WAITS)
    sampler = Sampler([found.folder])
    sampler.watch(0.3)
    assert sampler.window().verdict.text == (
        "rank 2 never launched NCCL:AllReduce 40, and is in step; "
        "the GPUs of ranks 0, 1 and 3 wait in it"
    )
