# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What users meet first: recordings with known times, written into the current directory, and what
commands print of them, run within this process."""

from __future__ import annotations

import contextlib
import io
import lzma
import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from answers.key.program import Program

from helpers.sampled import RUNNING, WAITING, SampleChunk, SampledFile
from helpers.tree import ROOT
from helpers.written_loops import MS, write_loop
from helpers.written_ranks import write_job

_STEPS = 60
_LOOK = 1000  # units between two samples
_SLOW_LOOP = {48: "messages = [json.loads(line) for line in file]", 57: "weights = step(weights)"}
_LOGS = {11: "rows = [json.loads(line) for line in file]", 17: 'BOT.sub("", text)',
         29: "time.sleep(0.05)"}  # fmt: skip


def run(*words: object) -> tuple[int, str]:
    """The exit code of a command, and what it prints to both streams."""
    from nvspan.cli import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = main([str(word) for word in words])
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, said.getvalue()


def source(path: str, lines: dict[int, str]) -> str:
    """A program with some known lines, older than every recording."""
    Path(path).write_text("".join(f"{lines.get(number, 'pass')}\n" for number in range(1, 99)))
    os.utime(path, ns=(0, 0))
    return os.path.abspath(path)


def slow_loop() -> str:
    """60 steps, in which a load becomes longer and longer; with samples."""
    file, samples = SampledFile(), SampleChunk(0, 1024)
    path = source("slow_loop.py", _SLOW_LOOP)
    main = file.frame(path, "main", 70)
    load = file.stack(main, file.frame(path, "batches", 48, (0, 46)))
    rest = file.stack(main, file.frame(path, "update", 57, (0, 23)))
    thread, now, ranges = file.thread(), 0, []
    for step in range(_STEPS):
        long = 3000 + 190 * step
        parts = (("load", long), ("update", 230), ("forward", 200))
        ranges.append((now, now + long + 440, "step"))
        for name, units in parts:
            ranges.append((now + 1, now + units, name))
            now += units
        now += 20
    for at in range(_LOOK // 2, now, _LOOK):
        inside = next((name for begin, end, name in reversed(ranges) if begin <= at < end), "")
        samples.sample(at, thread, load if inside == "load" else rest, RUNNING)
    file.ranges(ranges)
    file.samples(samples)
    return os.fspath(file.write(Path("slow_loop.nvspan")).name)


def logs() -> str:
    """A program without ranges: three functions, one of which waits; with samples."""
    file, samples = SampledFile(), SampleChunk(0, 1024)
    path = source("logs.py", _LOGS)
    main = file.frame(path, "main", 40)
    stacks = {
        name: (file.stack(main, file.frame(path, name, line)), looks)
        for name, line, looks in (("clean", 17, 6), ("read", 11, 2), ("save", 29, 1))
    }
    thread, at = file.thread(), _LOOK // 2
    for _ in range(100):
        for name, (stack, looks) in stacks.items():
            for _ in range(looks):
                samples.sample(at, thread, stack, WAITING if name == "save" else RUNNING)
                at += _LOOK
    file.samples(samples)
    return os.fspath(file.write(Path("logs.nvspan")).name)


def service() -> str:
    """1,200 steps in which nothing stands out."""
    program = Program(7)
    program.loop("request", 1200, {"query": 3.3, "render": 2.8, "parse": 1.6, "send": 0.3})
    program.write(Path("api.nvspan"))
    return "api.nvspan"


def training() -> str:
    """A loop of torch on a GPU that waits for data, as it was recorded."""
    packed = ROOT / "tests" / "data" / "loops" / "data.nvspan.xz"
    Path("train.nvspan").write_bytes(lzma.decompress(packed.read_bytes()))
    return "train.nvspan"


def runs(name: str, forward: float) -> list[str]:
    """Five runs of a loop."""
    phases = {"data wait": 2 * MS, "forward": forward * MS, "backward": 6 * MS}
    return [
        os.fspath(
            write_loop(Path(f"{name}-{i}.nvspan"), phases, jitter=0.01, seed=i,
                       begin=1000 * i * MS + (5000 * MS if name == "branch" else 0))
        )
        for i in range(1, 6)
    ]  # fmt: skip


def job() -> list[str]:
    """Four ranks, the last of which loads too slowly."""

    def extra(rank: int, step: int, name: str) -> int:
        return 3 * MS if rank == 3 and name == "dataloader.next" else 0

    Path("job").mkdir()
    return [os.fspath(path) for path in write_job(Path("job"), extra=extra)]


def record_screen(path: str) -> str:
    """What `nvspan record` prints after a run."""
    from nvspan.cli.record import _report

    options = Namespace(domains=None, min_duration=None, mode="full", output=path, lines=None)
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        _report([path], options, [])
    return said.getvalue()


def _thread(tid: int, ranges: Sequence[tuple[str | None, str]], stack: Any) -> Any:
    from nvspan.live.model import Thread

    return Thread(tid=tid, name="MainThread", ranges=tuple(ranges), depth=len(ranges), events=99,
                  moved=0, unchanged=41_300_000_000, at_least=False, changing=False, started=(),
                  started_within=(), started_beyond=0, ended=False, state="sleeping",
                  stack=stack)  # fmt: skip


def where_screen() -> str:
    """What `nvspan where` prints of a job that hangs: rank 1 reads, and the others wait for it."""
    from nvspan.live.judge import Waits
    from nvspan.live.model import Process
    from nvspan.live.snapshot import Snapshot
    from nvspan.live.stacks import Stack

    processes = []
    for rank in range(4):
        is_late = rank == 1
        place, call, text = (
            ("dataset.py:88", "read_shard()", "file.read(size)")
            if is_late
            else ("train.py:31", "train()", "dist.all_reduce(grad)")
        )
        frame: Any = SimpleNamespace(file="/src/train.py", line=31, function="f", place=place,
                                     call=call, text=text, cell=f"{place}  {text}")  # fmt: skip
        found: Any = SimpleNamespace(shown=0, state="waiting", held=41_300_000_000, at_least=False)
        inner = (None, "data wait") if is_late else ("gloo", "all_reduce")
        thread = _thread(4711 + rank, [(None, "step"), inner], Stack(found, [frame], 0))
        processes.append(
            Process(file=f"run-{rank}.nvspan", pid=4711 + rank, parent_pid=1, rank=rank,
                    host="node", command=["train.py"], mode="ring", sampler="on", lost=0,
                    threads=[thread], devices=[], stayed=[], state="sleeping")
        )  # fmt: skip
    return f"{Snapshot(processes, [], 0.2, Waits(()))}\n"


def doctor_screen() -> str:
    """What `nvspan doctor` prints where annotations are switched off."""
    from nvspan._doctor import Finding
    from nvspan.cli.doctor import render
    from nvspan.doctor import _verdict

    findings = [
        Finding("ok", "nvspan 0.1.0, Python 3.11.7, Linux x86_64"),
        Finding("problem", "NVTX_DISABLE=1 switches all annotations off", "unset NVTX_DISABLE"),
        Finding("note", "no CUDA driver (libcuda.so.1 is not installed); NVTX needs none"),
    ]
    for finding, name in zip(findings, ("nvspan", "NVTX_DISABLE", "cuda driver"), strict=True):
        finding.name = name
    verdict, todo = _verdict(findings)
    shown = [finding.as_dict() for finding in findings]
    return render({"findings": shown, "verdict": verdict, "next": todo})


def first_screens() -> dict[str, str]:
    """Each first screen, by the name of its listing; the recordings are left in the directory."""
    main, branch = runs("main", 4), runs("branch", 6)
    said = {
        "record-loop": record_screen(slow_loop()),
        "record-functions": record_screen(logs()),
        "explain-findings": run("explain", training())[1],
        "explain-nothing": run("explain", service())[1],
        "diff": run("diff", "--fail", *main, "--", *branch)[1],
        "ranks": run("ranks", *job())[1],
        "where": where_screen(),
        "doctor": doctor_screen(),
        "help": run("--help")[1],
    }
    return said
