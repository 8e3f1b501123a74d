# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`nvspan explain` of a program without ranges: its functions, the largest always among them."""

from __future__ import annotations

import pytest

from helpers.sampled import SampleChunk, SampledFile
from helpers.traced import nvspan_command

HEADLINE = "1.02 s: 100% on a core (no ranges: functions by self time)"


@pytest.fixture
def recording(tmp_path):
    """`save` for 600 ms and then `clean` for 400 ms: with so few blocks, wide intervals."""
    file = SampledFile()
    main = file.frame("/p/app.py", "main", 20, first_line=19)
    save = file.stack(main, file.frame("/p/app.py", "save", 8, first_line=7))
    clean = file.stack(main, file.frame("/p/app.py", "clean", 3, first_line=2))
    thread = file.thread()
    samples = SampleChunk(0, 1024)
    for look in range(1000):
        samples.sample(look * 1000 + 500, thread, save if look < 600 else clean)
    file.samples(samples)
    return file.write(tmp_path / "a.nvspan")


def test_the_functions_follow_the_headline(recording):
    done = nvspan_command("explain", recording)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        HEADLINE,
        "",
        "function    self     share  called from",
        "save()    615 ms  60% ±16%  main()  app.py:20",
        "clean()   409 ms  40% ±16%  main()  app.py:20",
        f"next  nvspan stats --lines {recording}",
    ]


def test_markdown_and_json(recording):
    done = nvspan_command("explain", "--format", "markdown", recording)
    assert done.stdout.splitlines()[:3] == [f"**{HEADLINE}**", "", "```text"]
    assert HEADLINE in nvspan_command("explain", "--json", recording).stdout


def test_other_commands_say_that_there_are_no_ranges_and_what_shows_more(recording):
    said = "nvspan: the recording holds no ranges; 'nvspan stats --lines' shows where the "
    said += "program was\n"
    done = nvspan_command("stats", recording)
    assert (done.stdout, done.stderr) == ("no ranges\n", said)
