# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Starts training jobs whose delays are known, and hands back their recordings with the truth."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, median
from typing import Any

HERE = Path(__file__).parent

# The place of a delay, and the range that shows it. All of them get longer where a core is slow.
RANGES = {
    "input": "dataloader.next",
    "forward": "forward",
    "backward": "backward",
    "optimizer": "optimizer.step",
    "core": None,
}


def physical_cores() -> list[int]:
    """The cores that this process may use: one of each pair of hardware threads first."""
    able = sorted(os.sched_getaffinity(0))
    seen, first, second = set(), [], []
    for core in able:
        path = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        try:
            pair = path.read_text().strip()
        except OSError:
            pair = str(core)
        (second if pair in seen else first).append(core)
        seen.add(pair)
    return first + second


@contextmanager
def started(commands: list[tuple[list[str], dict[str, str]]]) -> Iterator[list[Any]]:
    running: list[Any] = []
    try:
        for command, environment in commands:
            running.append(subprocess.Popen(
                command, env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True,
                start_new_session=True,
            ))  # fmt: skip
        yield running
    finally:
        for process in running:
            if process.poll() is None:  # with what `nvspan record` started
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stderr.close()


def run(
    folder: Path, phases: list[dict[str, Any]], *, ranks: int, steps: int, by: str = "sleep",
    device: str = "cpu", graphs: bool = False, shared: bool = False, width: int = 4096,
    batch: int = 2048, timeout: float = 600,
) -> list[tuple[list[Path], dict[str, Any]]]:  # fmt: skip
    """Of each phase the recordings in the order of the ranks, and the truth.

    Raises:
        RuntimeError: A process failed, with what it wrote to stderr.
        subprocess.TimeoutExpired: The job took too long.
    """
    folder.mkdir(parents=True)
    cores = physical_cores()
    plan = {
        "folder": str(folder), "steps": steps, "by": by, "phases": phases, "graphs": graphs,
        "shared": shared, "width": width, "batch": batch,
        "cores": cores[:ranks] if len(cores) >= ranks else None,
    }  # fmt: skip
    path = folder / "plan.json"
    path.write_text(json.dumps(plan))
    commands = []
    for rank in range(ranks):
        program = [sys.executable, str(HERE / "train.py"), str(path)]
        if device == "cuda":
            program = [
                sys.executable, "-m", "nvspan", "record", "--no-report", "-o",
                str(folder / f"phase-1-{rank}.nvspan"), "--", sys.executable,
                str(HERE / "train_cuda.py"), str(path),
            ]  # fmt: skip
        environment = {
            "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank),
            "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo",
        }  # fmt: skip
        if shared:  # NCCL takes one rank for each GPU of a host
            environment |= {
                "NCCL_HOSTID": f"host{rank}", "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": "1",
            }  # fmt: skip
        commands.append((program, environment))
    with started(commands) as running:
        said = [process.communicate(timeout=timeout)[1] for process in running]
        failed = [text for process, text in zip(running, said, strict=True) if process.returncode]
    if failed:
        raise RuntimeError(failed[0][-3000:])
    found = []
    for number, phase in enumerate(phases, start=1):
        files = [folder / f"phase-{number}-{rank}.nvspan" for rank in range(ranks)]
        sides = [json.loads(file.with_suffix(".json").read_text()) for file in files]
        found.append((files, truth_of(phase, sides)))
    return found


def usual(values: list[int]) -> float:
    """The mean without a fifth at each end: of what a step usually takes."""
    ordered = sorted(values)
    cut = len(ordered) // 5
    return fmean(ordered[cut : len(ordered) - cut]) if ordered else 0.0


def truth_of(phase: dict[str, Any], sides: list[dict[str, Any]]) -> dict[str, Any]:
    """The phase, what its delay usually took, and how long ranks had no core, in ns of a step."""
    without = [fmean(side["without_a_core"] or [0]) for side in sides]
    delay = usual(sides[phase["rank"]]["delays"]) if phase["ms"] else 0.0
    if phase["place"] == "core":
        others = [each for rank, each in enumerate(without) if rank != phase["rank"]]
        delay = without[phase["rank"]] - median(others)
    usually = [usual(side["without_a_core"]) for side in sides]
    return {**phase, "delay_ns": delay, "without_a_core_ns": without,
            "usually_without_a_core_ns": usually}  # fmt: skip


def packed(folder: Path, into: Path) -> None:
    """The recordings and truths of a job as an archive."""
    import tarfile

    with tempfile.NamedTemporaryFile(dir=into.parent, delete=False) as temporary:
        pass
    with tarfile.open(temporary.name, "w:xz") as archive:
        for path in sorted(folder.glob("phase-*")):
            if not path.name.startswith("phase-0-"):
                archive.add(path, arcname=f"{folder.name}/{path.name}")
    os.replace(temporary.name, into)
