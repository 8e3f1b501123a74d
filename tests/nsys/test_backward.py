# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A backward pass in a report of Nsight Systems, whose kernels autograd's own thread launches.

What the range of a thread is projected to are the kernels that the thread launched: almost none of
them. The device range is all that the GPU did.
"""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from helpers import nsys
from helpers.device import only_real

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = [only_real, pytest.mark.nsys]

CODE = """
import torch, nvspan, nvspan.torch
model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096, bias=False) for _ in range(8)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
x = torch.randn(4096, 4096, device="cuda")
model(x).square().mean().backward()  # loads what it needs while the GPU waits
optimizer.step()
optimizer.zero_grad()
with nvspan.torch.auto(model, optimizer, device=True):
    for _ in range(5):
        model(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
assert nvspan.device_flush(30)
assert not any(nvspan.info()["device"]["lost"].values()), nvspan.info()["device"]
"""
RANGES = """
    select start, end, globalTid from NVTX_EVENTS left join StringIds on id = textId
    where coalesce(text, value) = ? order by start"""
LAUNCHED = """
    select kernel.start, kernel.end, call.globalTid from CUPTI_ACTIVITY_KIND_KERNEL as kernel
    join CUPTI_ACTIVITY_KIND_RUNTIME as call using (correlationId)
    join StringIds on id = shortName
    where call.start between ? and ? and value not like 'nvspan%'"""  # which compare the clocks


def test_the_gpus_range_is_right_where_the_projection_is_empty(tmp_path):
    if not torch.cuda.is_available():
        pytest.skip("torch is built without CUDA, or finds no GPU")
    report = nsys.profile(CODE, tmp_path, trace="cuda,nvtx")
    with contextlib.closing(sqlite3.connect(report.database)) as connection:
        query = connection.execute
        threads = {thread for *_, thread in query(RANGES, ("step",))}
        ranges = query(RANGES, ("backward",)).fetchall()
        cpu = [each for each in ranges if each[2] in threads]
        gpu = [each for each in ranges if each[2] not in threads]
        assert (len(threads), len(cpu), len(gpu)) == (1, 5, 5)
        for (begin, end, thread), (shown_begin, shown_end, _) in zip(cpu, gpu, strict=True):
            kernels = query(LAUNCHED, (begin, end)).fetchall()
            right = max(k[1] for k in kernels) - min(k[0] for k in kernels)
            assert abs(shown_end - shown_begin - right) <= 0.02 * right
            projected = [k for k in kernels if k[2] == thread]
            assert sum(k[1] - k[0] for k in projected) < 0.02 * right
            assert len(kernels) - len(projected) >= 15
