# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of an annotation, which `nvspan record` measures and the recording keeps."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import nvspan
from helpers.compile import build
from helpers.traced import (
    LIBRARY,
    clean_environment,
    needs_library,
    nvspan_command,
    python,
)
from nvspan import launch, recorder

pytestmark = needs_library
ROOT = Path(__file__).parents[2]
ANNOTATES = "import nvspan\nwith nvspan.annotate('range'): pass\n"


def costs(folder, *command, cost=5000, mode="full", code=0):
    """What the recordings of a command say, started with a configuration that has `cost`."""
    path = folder / "run-{pid}.nvspan"
    environment = clean_environment()
    environment[launch.INJECTION_VARIABLE] = LIBRARY
    environment[launch.CONFIG_VARIABLE] = recorder.config_string(
        path, mode, run=1, annotate_cost=cost
    )
    done = subprocess.run(command, env=environment, timeout=240, check=False)
    assert done.returncode == code
    recording = nvspan.read(*recorder.recording_files(path, 1))
    assert recording.problems == []
    return [process.annotate_cost for process in recording.processes]


def test_nvspan_record_measures_it(tmp_path):
    nvspan_command("record", "-o", "run.nvspan", "-c", ANNOTATES, cwd=tmp_path, check=True)
    (process,) = nvspan.read(tmp_path / "run.nvspan").processes
    assert isinstance(process.annotate_cost, int)
    assert process.annotate_cost > process.event_cost
    assert os.listdir(tmp_path) == ["run.nvspan"]


def test_annotations_that_are_off_are_not_measured(tmp_path):
    nvspan_command(
        "record", "-o", "run.nvspan", "-c", "import nvspan; nvspan.mark('m', domain='d')",
        cwd=tmp_path, check=True, env={"NVSPAN_DOMAINS": "-*,+d"},
    )  # fmt: skip
    assert [p.annotate_cost for p in nvspan.read(tmp_path / "run.nvspan").processes] == [None]


@pytest.mark.parametrize("mode", ["full", "ring=1", "stats", "armed"])
def test_every_mode_keeps_it(tmp_path, mode):
    assert costs(tmp_path, sys.executable, "-c", ANNOTATES, mode=mode) == [5000]


def test_a_killed_process_has_it(tmp_path):
    killed = f"{ANNOTATES}import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    assert costs(tmp_path, sys.executable, "-c", killed, code=-signal.SIGKILL) == [5000]


def test_forked_children_have_it(tmp_path):
    fork = """import os
child = os.fork()
if child == 0:
    with nvspan.annotate('child'): os._exit(0)
os.waitpid(child, 0)
"""
    assert costs(tmp_path, sys.executable, "-c", ANNOTATES + fork) == [5000, 5000]


def test_it_has_room_for_slow_machines(tmp_path):
    assert costs(tmp_path, sys.executable, "-c", ANNOTATES, cost=10**9) == [65535]


def test_a_program_without_nvspan_has_none(tmp_path):
    program = build(ROOT / "tests" / "programs" / "tiny_ranges.cpp")
    assert costs(tmp_path, program) == [None]


def test_where_nothing_measured_it_is_not_known(tmp_path):
    assert costs(tmp_path, sys.executable, "-c", ANNOTATES, cost=0) == [None]
    python("-c", ANNOTATES, cwd=tmp_path, check=True, env={"NVSPAN_RECORD": "env.nvspan"})
    assert nvspan.read(tmp_path / "env.nvspan").processes[0].annotate_cost is None
    own = "import nvspan\nwith nvspan.record('own.nvspan'): nvspan.mark('m')"
    python("-c", own, cwd=tmp_path, check=True)
    assert nvspan.read(tmp_path / "own.nvspan").processes[0].annotate_cost is None
    for old in sorted((ROOT / "tests" / "corpus").glob("*.nvspan")):
        assert {process.annotate_cost for process in nvspan.read(old).processes} == {None}
