# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What ``nvspan doctor`` finds of the system: announced tools, permissions, versions of Nsight."""

from __future__ import annotations

import json
import os

import pytest

from helpers.script import script
from helpers.traced import needs_library, nvspan_command
from nvspan._doctor import tools
from nvspan._doctor.clock import described
from nvspan._doctor.permissions import permissions
from nvspan._doctor.probes import shows_nothing

ANNOUNCEMENT = "nvidia/nvtx/nvtx-cuda.yaml"
ROOTS_OWN = "nvidia/nvtx/user.0/nvtx-cuda.yaml"


def write(path, text="version: 1\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("there", "is_root", "expected"),
    [
        ([], True, None),
        ([], False, None),
        (["run/" + ANNOUNCEMENT], True, ("run/" + ANNOUNCEMENT, "every program")),
        (["run/" + ANNOUNCEMENT], False, ("run/" + ANNOUNCEMENT, "every program")),
        (["run/" + ROOTS_OWN], True, ("run/" + ROOTS_OWN, "every program of root")),
        (["run/" + ROOTS_OWN], False, None),
        (["user/" + ANNOUNCEMENT], False, ("user/" + ANNOUNCEMENT, "every program of this user")),
        (["user/" + ANNOUNCEMENT], True, None),
        (["run/" + ANNOUNCEMENT, "run/" + ROOTS_OWN], True,
         ("run/" + ANNOUNCEMENT, "every program")),
        (["run/" + ANNOUNCEMENT, "user/" + ANNOUNCEMENT], False,
         ("run/" + ANNOUNCEMENT, "every program")),
    ],
)  # fmt: skip
def test_the_file_that_announces_a_tool(tmp_path, monkeypatch, there, is_root, expected):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "user"))
    for path in there:
        write(tmp_path / path)
    found = tools.announcement(str(tmp_path), is_root)
    assert found == (expected and (str(tmp_path / expected[0]), expected[1]))


def test_without_a_runtime_folder_a_user_has_no_file_of_its_own(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    write(tmp_path / "user" / ANNOUNCEMENT)
    assert tools.announcement(str(tmp_path), False) is None


def system(folder, *, paranoid="2", capabilities="0", restricted=None, gpu=None):
    """The files of a kernel, and of a driver where `restricted` or `gpu` is given."""
    write(folder / "proc/self/status", f"Name:\tpython\nCapEff:\t{capabilities:0>16}\n")
    if paranoid is not None:
        write(folder / "proc/sys/kernel/perf_event_paranoid", f"{paranoid}\n")
    if restricted is not None:
        text = f"ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: {restricted}\n"
        write(folder / "proc/driver/nvidia/params", text)
    if gpu is not None:
        path = folder / "proc/driver/nvidia/gpus/0000:01:00.0/information"
        write(path, f"Model: \t\t {gpu}\nIRQ:   \t\t 64\n")


def findings(folder):
    return [(one.status, one.text, one.advice) for one in permissions(str(folder))]


SAMPLES = ("ok", "kernel.perf_event_paranoid is 2: nsys may sample CPUs", None)
RESTRICTED = "NVreg_RestrictProfilingToAdminUsers=1: GPU counters are for administrators"
SYS_ADMIN, PERFMON, EVERYTHING = "200000", "4000000000", "1ffffffffff"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, [SAMPLES]),
        ({"paranoid": "-1"},
         [("ok", "kernel.perf_event_paranoid is -1: nsys may sample CPUs", None)]),
        ({"paranoid": "4"},
         [("note", "kernel.perf_event_paranoid is 4: nsys cannot sample CPUs; nvspan's lines need "
                   "no permission", None)]),
        ({"paranoid": "4", "capabilities": PERFMON},
         [("ok", "kernel.perf_event_paranoid is 4: nsys may sample CPUs", None)]),
        ({"paranoid": None}, [("ok", "the kernel has no perf events; nvspan needs none", None)]),
        ({"restricted": "0"},
         [SAMPLES, ("ok", "NVreg_RestrictProfilingToAdminUsers=0: every user may read GPU "
                          "counters", None)]),
        ({"restricted": "1", "capabilities": PERFMON},
         [SAMPLES, ("note", f"{RESTRICTED}; ncu cannot profile",
                    "for ncu: run it as root, or load the driver with "
                    "NVreg_RestrictProfilingToAdminUsers=0")]),
        ({"restricted": "1", "capabilities": SYS_ADMIN},
         [SAMPLES, ("ok", f"{RESTRICTED}, and this process is one", None)]),
        ({"restricted": "1", "capabilities": EVERYTHING, "gpu": "NVIDIA H100 80GB HBM3"},
         [SAMPLES, ("ok", f"{RESTRICTED}, and this process is one", None)]),
    ],
)  # fmt: skip
def test_what_may_be_measured(tmp_path, files, expected):
    system(tmp_path, **files)
    assert findings(tmp_path) == expected


@pytest.mark.parametrize(
    ("gpu", "records"),
    [
        ("NVIDIA GB200", True),
        ("NVIDIA B200", True),
        ("NVIDIA GB300", True),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", True),
        ("NVIDIA GeForce RTX 5090", True),
        ("NVIDIA GH200 480GB", False),
        ("NVIDIA H200", False),
        ("NVIDIA A100-SXM4-80GB", False),
        ("NVIDIA RTX 5000 Ada Generation", False),
        ("Quadro RTX 5000", False),
    ],
)
def test_gpus_that_record_their_own_events(tmp_path, gpu, records):
    system(tmp_path, gpu=gpu)
    note = (
        "note",
        f"{gpu}: 'nsys -t cuda' takes kernels from the GPU's own events (HES), which needs "
        "permission and works neither with MIG nor with MPS",
        "where nsys shows no kernels or crashes: nsys profile -t cuda-sw,nvtx",
    )
    assert findings(tmp_path) == [SAMPLES, *([note] if records else [])]


@needs_library
def test_the_clock_of_recordings_is_this_machines():
    done = nvspan_command("doctor", "--json")
    [one] = [one for one in json.loads(done.stdout)["findings"] if one["name"] == "clock"]
    details = one["details"]
    expected = described(details["clock"], details["resolution"]).as_dict()
    assert one == {**expected, "name": "clock"}
    assert 0.1 <= details["resolution"] <= 1000


@pytest.mark.parametrize(
    ("clock", "resolution", "text"),
    [
        ("tsc", 0.4, "the CPU's counter, 2,500 MHz: times in steps of 0.4 ns"),
        ("tsc", 40.0, "the CPU's counter, 25 MHz: times in steps of 40 ns"),
        ("tsc", 1.0, "the CPU's counter, 1,000 MHz: times in steps of 1 ns"),
        ("monotonic", 1.0, "CLOCK_MONOTONIC, as the CPU's counter is not constant: times in "
                           "steps of 1 ns"),
    ],
)  # fmt: skip
def test_clocks_in_words(clock, resolution, text):
    assert described(clock, resolution).text == text


@pytest.mark.parametrize(
    ("nsys", "nvtx", "nothing"),
    [
        ("2023.4.4.54", "0.2.17", True),
        ("2022.4.2.1", "0.2.12", True),
        ("2023.4.4.54", "0.2.11", False),
        ("2025.3.1.90", "0.2.17", False),
        ("2024.1.1", "0.2.17", False),
        (None, "0.2.17", False),
        ("2023.4.4", None, False),
    ],
)
def test_versions_of_nsys_that_show_nothing_of_the_package_nvtx(nsys, nvtx, nothing):
    assert shows_nothing(nsys, nvtx) is nothing


def test_doctor_names_an_nsys_that_shows_nothing(tmp_path):
    info = tmp_path / "site" / "nvtx-0.2.17.dist-info" / "METADATA"
    write(info, "Metadata-Version: 2.1\nName: nvtx\nVersion: 0.2.17\n")
    script(tmp_path / "nsys", "#!/bin/sh\necho NVIDIA Nsight Systems version 2023.4.4.54-0\n")
    env = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "NVSPAN_NSYS": None,
           "PYTHONPATH": str(tmp_path / "site")}  # fmt: skip
    done = nvspan_command("doctor", env=env)
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert f"{tmp_path / 'nsys'} (2023.4.4.54)" in said
    assert "nsys 2023.4.4.54 shows nothing of the package nvtx 0.2.17" in said
    assert "-> for code that imports nvtx: nvspan nsys --as-nvtx, or nsys 2025 or newer" in said
