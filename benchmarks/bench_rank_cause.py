# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How often `nvspan ranks` names the right rank and place, in training jobs with known delays.

    python benchmarks/bench_rank_cause.py --ranks 3 --delays 0 2 5 --trials 20
    python benchmarks/bench_rank_cause.py --device cuda --ranks 4 --delays 0 0.05 0.25 1 --trials 50

A trial is 64 steps in which one rank, drawn anew, is delayed in one place of each step. Needs
torch; --device cuda a GPU for each rank.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from helpers.gloo_jobs import run_job
from nvspan.ranks.cause.analysis import ranks

# The place of the delay, and the range that shows it. All ranges get longer where a core is slow.
RANGES = {
    "input": "dataloader.next",
    "forward": "forward",
    "backward": "backward",
    "optimizer": "optimizer.step",
    "all": None,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--delays", type=float, nargs="+", default=[0, 2, 5], help="ms of a step")
    parser.add_argument("--trials", type=int, default=20, help="for each delay")
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--places", nargs="+", choices=list(RANGES), default=list(RANGES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", metavar="FOLDER", help="leave the recordings there")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    phases = [
        (options.places[i % len(options.places)], draw.randrange(options.ranks), ms)
        for ms in options.delays
        for i in range(options.trials)
    ]
    draw.shuffle(phases)
    with tempfile.TemporaryDirectory() as temporary:
        given = [f"{at}:{rank}:{ms}" for at, rank, ms in phases]
        files = run_job(
            Path(options.keep or temporary) / "job", given, ranks=options.ranks,
            steps=options.steps, device=options.device,
        )  # fmt: skip
        counts: dict[tuple[float, str], list[int]] = {}
        for (at, rank, ms), of in zip(phases, files, strict=True):
            verdict = ranks(*of).verdict
            row = counts.setdefault((ms, at if ms else "(any)"), [0, 0, 0, 0])
            row[0] += 1
            right = verdict.rank == (rank if ms else None)
            row[1] += right
            row[2] += right and (not ms or RANGES[at] in (None, verdict.range))
            row[3] += verdict.rank is not None
            if options.verbose and not right:
                print(f"{at} of rank {rank}, {ms} ms: {verdict.text}")
    print("   delay  place      trials rank right range too  named")
    for (ms, at), (trials, right, whole, named) in sorted(counts.items()):
        print(f"{ms:>5g} ms  {at:<10} {trials:>6} {right:>10} {whole:>9} {named:>6}")


if __name__ == "__main__":
    main()
