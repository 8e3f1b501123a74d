# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The callbacks for trackers of experiments: what the real packages write without a network."""

from __future__ import annotations

import json
import struct

import pytest

from helpers.traced import needs_library, python
from helpers.tree import ROOT

pytestmark = needs_library

RANGES = [f"nvspan/{name}/{figure}" for name in ("data/load", "step")
          for figure in ("calls", "mean_ms", "p99_ms")]  # fmt: skip
OFFLINE = {
    "WANDB_MODE": "offline", "WANDB_SILENT": "true", "MLFLOW_TRACKING_URI": "file:logs",
    "MLFLOW_ALLOW_FILE_STORE": "true", "MLFLOW_DISABLE_TELEMETRY": "true",
}  # fmt: skip


def run(name, folder):
    example = ROOT / "examples" / name
    done = python(example, "--steps", 30, cwd=folder, timeout=300, env=OFFLINE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "slope 2.48 after 30 steps"


def check(logged):
    """{name: {step: value}}: the loss, and each figure of what happened since the last time."""
    assert sorted(logged) == sorted(["loss", *RANGES])
    assert {tuple(sorted(values)) for values in logged.values()} == {(10, 20, 30)}
    for name, values in logged.items():
        if name.endswith("/calls"):
            assert list(values.values()) == [10, 10, 10]
        assert all(value > 0 for value in values.values())
    for step in (10, 20, 30):
        assert logged["nvspan/data/load/mean_ms"][step] < logged["nvspan/step/mean_ms"][step]


def test_wandb(tmp_path):
    pytest.importorskip("wandb", reason="wandb is not installed")
    from wandb.proto import wandb_internal_pb2

    run("wandb_callback.py", tmp_path)
    (file,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    logged = {}
    for bytes_ in records(file.read_bytes()):
        record = wandb_internal_pb2.Record.FromString(bytes_)
        if record.WhichOneof("record_type") != "history":
            continue
        row = {item.key or "/".join(item.nested_key): json.loads(item.value_json)
               for item in record.history.item}  # fmt: skip
        step = row["_step"]
        for name, value in row.items():
            if not name.startswith("_"):
                logged.setdefault(name, {})[step] = value
    check(logged)


def records(data):
    """Those of a log in blocks of 32 KB, which may be in pieces: its header has 7 bytes."""
    at, whole = 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, size, kind = struct.unpack("<IHB", data[at : at + 7])
        if kind == 0:
            return
        whole += data[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):  # whole, or the last piece
            yield whole
            whole = b""


def test_mlflow(tmp_path):
    pytest.importorskip("mlflow", reason="mlflow is not installed")
    run("mlflow_callback.py", tmp_path)
    logged = {}
    # Of each metric a file, a line each: time, value, step.
    for file in tmp_path.glob("logs/0/*/metrics/**/*"):
        if file.is_file():
            name = file.relative_to(next(tmp_path.glob("logs/0/*/metrics"))).as_posix()
            rows = [line.split() for line in file.read_text().splitlines()]
            logged[name] = {int(step): float(value) for _, value, step in rows}
    check(logged)


def test_tensorboard(tmp_path):
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    read = (
        "import json, sys\n"
        "from tensorboard.backend.event_processing.event_accumulator import EventAccumulator\n"
        "from tensorboard.util.tensor_util import make_ndarray\n"
        "found = EventAccumulator('logs')\n"
        "found.Reload()\n"
        "print(json.dumps({tag: {of.step: float(make_ndarray(of.tensor_proto))\n"
        "      for of in found.Tensors(tag)} for tag in found.Tags()['tensors']}))\n"
    )
    run("tensorboard_callback.py", tmp_path)
    done = python("-c", read, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    check({name: {int(step): value for step, value in values.items()}
           for name, values in json.loads(done.stdout).items()})  # fmt: skip
