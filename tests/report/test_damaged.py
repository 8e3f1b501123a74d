# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reports on recordings with flipped bits, missing ends and hostile words: an answer, no crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.reported import recording_of, run_nvspan
from helpers.traced import needs_library, python

pytestmark = needs_library

# One process tries many files, so that a crash shows as its exit code; it prints the last seed.
TRY = """
import random, sys
from nvspan import _reader
from nvspan.recording import read
from nvspan.export import perfetto
from nvspan.nsight.nsys.compat import nvtx_sum
from nvspan.report import page
from nvspan.report.summary import Summary, call_tree

source, folder, first, last = sys.argv[1:]
whole = open(source, "rb").read()
seen = 0
for seed in range(int(first), int(last)):
    print(seed, flush=True)
    chance = random.Random(seed)
    data = bytearray(whole)
    for _ in range(chance.choice((1, 3, 30, 300))):
        at = chance.randrange(4096 if chance.random() < 0.8 else 8, len(data))
        if chance.random() < 0.5:
            data[at] ^= 1 << chance.randrange(8)
        else:
            at &= ~7
            few, any_bits = chance.getrandbits(8), chance.getrandbits(64)
            word = chance.choice((0, 2**64 - 1, 2**63, few, any_bits))
            data[at:at + 8] = word.to_bytes(8, "little")
    if chance.random() < 0.2:
        del data[chance.randrange(4096, len(data)):]
    path = folder + "/damaged.nvspan"
    with open(path, "wb") as file:
        file.write(data)
    try:
        recording = read(path)
    except ValueError:
        continue
    seen += 1
    summary = Summary(recording)
    handle = recording._reader.handle()
    call_tree(recording)
    nvtx_sum(recording)
    _reader.timeline(handle, {"bytes": chance.choice((500, 5_000_000))})
    page.html(recording)
    perfetto.write(recording, folder + "/out.pftrace")
    recording._repr_html_()
print("read", seen)
"""


@pytest.mark.parametrize("part", range(4))
def test_damaged_recordings_give_reports(part, tmp_path):
    given = [TRY, recording_of(), tmp_path, 100 * part, 100 * part + 100]
    done = python("-c", *given, timeout=300)
    assert done.returncode == 0, f"seed {done.stdout.split()[-1:]}: {done.stderr[-3000:]}"
    words = done.stdout.split()
    assert words[-2] == "read"
    assert int(words[-1]) > 50


@pytest.mark.parametrize("size", [4095, 4096, 6000, 20000])
def test_the_front_of_a_recording_is_exported(size, tmp_path):
    path = tmp_path / "cut.nvspan"
    path.write_bytes(Path(recording_of()).read_bytes()[:size])
    done = run_nvspan("stats", path, check=None)
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
    if done.returncode == 0:
        for form in ("perfetto", "sqlite", "csv"):
            run_nvspan("export", path, "--format", form, "-o", tmp_path / f"out.{form}")
