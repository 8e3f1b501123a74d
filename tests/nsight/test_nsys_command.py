# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of nsys: each option of ours as options of nsys, which nsys knows."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers import nsys as real
from nvspan.nsight import nsys_command

PROGRAM = ["python", "train.py", "--lr", "1"]
PLAIN = ["--sample=none", "--cpuctxsw=none"]
CASES = {
    "plain": ({}, ["--trace=cuda,nvtx", *PLAIN, "--output=nvspan-%p"]),
    "trace": ({"trace": ["nvtx"]}, ["--trace=nvtx", *PLAIN, "--output=nvspan-%p"]),
    "sample": ({"sample": True}, ["--trace=cuda,nvtx", "--output=nvspan-%p"]),
    "output": (
        {"output": "out/{host}-{rank}-{pid}.nsys-rep"},
        ["--trace=cuda,nvtx", *PLAIN, "--output=out/%h-%q{RANK}-%p.nsys-rep"],
    ),
    "a variable": ({"output": "%q{JOB}-{pid}"},
                   ["--trace=cuda,nvtx", *PLAIN, "--output=%q{JOB}-%p"]),
    "steps": (
        {"steps": "100:103", "output": "r"},
        ["--trace=cuda,nvtx", *PLAIN, "--capture-range=nvtx", "--nvtx-capture=profile@torch",
         "--capture-range-end=stop", "--env-var=NVSPAN_STEPS=100:103", "--output=r"],
    ),
    "capture": (
        {"capture": "step@app", "output": "r"},
        ["--trace=cuda,nvtx", *PLAIN, "--capture-range=nvtx", "--nvtx-capture=step@app",
         "--capture-range-end=stop", "--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0", "--output=r"],
    ),
    "captures": (
        {"capture": "step@*", "captures": 3, "output": "r"},
        ["--trace=cuda,nvtx", *PLAIN, "--capture-range=nvtx", "--nvtx-capture=step@*",
         "--capture-range-end=repeat:3", "--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0",
         "--output=r"],
    ),
    "others": (
        {"graph_nodes": True, "forks": True, "stats": True, "force": True, "output": "r",
         "options": ["--wait=all"]},
        ["--trace=cuda,nvtx", *PLAIN, "--cuda-graph-trace=node", "--trace-fork-before-exec=true",
         "--stats=true", "--force-overwrite=true", "--output=r", "--wait=all"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_options(name):
    given, expected = CASES[name]
    assert nsys_command(PROGRAM, **given) == ["nsys", "profile", *expected, *PROGRAM]


def test_steps_of_two_numbers():
    assert nsys_command(PROGRAM, steps=(5, 6)) == nsys_command(PROGRAM, steps="5:6")
    assert nsys_command(PROGRAM, steps="5") == nsys_command(PROGRAM, steps="5:6")


RANKS = ["--trace=cuda,nvtx", *PLAIN, "--output=nvspan-%h-%q{{{}}}-%p"]


def tool(variable):
    return ["nsys", "profile", *RANKS[:-1], RANKS[-1].format(variable)]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (
            ["torchrun", "--nproc-per-node", "8", "--standalone", "train.py", "-x"],
            ["torchrun", "--nproc-per-node", "8", "--standalone", "--no-python", *tool("RANK"),
             sys.executable, "-u", "train.py", "-x"],
        ),
        (
            ["/bin/torchrun", "--nnodes=2", "-m", "train", "-m"],
            ["/bin/torchrun", "--nnodes=2", "--no-python", *tool("RANK"), sys.executable, "-u",
             "-m", "train", "-m"],
        ),
        (
            ["torchrun", "--no-python", "python", "-X", "dev", "train.py"],
            ["torchrun", "--no-python", *tool("RANK"), "python", "-X", "dev", "train.py"],
        ),
        (
            ["python3", "-m", "torch.distributed.run", "--nproc_per_node=2", "train.py"],
            ["python3", "-m", "torch.distributed.run", "--nproc_per_node=2", "--no-python",
             *tool("RANK"), sys.executable, "-u", "train.py"],
        ),
        (
            ["srun", "-N2", "-n", "4", "--gpus-per-task", "1", "--mem=8G", "--exclusive",
             "python", "train.py"],
            ["srun", "-N2", "-n", "4", "--gpus-per-task", "1", "--mem=8G", "--exclusive",
             *tool("SLURM_PROCID"), "python", "train.py"],
        ),
        (
            ["mpirun", "-np", "4", "--mca", "btl", "self", "-x", "A", "python", "train.py"],
            ["mpirun", "-np", "4", "--mca", "btl", "self", "-x", "A",
             *tool("OMPI_COMM_WORLD_RANK"), "python", "train.py"],
        ),
    ],
)  # fmt: skip
def test_launchers_start_nsys(program, expected):
    assert nsys_command(program) == expected


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"steps": "1:2", "capture": "a"}, ValueError, "steps and capture cannot be given both"),
        ({"steps": "3:3"}, ValueError, "steps must count up, as '100:103', not '3:3'"),
        ({"steps": "3:"}, ValueError, "steps must be two numbers, as in '100:103', not '3:'"),
        ({"steps": "0:9:2"}, ValueError, "steps must be two numbers"),
        ({"steps": "a:b"}, ValueError, "steps must be as '100:103', not 'a:b'"),
        ({"steps": (1, 2.0)}, TypeError, "steps must be text as '100:103' or two ints"),
        ({"capture": "@app"}, ValueError, "capture must have a message"),
        ({"captures": 2}, ValueError, "captures must be 1 or more, and needs capture"),
        ({"captures": 0, "capture": "a"}, ValueError, "captures must be 1 or more"),
        ({"captures": "2", "capture": "a"}, TypeError, "captures must be an int, not '2'"),
        ({"options": "--x"}, TypeError, "options must hold options, and not be one str: '--x'"),
        ({"trace": "nvtx"}, TypeError, "trace must be several names, as"),
        ({"trace": []}, ValueError, "trace must be names as"),
        ({"trace": ["cuda"], "capture": "a"}, ValueError, "trace must have 'nvtx'"),
    ],
)
def test_what_makes_no_sense(given, error, words):
    with pytest.raises(error, match=words):
        nsys_command(PROGRAM, **given)


def test_a_program_is_a_list():
    with pytest.raises(TypeError, match="program must be a list of str"):
        nsys_command("python train.py")
    with pytest.raises(ValueError, match="program must name what to run"):
        nsys_command([])


def test_nsys_knows_every_option():
    nsys = real.find() / "nsys"
    told = subprocess.run([nsys, "profile", "--help"], capture_output=True, text=True, check=True)
    used = {w.split("=")[0] for _, words in CASES.values() for w in words if w != "--wait=all"}
    assert {name for name in used if f"{name}=" not in told.stdout} == set()
