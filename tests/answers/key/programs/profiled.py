# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Functions without ranges, for a profile: clean() is what takes the time."""

import time

BEGIN = time.perf_counter()

import re  # noqa: E402  imports are a part of the run

from measured import note, phase  # noqa: E402

LINES = [f"word {number} and, some; more: {number * 7}!" for number in range(600)]


def clean(line: str) -> str:
    with phase("clean", is_annotated=False):
        for _ in range(120):
            line = re.sub(r"[^a-z ]+(?=\s|$)", "", line + " x")
        return line


def count(line: str) -> int:
    return len(line.split())


def main() -> None:
    print(sum(count(clean(line)) for line in LINES))


main()
note("run", BEGIN, time.perf_counter())
