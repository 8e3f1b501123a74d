# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A disk that is full for a moment: nothing is left, it is said once, and the bundle comes."""

from __future__ import annotations

import os
import sys

from helpers.bundles import bundle_of, bundles, reasons
from helpers.disks import small_disk
from helpers.live import running, wait_until
from helpers.traced import needs_library, nvspan_command

pytestmark = needs_library
CODE = """
import os, sys, nvspan
os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
with nvspan.annotate("first"):
    print("ready", flush=True)
    for line in sys.stdin:
        print(nvspan.trigger(line.strip()), flush=True)
"""


def fill(folder):
    """Takes the rest of the disk."""
    with open(folder / "filler", "ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                pass


def in_folder(folder):
    return sorted(name for name in os.listdir(folder) if name not in ("filler", "run-x.nvspan"))


def test_a_bundle_is_tried_again_until_there_is_room(tmp_path):
    errors = tmp_path / "errors"
    command = [sys.executable, "-c", CODE, str(errors)]
    with small_disk(tmp_path / "disk", 16 << 20) as disk, running(disk, command, "ring=1") as run:
        fill(disk)
        for word in ("one", "two"):
            run.process.stdin.write(f"{word}\n")
            run.process.stdin.flush()
            assert run.process.stdout.readline() == "False\n"
        assert in_folder(disk) == ["nvspan.trigger"]
        said = errors.read_text()
        assert said == (
            f"nvspan: {disk}/nvspan.trigger: No space left on device; the bundle is tried again\n"
        )
        done = nvspan_command("trigger", disk)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (f"nvspan trigger: {disk}/nvspan.trigger: No space left on device\n")
        assert in_folder(disk) == ["nvspan.trigger"]
        (disk / "filler").unlink()
        bundle = bundle_of(disk, "asked")
        wait_until(lambda: len(reasons(bundle)) == 2, "no second reason")
        assert [reason["why"] for reason in reasons(bundle)] == ["one", "two"]
        assert (bundle / "run-x.nvspan").exists()
        assert bundles(disk) == [bundle]
        assert errors.read_text() == said
