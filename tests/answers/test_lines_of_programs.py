# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The lines that findings name in programs that spend their time where it is known."""

from __future__ import annotations

import re

import pytest

import nvspan
from helpers.traced import nvspan_command
from nvspan.answers.findings import analyze

pytest.importorskip("nvspan._lines")

SPIN = """
import asyncio
import queue
import threading
import time

import nvspan


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(200))
"""
SLOW = """
def work():
    spin(0.006)




for number in range(100):
    with nvspan.step(number):
        with nvspan.annotate("work"):
            work()
        if number % 10 == 9:
            with nvspan.annotate("save"):
                time.sleep(0.12)
"""
WAITS = """
batches = queue.Queue(1)


def load():
    while True:
        spin(0.01)
        batches.put(time.perf_counter())


threading.Thread(target=load, daemon=True).start()
for number in range(120):
    with nvspan.step(number):
        with nvspan.annotate("wait for batch"):
            batches.get()
        with nvspan.annotate("train"):
            spin(0.001)
"""
BLOCKS = """
def render():
    spin(0.03)


async def request(number):
    await asyncio.sleep(0.001 * (number % 8))
    with nvspan.annotate("request"):
        await asyncio.sleep(0.004)
        with nvspan.annotate("render"):
            if number % 10 == 0:
                render()
        await asyncio.sleep(0.002)


async def main():
    for start in range(0, 400, 8):
        await asyncio.gather(*(request(start + number) for number in range(8)))


asyncio.run(main())
"""
BETWEEN = """
for number in range(100):
    with nvspan.step(number):
        spin(0.002)
    spin(0.004)
"""


def line_of(text: str, mark: str) -> int:
    """The number of the line with a mark."""
    return next(at for at, line in enumerate(text.splitlines(), 1) if mark in line)


def findings(tmp_path, text):
    """The findings about a program, by their kinds."""
    (tmp_path / "program.py").write_text(text)
    path = tmp_path / "run.nvspan"
    words = ["record", "--force", "--no-report", "--lines", "1000", "-o", path]
    nvspan_command(*words, tmp_path / "program.py", cwd=tmp_path)
    found = analyze(nvspan.read(path)).findings
    assert not [one.next for one in found if one.next.startswith("put ")]
    return {finding.kind: finding for finding in found}


def lines(finding) -> list[str]:
    """The evidence of a finding about lines, without what is not known before."""
    texts = [text for text in finding.evidence if text.startswith("line  ")]
    return [re.sub(r"\d+% ±\S+%|\d[\d.]* m?s|thread \d+", "#", text) for text in texts]


def test_the_line_that_every_tenth_step_waits_in(tmp_path):
    """Other programs may take the cores: then a line is not said, and never another one."""
    text = SPIN + SLOW
    expected = f"line  program.py:{line_of(text, 'sleep(0.12)')}  time.sleep(0.12) adds # to "
    for _ in range(4):
        found = findings(tmp_path, text)
        told = lines(found["period"]) if "period" in found else []
        assert [one for one in told if not one.startswith(expected)] == []
        if told:
            return
    pytest.fail("the line was never named")


def test_a_wait_and_the_thread_that_it_waits_for(tmp_path):
    text = SPIN + WAITS
    line = line_of(text, "batches.get()")
    waits = rf"line  program\.py:{line}  batches\.get\(\)  (?:in \S+  )?# of 'wait for batch'"
    for _ in range(4):
        found = findings(tmp_path, text)
        told = lines(found["wait"]) if "wait" in found else []
        spins = r"line  program\.py:1[2-5]  .* of the wait in thread '#'"
        known = rf"(?:{waits}, waiting|{spins})$"
        assert [one for one in told if not re.match(known, one)] == []
        if len(told) == 2:
            return
    pytest.fail("the lines were never named")


def test_the_line_between_steps(tmp_path):
    found = findings(tmp_path, SPIN + BETWEEN)
    for text in lines(found["between"]):
        assert re.match(r"line  program\.py:1[2-5]  .* of the time between steps$", text), text


def test_the_line_that_holds_an_event_loop(tmp_path):
    for _ in range(4):
        found = findings(tmp_path, SPIN + BLOCKS)
        told = lines(found["blocking"]) if "blocking" in found else []
        for text in told:
            assert re.match(r"line  program\.py:1[2-5]  .* of 'render'$", text), text
        if told:
            return
    pytest.fail("the line was never named")
