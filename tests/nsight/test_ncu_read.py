# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan ncu --read``: reports as tables, by range, by kernel and by section, and compared."""

from __future__ import annotations

import csv
import io
import json

import pytest

from helpers import ncu
from helpers.reported import nvspan_done

TIME = "gpu__time_duration.sum"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return ncu.recorded(tmp_path_factory.mktemp("ncu"))


@pytest.fixture
def read(recorded):
    """Runs ``nvspan ncu --read`` with a program that prints what ncu printed."""
    return lambda *words: nvspan_done("ncu", "--read", *words, cwd=ncu.DATA, NVSPAN_NCU=recorded)


def lines(done):
    assert done.returncode == 0, done.stderr
    return [" ".join(line.split()) for line in done.stdout.splitlines()]


def test_ranges(read):
    assert lines(read("sync.ncu-rep", "span.ncu-rep")) == [
        "range results time mean sm",
        "app:step 3 1.19 ms 395 us 0.4%",
        "io:load (start/end) 2 586 us 293 us 0.2%",
    ]
    rows = json.loads(read("nodes.ncu-rep", "--kernels", "--format", "json").stdout)
    assert [(row["kernel"], row["grid"], row["range"]) for row in rows] == [
        ("spin", "5x1x1", "app:launched"),
        ("spin", "6x1x1", "app:launched"),
    ]
    (row,) = csv.DictReader(
        io.StringIO(read("nested.ncu-rep", "--format", "csv", "--metrics", TIME).stdout)
    )
    assert float(row[TIME]) == 282944


@pytest.mark.parametrize(
    ("ranges", "found"),
    [
        (["main"], ["app:main"]),
        (["app:thread", "main"], ["app:thread", "app:main"]),
        (["*a*"], ["app:thread", "app:main"]),
        (["app@main/"], ["app:main"]),
        (["regex:app@th.*/"], ["app:thread"]),
        (["app@absent/"], []),
        (["--range", "main"], ["app:main"]),
    ],
)
def test_several_ranges_of_one_report(ranges, found, read):
    rows = json.loads(read("threads.ncu-rep", *ranges, "--format", "json").stdout)
    assert [f"{row['domain']}:{row['name']}" for row in rows] == found
    kernels = read("threads.ncu-rep", *ranges, "--kernels", "--format", "json").stdout
    assert [row["range"] for row in json.loads(kernels)] == found


def test_a_range_that_a_report_does_not_have(read):
    done = read("threads.ncu-rep", "mani")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "nvspan ncu: error: ranges: no range 'mani' in the report; the nearest are 'main', "
        "'thread'\n"
    )
    done = read("threads.ncu-rep", "main > thread")
    assert "are in the report, but never as push/pop ranges of one thread" in done.stderr


def test_a_metric_that_no_result_has(read):
    done = read("nested.ncu-rep", "--metrics", "gpu__time_duratio.sum,time,sol")
    assert done.returncode == 0
    assert done.stderr == (
        f"nvspan: no result has a metric 'gpu__time_duratio.sum'; the nearest is '{TIME}'\n"
        "nvspan: no result has a metric 'sol': --metrics takes ncu's names here\n"
    )


def test_the_sections_of_a_kernel(read):
    shown = lines(read("nodes.ncu-rep", "launched", "--page", "details"))
    assert shown[:8] == [
        "app:launched: spin",
        "section metric value unit",
        "GPU Speed Of Light Throughput Duration 21.73 us",
        "GPU Speed Of Light Throughput Compute (SM) Throughput 0.18 %",
        "Launch Statistics Grid Size 5",
        "Launch Statistics Registers Per Thread 16 register/thread",
        "Launch Statistics Shared Memory Configuration Size 32,768 byte",
        "SpeedOfLight: This kernel grid is too small to fill the available resources on this "
        "device.",
    ]
    assert shown[8].endswith("SMs. (estimated speedup: 96.21%)")
    assert shown[9:11] == ["", "app:launched: spin"]


@pytest.mark.parametrize("name", ["launch", "LaunchStats", "Launch Statistics"])
def test_one_section(name, read):
    words = ("nodes.ncu-rep", "--page", "details", "--section", name)
    rows = json.loads(read(*words, "--format", "json").stdout)
    assert [(row["number"], row["metric"], row["rule"]) for row in rows[:4]] == [
        (0, "Grid Size", None),
        (0, "Registers Per Thread", None),
        (0, "Shared Memory Configuration Size", None),
        (0, None, "LaunchConfiguration"),
    ]
    assert [row["value"] for row in rows[:3]] == [5, 16, 32768]
    assert len(rows) == 8
    table = list(csv.DictReader(io.StringIO(read(*words, "--format", "csv").stdout)))
    assert [row["speedup"] for row in table[:4]] == ["", "", "", "96.21"]
    markdown = read(*words, "--format", "markdown").stdout.splitlines()
    assert markdown[0] == "### app:launched: spin"
    assert markdown[-1].startswith("- LaunchStats: The grid has fewer blocks")


def test_a_section_that_no_result_has(read):
    done = read("nodes.ncu-rep", "--page", "details", "--section", "Roofline")
    assert done.stdout == "no sections\n"
    assert done.stderr == (
        "nvspan: no result has a section 'Roofline'; there are GPU Speed Of Light Throughput, "
        "Launch Statistics\n"
    )


def test_two_reports_compared(read):
    (row,) = json.loads(
        read("nodes.ncu-rep", "--against", "graph.ncu-rep", "--format", "json").stdout
    )
    assert (row["name"], row["time_before"], row["time_after"]) == ("launched", 617024, 43424)
    assert row["change"] == pytest.approx(21712 / 617024 - 1)
    table = lines(read("nodes.ncu-rep", "launched", "--against", "graph.ncu-rep"))
    assert table[1].startswith("app:launched 1 2 617 us 21.7 us -96%")
    slower = ("graph.ncu-rep", "--against", "nodes.ncu-rep", "--fail")
    assert read(*slower).returncode == 1
    assert read(*slower, "--threshold", "3000%").returncode == 0
    assert lines(read("nested.ncu-rep", "launched", "--against", "graph.ncu-rep"))[1].startswith(
        "app:launched 1 617 us"
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["absent.ncu-rep"], 1, "cannot read 'absent.ncu-rep': No such file"),
        (["README.md"], 1, "ncu cannot read 'README.md': Failed to load the report"),
        (["x.ncu-rep", "--", "train.py"], 2, "--read runs no program: '-- train.py'"),
        (
            ["x.ncu-rep", "--calls", "3", "--replay", "range"],
            2,
            "--calls and --replay cannot be used with --read, which runs no program",
        ),
        (
            ["x.ncu-rep", "--kernels", "--against", "y.ncu-rep"],
            2,
            "--kernels cannot be used with --against",
        ),
        (["x.ncu-rep", "--fail"], 2, "--fail cannot be used without --against"),
        (
            ["x.ncu-rep", "--page", "details", "--metrics", "a__b"],
            2,
            "--metrics cannot be used with --page",
        ),
        (
            ["x.ncu-rep", "--section", "sol", "--against", "y.ncu-rep"],
            2,
            "--section cannot be used with --against",
        ),
        (
            ["x.ncu-rep", "--against", "y.ncu-rep", "--threshold", "x"],
            2,
            "must be a percentage such as 5%, not 'x'",
        ),
    ],
)
def test_what_does_not_go_together(words, code, said, read):
    done = read(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


def test_options_for_reports_alone():
    done = nvspan_done("ncu", "--fail", "train.py")
    assert done.returncode == 2
    assert done.stderr.endswith("nvspan ncu: error: --fail cannot be used without --read\n")
