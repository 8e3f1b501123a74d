# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the page takes for granted."""

import queue as queues

batches = [1, 2]
request_id = 7
queue = queues.Queue()
step = 3


def train_batch(batch):
    pass


def read_batch():
    return 1


def parse(text=""):
    return text


async def answer(request):
    return request
