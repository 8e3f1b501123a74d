# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan ncu``: the command lines that it prints, and how it finds ranges."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from helpers import ncu as real
from helpers.device import fake_library
from helpers.recorded import record_command
from helpers.reported import nvspan_done
from helpers.script import script
from helpers.traced import clean_environment, needs_library
from nvspan.cli import ncu
from nvspan.nsight.compute.dry_run import DryRun
from nvspan.nsight.lines import on_ranks

pytestmark = needs_library

TRAIN = """
import sys
import nvspan
print("a step of train.py")
nvspan.end_range(nvspan.start_range("load", domain="data"))
for number in range(4):
    with nvspan.annotate("forward", domain="torch"):
        for layer in range(3):
            with nvspan.annotate(f"layers.{layer}", domain="torch"):
                with nvspan.annotate(f"layers.{layer}.attention", domain="torch"):
                    pass
"""
KERNEL = ["--target-processes", "all", "--replay-mode", "kernel"]
STANDARD = [*KERNEL, "--set", "detailed"]
END = ["--export", "r"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def run(folder, *words, env=None):
    return nvspan_done("ncu", *words, cwd=folder, **(env or {}))


def lines(folder, *words, **options):
    """What --dry-run prints, without the program ncu and the program's own words."""
    done = run(folder, "--dry-run", *words, **options)
    assert done.returncode == 0, done.stderr
    made = [shlex.split(line) for line in done.stdout.splitlines()]
    return [line[1 : next(at for at, word in enumerate(line) if word == sys.executable)]
            for line in made]  # fmt: skip


def include(*filters):
    return ["--nvtx", *(word for text in filters for word in ("--nvtx-include", text))]


LINES = {
    "everything": (["-o", "r"], [*STANDARD, *END]),
    "plain name": (["layers.1.attention", "-o", "r"],
                   [*STANDARD, *include("torch@layers.1.attention/"), *END]),
    "names and patterns": (
        ["load", "torch:layers.?", "-o", "r", "--preset", "quick"],
        [*KERNEL, "--metrics", "gpu__time_duration.sum",
         *include("data@load", "torch@layers.0/", "torch@layers.1/", "torch@layers.2/"), *END]),
    "semicolons": (["layers.0; layers.1", "-o", "r"],
                   [*STANDARD, *include("torch@layers.0/", "torch@layers.1/"), *END]),
    "within": (["forward > layers.2", "-o", "r"],
               [*STANDARD, *include("torch@forward/*/layers.2"), *END]),
    "exclude": (["forward", "--exclude", "layers.1", "-o", "r"],
                [*STANDARD, *include("torch@forward/"), "--nvtx-exclude", "torch@layers.1/",
                 *END]),
    "a filter's text": (["torch@layers.7/", "-o", "r"],
                        [*STANDARD, *include("torch@layers.7/"), *END]),
    "a name like a script": (["--range", "torch@train.py/", "-o", "r"],
                             [*STANDARD, *include("torch@train.py/"), *END]),
    "calls": (["layers.0", "--calls", "1:3", "-o", "r"],
              [*STANDARD, *include("torch@layers.0/"), "--range-filter", "::2|3", *END]),
    "every": (["layers.0", "--every", "2", "--dry-steps", "99", "-o", "r"],
              [*STANDARD, *include("torch@layers.0/"), "--range-filter", "::1|3", *END]),
    "metrics": (["--metrics", "time,sol", "--set", "basic", "-o", "r"],
                [*KERNEL, "--set", "basic", "--section", "SpeedOfLight", "--metrics",
                 "gpu__time_duration.sum", *END]),
    "kernels": (["--kernel", "gemm", "--launch-skip", "2", "--launch-count", "5", "--force",
                 "--clock-control", "none", "--cache-control", "none", "--option=--null-stdin",
                 "-o", "r"],
                [*KERNEL, "--set", "detailed", "--kernel-name", "regex:gemm", "--launch-skip", "2",
                 "--launch-count", "5", "--clock-control", "none", "--cache-control", "none",
                 "--force-overwrite", *END, "--null-stdin"]),
    "replay": (["forward", "--replay", "range", "--processes", "application-only", "-o", "r"],
               ["--target-processes", "application-only", "--replay-mode", "range", "--set",
                "detailed", *include("torch@forward/"), *END]),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_the_line_of_ncu(name, folder):
    words, expected = LINES[name]
    assert lines(folder, *words, "train.py", "--lr", "1") == [expected]


def test_a_report_for_each_region(folder):
    made = lines(folder, "forward; layers.1", "load", "--per-region", "-o", "out", "train.py")
    assert made == [
        [*STANDARD, *include("torch@forward/"), "--export", "out/0-forward-%p"],
        [*STANDARD, *include("torch@layers.1/"), "--export", "out/1-layers.1-%p"],
        [*STANDARD, *include("data@load"), "--export", "out/2-load-%p"],
    ]


def test_ranks_in_the_names_of_regions(folder):
    done = run(folder, "torch@forward/", "--per-region", "--dry-run", "--", "torchrun", "train.py")
    assert "--export nvspan-ncu/0-torch_forward-%q{RANK}-%p " in done.stdout.replace("'", "")


def test_calls_of_a_program_whose_end_is_not_known(folder):
    endless = "import time, nvspan\nwhile True:\n    with nvspan.annotate('s'): time.sleep(0.01)"
    (folder / "endless.py").write_text(endless)
    (made,) = lines(folder, "s", "--every", "10", "endless.py")
    numbers = made[made.index("--range-filter") + 1].removeprefix("::").split("|")
    assert (numbers[:3], numbers[-1], len(numbers)) == (["1", "11", "21"], "9991", 1000)


def test_ranks_of_a_launcher(folder):
    done = run(folder, "torch@forward/", "--ranks", "0,2", "--dry-run", "--",
               "torchrun", "--nproc-per-node=4", "train.py")  # fmt: skip
    line = shlex.split(done.stdout)
    assert line[:7] == ["torchrun", "--nproc-per-node=4", "--no-python", sys.executable,
                        on_ranks.__file__, "RANK", "0,2"]  # fmt: skip
    tool = line[8 : 8 + int(line[7])]
    assert tool[1:] == [
        *STANDARD, *include("torch@forward/"), "--export", "nvspan-%h-%q{RANK}-%p",
    ]  # fmt: skip
    assert line[8 + int(line[7]) :] == [sys.executable, "-u", "train.py"]


@pytest.mark.parametrize(("rank", "shown"), [("0", "tool 0\n"), ("1", ""), ("2", "tool 2\n")])
def test_the_tool_runs_on_its_ranks(rank, shown):
    tool = ["sh", "-c", 'echo tool $0; exec "$@"', "{rank}"]
    words = ["RANK", "0,2", str(len(tool)), *tool, "echo", "program"]
    done = subprocess.run(
        [sys.executable, on_ranks.__file__, *words], capture_output=True,
        text=True, check=True, env=clean_environment({"RANK": rank}),
    )  # fmt: skip
    assert done.stdout == f"{shown}program\n"


def test_the_dry_recording_shows_nothing_of_the_program(folder):
    done = run(folder, "--dry-run", "layers.1", "train.py")
    assert "a step of train.py" not in done.stdout + done.stderr
    assert "recording the first 3 steps of the program" in done.stderr


@pytest.mark.parametrize("words", [["layers.1"], ["forward", "--exclude", "layers.1"]])
def test_a_dry_recording_that_has_the_ranges_is_enough(words, folder, monkeypatch):
    monkeypatch.chdir(folder)
    recording = record_command([sys.executable, "train.py"], folder=folder).recording
    asked = []

    def dry_run(command, *, is_enough, **options):
        asked.append(is_enough(recording))
        return DryRun(recording, whole=False)

    monkeypatch.setattr(ncu, "dry_run", dry_run)
    assert ncu.main(["--dry-run", *words, "train.py"]) == 0
    assert asked == [True]


def test_a_recording_that_exists(folder):
    recorded = record_command(
        [sys.executable, "-c", "import nvspan\nwith nvspan.annotate('only', domain='here'): pass"],
        folder=folder,
    )
    (path,) = [process.path for process in recorded.recording.processes]
    made = lines(folder, "only", "--using", path, "-o", "r", "train.py")
    assert made == [[*STANDARD, *include("here@only/"), *END]]


WRONG = {
    "typo": (["layers.1.atention", "train.py"], 2,
             "no range 'layers.1.atention' in the recording; the nearest are 'layers.1.attention',"
             " 'layers.2.attention', 'layers.0.attention'"),
    "no program": (["layers.1"], 2, "no program to run after 'layers.1'"),
    "no script": (["layers.1", "trian.py"], 2, "no such file: 'trian.py'"),
    "no recording": (["layers.1", "--using", "no.nvspan", "train.py"], 1, "cannot read 'no.nvsp"),
    "ranks alone": (["--ranks", "0", "train.py"], 2, "ranks needs a program that torchrun"),
    "ranks": (["--ranks", "x", "--", "torchrun", "train.py"], 2, "ranks must be as '0,3'"),
    "calls and every": (["--every", "2", "--calls", "1:2", "train.py"], 2, "goes without --calls"),
    "failing program": (["a", "-c", "1/0"], 1, "ZeroDivisionError"),
    "no ranges": (["a", "-c", "1"], 1, "made no NVTX call in its dry run"),
    "region of nothing": (["--per-region", "train.py"], 2, "--per-region needs a range"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_makes_no_sense(name, folder):
    words, code, expected = WRONG[name]
    done = run(folder, "--dry-run", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert expected in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--calls", "x"], 2, "calls must be as '100:103', not 'x'"),
        (["--calls", "5:3"], 2, "calls must count up, as '100:103', not '5:3'"),
        (["--metrics", "tim"], 2, "metrics: no 'tim'; plain names are dram"),
        (["--option", "y=5"], 2, "must be an option as --NAME=VALUE, not 'y=5'"),
        (["--launch-count", "0"], 2, "launch_count must be 1 or more, not 0"),
        (["--ncu", "/nowhere/ncu"], 127, "no program '/nowhere/ncu' here: install it"),
        (["-o", "r-{rnak}"], 2, "output may have {host}, {rank} and {pid} in it, not {rnak}"),
        (["-o", "r-{pid}/x"], 2, "in the file's name, not in its directory 'r-{pid}'"),
        (["-o", "r-{rank}"], 2, "output has the rank in it, but the variable RANK is not set here"),
    ],
)
def test_what_makes_no_sense_is_told_before_the_program_runs(words, code, said, folder):
    done = run(folder, "--ncu", sys.executable, *words, "forward", "train.py")
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "recording the first" not in done.stderr


@pytest.mark.parametrize(
    ("command", "code", "why"),
    [("nosuchcommand", 127, "No such file or directory"), ("./train.py", 126, "Permission denied")],
)
def test_a_command_that_cannot_run(folder, command, code, why):
    done = run(folder, "--ncu", sys.executable, "forward", "--", command)
    assert (done.returncode, done.stdout, done.stderr) == (
        code, "", f"nvspan ncu: cannot run '{command}': {why}\n"
    )  # fmt: skip


def test_a_folder_that_cannot_be_made(folder):
    done = run(folder, "--ncu", sys.executable, "-o", "train.py/run", "torch@forward/", "train.py",
               env={"NVSPAN_LIBCUDA": fake_library()})  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("nvspan ncu: cannot write into 'train.py': ")


def test_a_machine_without_a_driver_is_known_before_the_program_runs(folder):
    script(folder / "ncu", "#!/bin/sh\necho started >> started\n")
    words = ("--ncu", "./ncu", "torch@forward/", "--no-report")
    env = {"NVSPAN_LIBCUDA": str(folder / "absent.so")}
    done = run(folder, *words, "train.py", env=env)
    assert (done.returncode, done.stdout) == (1, "")
    first, second, *_ = done.stderr.splitlines()
    assert first == "nvspan ncu: nothing would be profiled (--no-check runs it nevertheless)"
    assert second == "  problem  ncu finds no CUDA driver (libcuda.so.1) here"
    assert not (folder / "started").exists()
    for allowed in (["--no-check", "train.py"], ["--", sys.executable, "train.py"]):
        run(folder, *words, *allowed, env=env)
        (folder / "started").unlink()


def test_a_run_without_a_gpu_says_so(folder):
    """ncu itself runs; where there is a GPU, the tests of test_ncu_on_gpu.py run it in earnest."""
    if real.has_driver():
        pytest.skip("there is a CUDA driver here")
    done = run(folder, "layers.1", "--no-check", "train.py", env={"NVSPAN_NCU": real.find()})
    assert done.returncode != 0
    assert "nvspan ncu: nothing was profiled" in done.stderr
    assert "  problem  ncu finds no CUDA driver (libcuda.so.1) here" in done.stderr
    assert list(folder.glob("*.ncu-rep")) == []


def test_an_option_that_this_ncu_does_not_know(folder):
    done = run(folder, "--option=--communicatr=mpi", "torch@forward/", "train.py",
               env={"NVSPAN_NCU": real.find(), "NVSPAN_LIBCUDA": fake_library()})  # fmt: skip
    assert done.returncode != 0
    assert "  problem  this version of ncu has no option --communicatr=mpi" in done.stderr


def test_a_report_that_exists(folder):
    (folder / "kept.ncu-rep").write_text("kept")
    done = run(folder, "-o", "kept", "torch@forward/", "train.py",
               env={"NVSPAN_NCU": real.find(), "NVSPAN_LIBCUDA": fake_library()})  # fmt: skip
    assert "  problem  the report kept.ncu-rep exists" in done.stderr
    assert "try: nvspan ncu torch@forward/ -o kept --force train.py" in done.stderr
    assert (folder / "kept.ncu-rep").read_text() == "kept"


@pytest.fixture
def instead_of_ncu(folder):
    """A program that notes in the file "started" that it ran."""
    script(folder / "ncu", "#!/bin/sh\necho started >> started\n")
    return {"NVSPAN_NCU": "./ncu", "NVSPAN_LIBCUDA": fake_library()}


MISSES = {
    "slash": ("torch@forward", "'forward' is a push/pop range, and without a slash at its end the "
              "filter means start/end ranges", "forward"),
    "slash on a span": ("data@load/", "'load' is a start/end range, and the slash at its end means "
                        "push/pop ranges", "load"),
    "typo": ("torch@forwad/", "there is no range 'forwad'; the nearest are 'forward'", "forward"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISSES)
def test_filters_that_hit_nothing_are_told_before_the_program_runs(folder, instead_of_ncu, name):
    text, why, meant = MISSES[name]
    words = (text, "--replay", "range", "--no-report", "train.py")
    done = run(folder, *words, env=instead_of_ncu)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"  problem  '{text}' hits no range of the program: {why}" in done.stderr
    assert f"try: nvspan ncu {meant} --replay range --no-report train.py" in done.stderr
    assert done.stderr.endswith(
        "nvspan ncu: not run, because nothing would be profiled: --no-check runs it nevertheless\n"
    )
    assert not (folder / "started").exists()
    run(folder, "--no-check", *words, env=instead_of_ncu)
    assert (folder / "started").exists()


def test_one_filter_of_two_that_hits_nothing(folder, instead_of_ncu):
    done = run(folder, "torch@forwad/", "torch@layers.1/", "--replay", "range", "train.py",
               env=instead_of_ncu)  # fmt: skip
    assert "  problem  'torch@forwad/' hits no range of the program" in done.stderr
    assert "  ok       'torch@layers.1/' is a range of the program: it ran " in done.stderr
    assert (folder / "started").exists()


def test_a_program_that_fails_in_its_dry_run_is_run(folder, instead_of_ncu):
    (folder / "fails.py").write_text("import nvspan; nvspan.mark('a'); raise SystemExit('no data')")
    done = run(folder, "app@work/", "--replay", "range", "fails.py", env=instead_of_ncu)
    assert "the ranges could not be checked: the program failed in its dry run" in done.stderr
    assert (folder / "started").exists()


def test_without_a_replay_of_ranges_little_is_said(folder, instead_of_ncu):
    for name, said in (("layers.1", "nvspan ncu: recording the first 3 steps"),
                       ("torch@x/", "")):  # fmt: skip
        done = run(folder, name, "train.py", env=instead_of_ncu)
        before = done.stderr.partition("nvspan ncu: nothing was")[0]
        assert before[: len(said)] == said
        assert before.count("\n") == bool(said)
