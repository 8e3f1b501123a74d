# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every kind of NVTX event that a report of Nsight Systems holds, in two threads."""

import threading

import nvspan

nvspan.name_thread("main thread")
nvspan.name_category(7, "by number", domain="train")
train = nvspan.get_domain("train")


def step(number):
    with nvspan.annotate("step", domain="train", color="green", payload=number):
        with nvspan.annotate("load", domain="io", color="blue", category="copies", payload=0.5):
            nvspan.mark("loaded", domain="io", color=0x80FF8000, payload=-number)
        fields = {"step": number, "lr": 0.5}
        with nvspan.annotate("forward", domain="train", payload=fields), nvspan.annotate("layer"):
            nvspan.mark("in layer", payload=2**63 + number)
        with nvspan.annotate("backward", domain="train", category=7):
            pass


for number in range(3):
    step(number)
across = nvspan.start_range("across threads", domain="train", color="purple", payload=3)
own = nvspan.start_range("own thread")


def work():
    nvspan.name_thread("worker")
    with nvspan.annotate("in worker", domain="train"):
        step(10)
    nvspan.end_range(across)


thread = threading.Thread(target=work)
thread.start()
thread.join()
nvspan.end_range(own)
with nvspan.annotate("größe ☃"):
    pass
nvspan.start_range("never ended")
nvspan.push_range("never popped", domain="train")
