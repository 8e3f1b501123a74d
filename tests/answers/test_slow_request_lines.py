# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of slow requests that overlap on one thread: named where ranges show whose time it is."""

from __future__ import annotations

import os

import pytest

import nvspan
from helpers.sampled import RUNNING, WAITING, SampleChunk, SampledFile
from nvspan.answers.findings import analyze

LOOK = 1_000  # units of 1.024 us
IDLE, RENDER, DUMP, OTHER = 1, 2, 3, 4  # lines
TEXT = "asyncio.run(serve())\nparts.append(row)\njson.dumps(rows)\nhistogram(rows)\n"
ROUNDS, CLIENTS = 60, 3


class Server:
    """An event loop; in each round three requests that overlap: each awaits, then renders."""

    def __init__(self, folder, look=LOOK):
        source = folder / "app.py"
        source.write_text(TEXT)
        os.utime(source, ns=(0, 0))
        self.path = folder / "a.nvspan"
        self.file = SampledFile()
        main = self.file.frame(str(source), "<module>", IDLE)
        self.stacks = {IDLE: self.file.stack(main)}
        for line in (RENDER, DUMP, OTHER):
            self.stacks[line] = self.file.stack(main, self.file.frame(str(source), "render", line))
        self.thread, self.look = self.file.thread(), look
        self.samples = SampleChunk(0, look * 1024 // 1000)
        self.spans, self.nested = [], []
        self.now, self._next = 0, look // 2

    def spend(self, units, line, state=RUNNING):
        self.now += units
        while self._next < self.now:
            self.samples.sample(self._next, self.thread, self.stacks[line], state)
            self._next += self.look

    def rounds(self, render, name="render", wait=lambda number, client: 8_000):
        """`render` spends the time of a request's `name`, a push/pop range; None: it has none."""
        for number in range(ROUNDS):
            begins = []
            for _ in range(CLIENTS):
                begins.append(self.now)
                self.spend(100, IDLE, WAITING)
            for client, begin in enumerate(begins):
                self.spend(wait(number, client), IDLE, WAITING)
                self.spans.append((begin + 1, self.now - 1, "query"))
                at = self.now
                render(self, number, client)
                if name:
                    self.nested.append((at, self.now - 1, name))
                else:
                    self.spans.append((at, self.now - 1, "render"))
                self.spans.append((begin, self.now, "request"))
                self.spend(100, IDLE, WAITING)

    def evidence(self):
        """The kinds of findings, and what that of slow requests has of lines."""
        self.file.ranges(self.nested)
        self.file.spans(self.spans)
        self.file.samples(self.samples)
        findings = analyze(nvspan.read(self.file.write(self.path)), "request").findings
        slow = [finding for finding in findings if finding.kind == "slow"]
        assert len(slow) == 1, [(finding.kind, finding.text) for finding in findings]
        return [text for text in slow[0].evidence if text.startswith("line")]


SLOW = (3, 11, 14, 25, 29, 38, 47, 52, 57, 58)


def is_slow(number, client):
    """The last one of some rounds: no other request waits for it."""
    return client == CLIENTS - 1 and number in SLOW


def rendering(line, units=100_000, state=RUNNING):
    def render(server, number, client):
        server.spend(6_000, RENDER)
        if is_slow(number, client):
            server.spend(units, line, state)

    return render


def test_the_line_of_slow_requests_is_named(tmp_path):
    server = Server(tmp_path)
    server.rounds(rendering(DUMP))
    (line,) = server.evidence()
    assert line.startswith("line  app.py:3  json.dumps(rows) adds 102 ms to each slow request (")
    assert line.endswith("% of the run)")


def test_a_line_that_blocks_the_loop_waits(tmp_path):
    server = Server(tmp_path)
    server.rounds(rendering(DUMP, state=WAITING))
    (line,) = server.evidence()
    assert line.endswith("% of the run), waiting")


def test_requests_that_are_slow_for_what_they_await_have_no_line(tmp_path):
    """The loop sleeps, or runs others: the stack of that time is not theirs."""
    server = Server(tmp_path)
    server.rounds(
        rendering(DUMP, 0),
        wait=lambda number, client: 108_000 if is_slow(number, client) else 8_000,
    )
    assert server.evidence() == []


def test_nothing_is_said_where_ranges_do_not_show_whose_time_it_is(tmp_path):
    """Spans say that a request goes on, not that the thread works for it."""
    server = Server(tmp_path)
    server.rounds(rendering(DUMP), name="")
    assert server.evidence() == []


def test_nothing_is_said_of_few_samples(tmp_path):
    server = Server(tmp_path, look=60_000)
    server.rounds(rendering(DUMP))
    assert server.evidence() == []


@pytest.mark.parametrize("lines", [4, 20])
def test_slow_requests_of_many_lines_have_none(tmp_path, lines):
    """Each takes less than three tenths of the difference."""
    server = Server(tmp_path)
    source = str(tmp_path / "app.py")
    main = server.file.frame(source, "<module>", IDLE)
    for line in range(10, 10 + lines):
        server.stacks[line] = server.file.stack(main, server.file.frame(source, "render", line))

    def render(server, number, client):
        server.spend(6_000, RENDER)
        for line in range(10, 10 + lines):
            server.spend(100_000 // lines if is_slow(number, client) else 0, line)

    server.rounds(render)
    assert server.evidence() == []
