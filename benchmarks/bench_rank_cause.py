# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How often `nvspan ranks` names the right rank and place, in training jobs with known delays.

    python benchmarks/bench_rank_cause.py --ranks 3 --minutes 10 --seed 7 --out results
    python benchmarks/bench_rank_cause.py --device cuda --ranks 4 --delays 0 0.05 0.25 1
    python benchmarks/bench_rank_cause.py --replay results          # judge its recordings again

A trial is 64 steps in which one rank, drawn anew, is delayed in one place of each step, or shares
its core with processes that never sleep. Needs torch and an installed nvspan, and nothing else of
its checkout; --device cuda a GPU for each rank, or --shared-gpu: then NCCL talks over sockets, and
MPS (nvidia-cuda-mps-control -d, CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=20) lets the ranks run at once.
OUT gets trials.jsonl with every trial, the recordings, and summary.txt, which is also printed.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from rank_cause import job, tally

from nvspan.ranks.cause.analysis import ranks
from nvspan.ranks.cause.text import as_dict

PLACES = ["input", "forward", "backward", "optimizer"]


def phases_of(options: argparse.Namespace, ranks: int, draw: random.Random) -> list[dict[str, Any]]:
    """One job's phases: each case some times, in random order."""
    cases = [
        {"place": place, "ms": ms, "burners": 0}
        for ms in options.delays if ms for place in options.places if place != "core"
    ]  # fmt: skip
    if options.device == "cpu" and "core" in options.places:
        cases += [{"place": "core", "ms": 0.0, "burners": count} for count in options.burners]
    nothing = {"place": "", "ms": 0.0, "burners": 0}
    cases += [nothing] * (options.nothing if 0 in options.delays else 0)
    phases = [{**case, "rank": draw.randrange(ranks)} for case in cases * options.repeats]
    draw.shuffle(phases)
    return phases


def jobs(options: argparse.Namespace) -> Iterator[tuple[int, bool, list[dict[str, Any]]]]:
    """Ranks, whether steps are CUDA graphs, and phases: of jobs without end."""
    draw = random.Random(options.seed)
    while True:
        for count in options.ranks:
            phases = phases_of(options, count, draw)
            if options.device == "cpu":
                yield count, False, phases
                continue
            for phase in phases:  # a process for each, as NCCL's plugin is loaded once
                for kind in options.kinds:
                    yield count, kind == "graphs", [phase]


def run(options: argparse.Namespace) -> None:
    began = time.monotonic()
    until = began + 60 * options.minutes
    options.out.mkdir(parents=True, exist_ok=True)
    longest, done = 0.0, 0
    with (
        tempfile.TemporaryDirectory() as temporary,
        (options.out / "trials.jsonl").open("a") as into,
    ):
        for number, (count, graphs, phases) in enumerate(jobs(options)):
            left = until - time.monotonic()
            if left < 1.2 * longest or left <= 0 or (options.trials and done >= options.trials):
                break
            start = time.monotonic()
            name = f"job-{options.seed}-{number}"
            folder = Path(temporary) / name
            try:
                found = job.run(
                    folder, phases, ranks=count, steps=options.steps, by=options.by,
                    device=options.device, graphs=graphs, shared=options.shared_gpu,
                    width=options.width, batch=options.batch,
                    timeout=60 if options.device == "cuda" else max(60, left),
                )  # fmt: skip
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{name} failed: {error}", file=sys.stderr)
                if not done:
                    sys.exit(1)
                shutil.rmtree(folder, ignore_errors=True)
                continue
            for trial, (files, truth) in enumerate(found, start=1):
                truth.update(job=name, trial=trial, graphs=graphs, device=options.device)
                files[0].with_name(f"phase-{trial}-truth.json").write_text(json.dumps(truth))
                row = tally.judged(truth, count, as_dict(ranks(*files)))
                into.write(json.dumps(row) + "\n")
                done += 1
            into.flush()
            if options.keep:
                job.packed(folder, options.out / f"{name}.tar.xz")
            shutil.rmtree(folder)
            longest = max(longest, time.monotonic() - start)
            print(f"{name}: {count} ranks, {done} trials, {time.monotonic() - began:.0f} s",
                  file=sys.stderr, flush=True)  # fmt: skip
    summarize(options.out)


def replay(folder: Path) -> None:
    """Judges kept recordings again."""
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for archive in sorted(folder.glob("job-*.tar.xz")):
            with tarfile.open(archive) as packed:
                packed.extractall(temporary, filter="data")
            inside = Path(temporary) / archive.name.removesuffix(".tar.xz")
            for path in sorted(inside.glob("phase-*-truth.json")):
                truth = json.loads(path.read_text())
                stem = path.name.removesuffix("truth.json")
                files = sorted(
                    inside.glob(f"{stem}*.nvspan"), key=lambda file: (len(file.name), file)
                )
                sides = [json.loads(file.with_suffix(".json").read_text()) for file in files]
                truth = job.truth_of(truth, sides)
                rows.append(tally.judged(truth, len(files), as_dict(ranks(*files))))
            shutil.rmtree(inside)
    (folder / "trials.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    summarize(folder)


def summarize(folder: Path) -> None:
    trials = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    rows = tally.table(trials)
    text = tally.shown(rows)
    wrong = [each for each in trials if each["result"] == "wrong"]
    for each in wrong[:20]:
        text += (f"\nwrong: {each['job']} trial {each['trial']}, {each['place'] or 'none'} of rank "
                 f"{each['rank']}, {each['delay_ns'] / 1e6:.3f} ms: {each['text']}")  # fmt: skip
        if each["by_machine"]:
            text += " (other programs had its core)"
    (folder / "summary.txt").write_text(text + "\n")
    (folder / "summary.json").write_text(json.dumps(rows, indent=1))
    print(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--ranks", type=int, nargs="+", default=[3], help="jobs of so many, in turns"
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--shared-gpu", action="store_true", help="all ranks use the first GPU")
    parser.add_argument("--width", type=int, default=4096, help="of the layers on GPUs")
    parser.add_argument("--batch", type=int, default=2048, help="rows that go through them at once")
    parser.add_argument("--kinds", nargs="+", choices=["eager", "graphs"],
                        default=["eager", "graphs"], help="of steps on GPUs")  # fmt: skip
    parser.add_argument("--delays", type=float, nargs="+", default=[0, 0.5, 1, 2, 5],
                        help="ms of a step")  # fmt: skip
    parser.add_argument("--places", nargs="+", choices=list(job.RANGES), default=None)
    parser.add_argument("--burners", type=int, nargs="+", default=[1, 3],
                        help="processes beside a rank on its core")  # fmt: skip
    parser.add_argument("--by", choices=["sleep", "spin"], default="sleep", help="how CPUs delay")
    parser.add_argument("--nothing", type=int, default=8, help="undelayed trials of a job")
    parser.add_argument("--repeats", type=int, default=1, help="trials of each case in a job")
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--minutes", type=float, default=10, help="start no job that would last longer"
    )
    parser.add_argument(
        "--trials", type=int, default=0, help="stop after so many; 0: by time alone"
    )
    parser.add_argument("--out", type=Path, default=Path("rank-cause"), metavar="FOLDER")
    parser.add_argument("--keep", action="store_true", help="keep the recordings, for --replay")
    parser.add_argument("--replay", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.replay:
        replay(options.replay)
        return
    if options.places is None:
        options.places = [*PLACES, "core"] if options.device == "cpu" else PLACES[1:]
    if options.device == "cuda":
        import torch

        needed = 1 if options.shared_gpu else max(options.ranks)
        if torch.cuda.device_count() < needed:
            parser.error(f"--ranks {max(options.ranks)} needs {needed} GPUs, and there are "
                         f"{torch.cuda.device_count()}: see --shared-gpu")  # fmt: skip
    run(options)


if __name__ == "__main__":
    main()
