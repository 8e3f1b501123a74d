# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`nvspan top` in a pseudo-terminal: keys, and what the screen shows."""

from __future__ import annotations

import re
import signal
import sys

import pytest

from helpers.live import PARKED, running
from helpers.packages import needs
from helpers.screen import LEAVE, terminal
from helpers.traced import needs_library
from nvspan.live.top.screen import keys_of

pytestmark = [needs_library, needs("rich")]


@pytest.fixture
def shown(tmp_path):
    """A terminal with `nvspan top` on two processes, and their ids."""
    top = [sys.executable, "-m", "nvspan", "top", "--interval", "0.2", "--stuck", "0.4"]
    with (
        running(tmp_path, PARKED.format(name="forward", domain="model"), rank=0) as first,
        running(tmp_path, PARKED.format(name="load", domain="data"), rank=1) as second,
        terminal([*top, str(tmp_path)]) as found,
    ):
        yield found, [first.pid, second.pid]


def test_ranges_by_processes_and_stuck_threads(shown):
    screen, _ = shown
    lines = screen.screen("stuck: rank 0", "q quit")
    lines = [re.sub(r"\d+( samples in) [\d.]+ m?s", r"N\1 TIME", line) for line in lines if line]
    lines = [re.sub(r"for [\d.]+ m?s", "for TIME", line) for line in lines]
    lines[7:9] = sorted(lines[7:9])  # they are stuck for nearly the same time
    assert lines == [
        "nvspan top: 2 processes, N samples in TIME",
        "no verdict: no process is in a known collective (torch.distributed, NCCL, gloo, MPI); "
        "name yours wi\N{HORIZONTAL ELLIPSIS}",
        "range           change per s rank 0 rank 1",
        "events a second          0.0    0.0    0.0",
        "step                     0.0   100%   100%",
        "data:load                0.0          100%",
        "model:forward            0.0   100%",
        "stuck: rank 0, MainThread for TIME: step > model:forward",
        "stuck: rank 1, MainThread for TIME: step > data:load",
        "sorted by share",
        "q quit   s sort   / filter   left, right choose a process   Enter open it   space hold",
    ]


def test_keys_sort_filter_and_hold(shown):
    screen, _ = shown
    screen.screen("sorted by share")
    screen.type("sss")
    screen.screen("sorted by name")
    screen.type("/lo")
    lines = screen.screen("filter: lo_")
    assert [line.split()[0] for line in lines if "100%" in line] == ["data:load"]
    screen.type("x\x7f\r")
    screen.screen("filter: lo", without="filter: lo_")
    screen.type("\x1b")
    screen.screen("model:forward", without="filter:")
    screen.type(" ")
    screen.screen("; held")
    screen.type(" ")
    screen.screen("sorted by", without="; held")


def test_a_process_is_opened_and_left(shown):
    screen, (first, second) = shown
    screen.screen("sorted by share")
    screen.type("\x1b[C\r")
    lines = screen.screen("rank 1, process", "q quit")
    assert f"MainThread {second}: step > data:load  [sleeping]" in lines
    assert [line.split() for line in lines if "/s" in line] == [
        ["100%", "0.0/s", "step"], ["100%", "100%", "0.0/s", "data:load"],
    ]  # fmt: skip
    screen.type("\x1b[D")
    screen.screen(f"rank 0, process {first}")
    screen.type("\x1b")
    screen.screen("sorted by share")


@pytest.mark.parametrize("end", ["q", "interrupt", "terminate"])
def test_the_terminal_is_left_as_it_was(shown, end):
    screen, _ = shown
    screen.screen("sorted by share")
    assert not screen.is_as_before
    if end == "q":
        screen.type("q")
    else:
        screen.process.send_signal(signal.SIGINT if end == "interrupt" else signal.SIGTERM)
    assert screen.wait() == (128 + signal.SIGTERM if end == "terminate" else 0)
    assert screen.is_as_before
    assert LEAVE in screen.output


def test_without_rich_it_says_what_to_install(tmp_path):
    (tmp_path / "rich.py").write_text("raise ImportError('none here')")
    top = [sys.executable, "-m", "nvspan", "top", "x.nvspan"]
    with terminal(top, extra={"PYTHONPATH": str(tmp_path)}) as screen:
        assert screen.wait() == 1
        assert "needs the package rich: pip install 'nvspan[report]'" in screen.output


def test_keys_are_told_apart():
    assert keys_of(b"a\x1b[C\x1b[Dq") == ["a", "right", "left", "q"]
    assert keys_of("é\t\r\n\x7f ".encode()) == ["é", "right", "enter", "enter", "back", "space"]
    assert keys_of(b"\x1b") == ["escape"]
    assert keys_of(b"\x1b[15~x") == ["x"]  # F5 does nothing
    assert keys_of(b"\x1bOA\x1bOB") == ["up", "down"]
    assert keys_of(b"\x00\x01") == []
    assert keys_of(b"\xff") == ["�"]
