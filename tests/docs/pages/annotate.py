# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the page takes for granted, and a program whose range is closed by nobody."""

import queue as queues
import types
from pathlib import Path

batches = [1, 2]
request_id = 7
queue = queues.Queue()
step = 3
mylib = types.SimpleNamespace(run=lambda: None)
Path("unpaired.py").write_text("""import nvspan


def step():
    with nvspan.annotate("step"):
        nvspan.push_range("backward")


step()
""")


def train_batch(batch):
    pass


def read_batch():
    return 1


def parse(text=""):
    return text


def warm_up():
    pass


async def answer(request):
    return request
