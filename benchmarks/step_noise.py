# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How the steps of real loops vary here: what tests/cpp/change_point_replay_test.cpp draws from.

    step_noise.py FOLDER [--seconds N] [--kinds mlp,lstm,conv,gloo,numpy,files]

Records each loop for some seconds and writes FOLDER/KIND.i16: for each step the logarithm of its
duration by the running median, in units of 1/20000, as little-endian 16-bit integers. Then
`change_point_replay_test FOLDER/*.i16` says what the change-point detector makes of them. Torch's
loops need torch, and gloo takes two processes.
"""

from __future__ import annotations

import argparse
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np

import nvspan

KINDS = ("mlp", "lstm", "conv", "gloo", "numpy", "files")
FIRST, MOST, WINDOW = 200, 8000, 1001  # steps: left out, kept, of the running median


def training(kind):
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    nn = torch.nn
    inputs, model = {
        "mlp": ((64, 256), nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512),
                                         nn.ReLU(), nn.Linear(512, 10))),
        "lstm": ((16, 24, 64), nn.LSTM(64, 64, batch_first=True)),
        "conv": ((8, 3, 32, 32), nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(),
                                               nn.Conv2d(16, 16, 3), nn.ReLU(), nn.Flatten(),
                                               nn.Linear(16 * 28 * 28, 10))),
        "gloo": ((64, 128), nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10))),
    }[kind]  # fmt: skip
    if kind == "gloo":
        torch.distributed.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(model)
    batch = torch.randn(inputs)
    optimizer = torch.optim.Adam(model.parameters())

    def body():
        with nvspan.annotate("forward"):
            found = model(batch)
            loss = (found[0] if isinstance(found, tuple) else found).square().mean()
        with nvspan.annotate("backward"):
            optimizer.zero_grad()
            loss.backward()
        with nvspan.annotate("optimizer"):
            optimizer.step()

    return body


def products():
    left, right = np.random.rand(2, 360, 360)

    def body():
        with nvspan.annotate("matmul"):
            found = left @ right
        with nvspan.annotate("sum"):
            found.sum()

    return body


def reading(folder):
    paths = [folder / f"{number}.bin" for number in range(16)]
    for path in paths:
        path.write_bytes(os.urandom(1 << 20) + bytes(1 << 20))
    chance = random.Random(1)

    def body():
        with nvspan.annotate("read"):
            data = chance.choice(paths).read_bytes()
        with nvspan.annotate("check"):
            zlib.crc32(data)
        with nvspan.annotate("parse"):
            sum(memoryview(data)[:400_000:8])

    return body


def run(kind, seconds, folder):
    """One process's loop; those of gloo end at the same step."""
    if kind in ("files", "numpy"):
        body = reading(folder) if kind == "files" else products()
    else:
        body = training(kind)
    end = time.monotonic() + seconds
    number, ends = 0, False
    while not ends:
        with nvspan.annotate("step"):
            body()
        number += 1
        ends = time.monotonic() > end
        if kind == "gloo":
            import torch

            if number % 500 != 0:
                ends = False
                continue
            votes = torch.tensor([float(ends)])
            torch.distributed.all_reduce(votes)
            ends = votes.item() > 0


def noise_of(path):
    durations = [row["duration"] for row in nvspan.read(path).ranges.rows()
                 if row["name"] == "step"]  # fmt: skip
    logs = np.log(np.array(durations, float))[FIRST:]
    around = np.lib.stride_tricks.sliding_window_view(
        np.pad(logs, WINDOW // 2, mode="reflect"), WINDOW
    )
    residuals = logs - np.median(around, axis=1)
    return np.clip(np.round(residuals * 20_000), -32_767, 32_767).astype("<i2")[:MOST]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run(options.run, options.seconds, options.folder)
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    for kind in options.kinds.split(","):
        with tempfile.TemporaryDirectory(prefix="nvspan-noise-") as folder:
            with socket.create_server(("127.0.0.1", 0)) as server:
                port = server.getsockname()[1]
            running = []
            for rank in range(2 if kind == "gloo" else 1):
                environment = {
                    **os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                    "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
                    "NVSPAN_RECORD": f"{folder}/{rank}.nvspan",
                }  # fmt: skip
                running.append(subprocess.Popen(
                    [sys.executable, __file__, folder, "--run", kind, "--seconds",
                     str(options.seconds)], env=environment,
                ))  # fmt: skip
            codes = [process.wait() for process in running]
            if any(codes):
                continue
            found = noise_of(f"{folder}/0.nvspan")
            found.tofile(options.folder / f"{kind}.i16")
            print(f"{kind}: {len(found)} steps", flush=True)


if __name__ == "__main__":
    main()
