# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""NCCL's profiler plugin in the extension module, called as NCCL calls it: an operation is a device
range from the first beginning to the last end of its channels."""

from __future__ import annotations

import pytest

from helpers.device import device_ranges, only_fake, run_device
from helpers.nccl_plugin import NCCL
from helpers.traced import needs_library

pytestmark = [needs_library, only_fake]


@pytest.mark.parametrize("version", [4, 5])
def test_an_operation_lasts_from_its_first_channel_to_its_last(version):
    done = run_device(
        NCCL
        + f"""
nccl = Nccl({version})
assert nccl.mask.value == COLL | P2P | CHANNEL
t0 = now()
first = nccl.collective(b"AllReduce", 7, 2)
second = nccl.collective(b"Broadcast", 3, 1)
peer = nccl.send(b"Send", 1, 1)
for call in (first, second, peer): nccl.stop(call)
begun = [nccl.channel(first, n, t0 + 1000 - 100 * n) for n in range(2)]
nccl.channel_stop(begun[1], t0 + 5000)
other = nccl.channel(second, 0, t0 + 6000)
nccl.channel_stop(begun[0], t0 + 4000)
nccl.channel_stop(other, t0 + 9000)
nccl.channel_stop(nccl.channel(peer, 0, t0 + 10_000), t0 + 12_500)
assert nvspan.device_flush(30)
stats = nvspan.device_stats()
assert {{k: v for k, v in stats.items() if v}} == {{"begun": 3, "sent_exact": 3}}, stats
nccl.finalize()
"""
    )
    found = sorted(device_ranges(done.events), key=lambda r: r["begin"])
    assert [(r["domain"], r["message"], r["payload"], r["stream"], r["device"]) for r in found] == [
        ("NCCL", "AllReduce", 7, 0xABC, 0), ("NCCL", "Broadcast", 3, 0xABC, 0),
        ("NCCL", "Send", 1, 0xABC, 0),
    ]  # fmt: skip
    assert all((r["rank"], r["size"]) == (2, 4) and "stream_handle" not in r for r in found)
    (category,) = {r["category"] for r in found}
    assert [e["name"] for e in done.of_kind("name_category") if e["category"] == category] == [
        "communicator 0000000000000abc, rank 2 of 4"
    ]


def test_the_times_are_those_of_the_gpu(tmp_path):
    run_device(
        NCCL
        + """
import sys
with nvspan.record(sys.argv[1]):
    nccl = Nccl(5)
    time.sleep(0.01)
    before = now()
    with nvspan.annotate("asks"):
        operation = nccl.collective(b"AllReduce", 0, 1)
        nccl.stop(operation)
    channel = nccl.channel(operation, 0, before)
    time.sleep(0.02)
    after = now()
    nccl.channel_stop(channel, after)
    assert nvspan.device_flush(30)
    nccl.finalize()
rows = list(nvspan.read(sys.argv[1]).ranges.rows())
(asks,) = [r for r in rows if r["name"] == "asks"]
(found,) = [r for r in rows if r["kind"] == 2]
assert (found["domain"], found["name"], found["device"]) == ("NCCL", "AllReduce", 0)
assert rows[found["launcher"]] == asks
assert abs(found["start"] + EPOCH - before) < 1_000_000, (found, before)
assert abs(found["end"] + EPOCH - after) < 1_000_000, (found, after)
""",
        tmp_path / "run.nvspan",
        traced=False,
    )


def test_what_nccl_never_ends_is_counted():
    done = run_device(
        NCCL
        + """
nccl = Nccl(5)
left = nccl.collective(b"AllReduce", 0, 2)
nccl.stop(left)
channel = nccl.channel(left, 0, now())
assert nccl.collective(b"AllReduce", 1, 0) is None  # no channels: nothing would end it
finished = nccl.collective(b"AllReduce", 2, 1)
nccl.stop(finished)
one = nccl.channel(finished, 0, now())
assert nccl.channel(finished, 1, now()) is None  # more than were announced
nccl.channel_stop(one, now())
nccl.finalize()
stats = nvspan.device_stats()
assert {k: v for k, v in stats.items() if v} == {"begun": 2, "sent_exact": 1, "unpaired": 1}, stats
"""
    )
    assert [r["payload"] for r in device_ranges(done.events)] == [2]


def test_without_a_tool_nothing_is_asked_of_nccl():
    run_device(NCCL + "nvspan.mark('x')\nnccl = Nccl(5)\nassert nccl.mask.value == 0\n"
               "assert nccl.collective(b'AllReduce', 0, 1) is None\nnccl.finalize()\n",
               traced=False)  # fmt: skip


def test_many_threads():
    done = run_device(
        NCCL
        + """
import threading
communicators = [Nccl(5, id=i + 1) for i in range(4)]
def work(nccl):
    for number in range(500):
        call = nccl.collective(b"AllReduce", number, 3)
        channels = [nccl.channel(call, n, now()) for n in range(3)]
        nccl.stop(call)
        for channel in channels: nccl.channel_stop(channel, now())
threads = [threading.Thread(target=work, args=(nccl,)) for nccl in communicators]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert nvspan.device_flush(30)
for nccl in communicators: nccl.finalize()
"""
    )
    found = device_ranges(done.events)
    assert sorted((r["stream"], r["payload"]) for r in found) == [
        (i + 1, n) for i in range(4) for n in range(500)
    ]
    assert all(r["begin"] <= r["end"] for r in found)
