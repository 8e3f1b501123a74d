# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of 8 processes, in which one meets a trouble that is drawn at random: who is named.

    where_trials.py [--trials N] [--first SEED] [--meet gloo|barrier] [--processes N]

In each trial a rank, a step, a trouble and the recorder's mode are drawn. `nvspan where` looks at
the job until it names a rank, or for some seconds; if it is another rank, or one more, that is
wrong. A rank that is killed ends the others' collectives in gloo: they end as well.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

import nvspan  # noqa: E402
from helpers.jobs import TROUBLES, job  # noqa: E402

PATIENCE = 5.0  # seconds, in which nobody is named


def trial(seed: int, processes: int, meet: str) -> tuple[str, str, str]:
    """The trouble, what was found ("named", "cannot tell", "wrong"), and the text."""
    chance = random.Random(seed)
    rank, step, trouble = chance.randrange(processes), chance.randrange(1, 40), chance.choice(
        TROUBLES)  # fmt: skip
    mode = chance.choice(("armed", "full", "ring=1"))
    more = ("gloo",) if meet == "gloo" else ()
    with (
        tempfile.TemporaryDirectory(prefix="nvspan-where-") as folder,
        job(Path(folder), processes, rank, step, trouble, *more, mode=mode),
    ):
        end = time.monotonic() + PATIENCE
        while True:
            verdict = nvspan.where(folder).verdict
            if verdict.processes:
                right = verdict.ranks == [rank]
                return trouble, "named" if right else "wrong", f"rank {rank}: {verdict.text}"
            if time.monotonic() > end:
                return trouble, "cannot tell", verdict.text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--meet", choices=("gloo", "barrier"), default="gloo")
    options = parser.parse_args()
    found: Counter[tuple[str, str]] = Counter()
    for seed in range(options.first, options.first + options.trials):
        trouble, what, text = trial(seed, options.processes, options.meet)
        found[trouble, what] += 1
        if what != "named":
            print(f"{seed} {trouble}: {what}: {text}", flush=True)
    print(f"{'trouble':<10}{'named':>8}{'cannot tell':>14}{'wrong':>8}")
    for trouble in (*TROUBLES, "all"):
        counts = [
            sum(n for (t, w), n in found.items() if w == what and trouble in (t, "all"))
            for what in ("named", "cannot tell", "wrong")
        ]
        print(f"{trouble:<10}{counts[0]:>8}{counts[1]:>14}{counts[2]:>8}")


if __name__ == "__main__":
    main()
