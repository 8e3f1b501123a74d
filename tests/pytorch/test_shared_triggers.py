# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Triggers that real ranks pass on, which record into folders of their own as on several hosts."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import nvspan
from helpers.bundles import bundles, whole
from helpers.traced import clean_environment, needs_library
from nvspan.blackbox.bundle import reasons

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = [
    needs_library,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="torch without distributed"),
]
if torch.distributed.is_available():
    pytestmark.append(pytest.mark.skipif(
        not hasattr(torch.distributed.Store, "clone"), reason="this torch's stores have no clone"
    ))  # fmt: skip

PROGRAM = Path(__file__).with_name("programs") / "triggers.py"
AUTO = PROGRAM.with_name("auto_triggers.py")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def run_job(folder, what, end, folders, trigger="exception; last:60s", program=PROGRAM, **more):
    """What the ranks did: (process id, output, errors, exit code) of each."""
    port = free_port()
    running = []
    for rank, name in enumerate(folders):
        (folder / name).mkdir(exist_ok=True)
        environment = clean_environment({
            "RANK": str(rank), "WORLD_SIZE": str(len(folders)), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1",
            "NVSPAN_RECORD": f"ring=1:{folder}/{name}/run-{rank}.nvspan",
            **({} if trigger is None else {"NVSPAN_TRIGGER": trigger}),
            # Of a store that ends while a rank asks it, torch's C++ warns by itself.
            "TORCH_CPP_LOG_LEVEL": "ERROR", **more,
        })  # fmt: skip
        running.append(subprocess.Popen(
            [sys.executable, str(program), what, *end.split()], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ))  # fmt: skip
    try:
        # The last first: rank 0 may have been stopped.
        done = []
        for process in reversed(running):
            if end == "stopped" and process is running[0]:
                process.kill()
            output = process.communicate(timeout=120)
            done.insert(0, (process.pid, *output, process.returncode))
        return done
    finally:
        for process in running:
            process.kill()


def check(folder, done, folders, kind, why):
    """One bundle in each folder, with its ranks and the reason of rank 1."""
    for name in set(folders):
        (bundle,) = bundles(folder / name)
        assert whole(bundle)
        ranks = [rank for rank, each in enumerate(folders) if each == name]
        assert sorted(row["rank"] for row in nvspan.read(bundle).processes) == ranks
        (reason,) = reasons(str(bundle))
        assert reason.pop("time") > 1.6e18
        assert re.fullmatch(why, reason.pop("why"))
        passed = {} if 1 in ranks else {"passed": True}
        assert reason == {"kind": kind, "host": os.uname().nodename, "pid": done[1][0], "rank": 1,
                          **passed}  # fmt: skip


@pytest.mark.parametrize(
    ("what", "end"),
    [
        ("ask", "before"),
        pytest.param("ask", "after", marks=pytest.mark.slow),
        pytest.param("ask", "never", marks=pytest.mark.slow),
        pytest.param("fork", "never", marks=pytest.mark.slow),
    ],
)
def test_a_trigger_of_one_rank_is_passed_on_to_all(tmp_path, what, end):
    folders = ["host-0", "host-1", "host-2"]
    done = run_job(tmp_path, what, end, folders)
    assert [each[1:] for each in done] == [("ends\n", "", 0)] * 3
    check(tmp_path, done, folders, "asked", "the loss is not a number")


@pytest.mark.slow
def test_what_a_rule_finds_is_passed_on(tmp_path):
    folders = ["host-0", "host-1"]
    done = run_job(tmp_path, "slow", "after", folders, "slow:step>20; last:60s")
    assert [each[1:] for each in done] == [("ends\n", "", 0)] * 2
    check(tmp_path, done, folders, "slow", r"step has taken .* times its p99 of .*")


def test_the_exception_that_ends_a_rank_is_passed_on(tmp_path):
    folders = ["host-0", "host-1"]
    done = run_job(tmp_path, "exception", "never", folders)
    assert done[0][1:] == ("ends\n", "", 0)
    assert done[1][3] == 1
    assert done[1][2].endswith("RuntimeError: secret\n")
    check(tmp_path, done, folders, "exception", r"RuntimeError in main \(triggers.py:\d+\)")


@pytest.mark.slow
def test_ranks_that_share_a_folder_write_one_bundle(tmp_path):
    folders = ["host-0", "host-1", "host-1", "host-0"]
    done = run_job(tmp_path, "ask", "after", folders)
    assert [each[1:] for each in done] == [("ends\n", "", 0)] * 4
    for name in ("host-0", "host-1"):
        (bundle,) = bundles(tmp_path / name)
        assert sorted(row["rank"] for row in nvspan.read(bundle).processes) == [
            rank for rank, each in enumerate(folders) if each == name
        ]
        assert {(each["why"], each["rank"]) for each in reasons(str(bundle))} == {
            ("the loss is not a number", 1)
        }


@pytest.mark.parametrize("end", ["killed", "stopped"])
def test_a_rank_goes_on_and_ends_when_the_store_is_lost(tmp_path, end):
    done = run_job(tmp_path, "ask", end, ["host-0", "host-1"])
    assert [each[1:3] for each in done] == [("ends\n", "")] * 2
    assert done[1][3] == 0
    assert bundles(tmp_path / "host-0") == []
    (bundle,) = bundles(tmp_path / "host-1")
    assert [reason["why"] for reason in reasons(str(bundle))] == ["alone"]


def test_a_group_that_is_made_again_on_the_same_port_shares_again(tmp_path):
    code = """
import threading, time
import torch.distributed as dist
import nvspan, nvspan.torch

def threads():
    return [each for each in threading.enumerate() if each.name == "nvspan triggers"]

for _ in range(3):
    dist.init_process_group("gloo")
    assert nvspan.torch.share_triggers() is True
    assert threads()
    dist.destroy_process_group()
end = time.monotonic() + 30
while threads():
    assert time.monotonic() < end, "a thread has not ended with its group"
    time.sleep(0.01)
"""
    environment = clean_environment({
        "RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "GLOO_SOCKET_IFNAME": "lo",
        "MASTER_PORT": str(free_port()), "NVSPAN_RECORD": f"ring=1:{tmp_path}/run.nvspan",
    })  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                          text=True, timeout=120, check=False)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_a_process_group_nothing_is_shared():
    code = "import nvspan.torch; print(nvspan.torch.share_triggers())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


def run_auto(folder, store, folders, off="", shared_for="1", trigger="exception; last:60s"):
    done = run_job(folder, store, off, folders, trigger, AUTO, SHARED_FOR=shared_for)
    assert [each[3] for each in done] == [0] * len(folders), done
    return done


def said(shared, later):
    return f"begins {shared}\ngoes on {later}\n"


def test_auto_shares_triggers_where_ranks_record_into_folders_of_their_own(tmp_path):
    folders = ["host-0", "host-1", "host-1"]
    done = run_auto(tmp_path, "tcp", folders)
    assert [each[1:3] for each in done] == [(said(True, True), "")] * 3
    check(tmp_path, done, folders, "asked", "the loss is not a number")


@pytest.mark.slow
def test_auto_shares_no_longer_where_all_ranks_record_into_one_folder(tmp_path):
    done = run_auto(tmp_path, "tcp", ["host-1", "host-1"], shared_for="60")
    assert [each[1:3] for each in done] == [(said(True, False), "")] * 2
    check(tmp_path, done, ["host-1", "host-1"], "asked", "the loss is not a number")


NOT_SHARED = "nvspan: triggers stay with the ranks of one folder: "


def test_auto_says_once_why_triggers_are_not_shared(tmp_path):
    done = run_auto(tmp_path, "file", ["host-0", "host-1"])
    assert [each[1] for each in done] == [said(False, False)] * 2
    assert done[0][2] == (
        f"{NOT_SHARED}the process group's store is a FileStore, and no TCPStore\n"
    )
    assert done[1][2] == ""
    assert bundles(tmp_path / "host-0") == []
    assert len(bundles(tmp_path / "host-1")) == 1


def test_auto_before_there_is_a_process_group_says_so(tmp_path):
    done = run_auto(tmp_path, "late", ["host-0", "host-1"])
    # And shares them when it is called again.
    assert [each[1] for each in done] == [f"before False\n{said(True, True)}"] * 2
    check(tmp_path, done, ["host-0", "host-1"], "asked", "the loss is not a number")
    assert done[0][2] == (
        f"{NOT_SHARED}there is no process group yet; call nvspan.torch.share_triggers() when there "
        "is one\n"
    )
    assert done[1][2] == ""


@pytest.mark.parametrize(
    ("off", "trigger"), [("off", "exception"), pytest.param("", None, marks=pytest.mark.slow)]
)
def test_auto_shares_nothing_where_it_is_not_to_or_there_is_no_black_box(tmp_path, off, trigger):
    done = run_auto(tmp_path, "tcp", ["host-0", "host-1"], off, trigger=trigger)
    assert [each[1:3] for each in done] == [(said(False, False), "")] * 2
    assert bundles(tmp_path / "host-0") == []
    assert len(bundles(tmp_path / "host-1")) == 1
