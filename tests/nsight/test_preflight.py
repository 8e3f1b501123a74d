# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What ``nvspan ncu`` checks before a run, in real processes: CUDA's driver and CUPTI are fakes
that load and call the injection library as the real ones do."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers.device import TESTS, fake_cupti, only_fake
from helpers.traced import clean_environment, needs_library

pytestmark = [needs_library, only_fake]

KERNELS = str(TESTS / "data" / "nsight" / "kernels.py")
COLD = """
import nvspan
from helpers.gpu import Cuda
for number in range(3):
    with nvspan.annotate("work", domain="app"):
        if not number: cuda = Cuda()
        cuda.launch(0)
        cuda.synchronize()
"""
SYNCED = """
import sys, types
import nvspan
from helpers.gpu import Cuda
cuda = Cuda()
stream = cuda.stream()
current = types.SimpleNamespace(ptr=stream, device_id=0)
sys.modules["cupy"] = cupy = types.ModuleType("cupy")
cupy.cuda = types.SimpleNamespace(get_current_stream=lambda: current)
cuda.launch(stream)
for device in (False, True):
    with nvspan.annotate("waits", sync=True, device=device): cuda.launch(stream)
with nvspan.annotate("does not"): cuda.launch(stream)
with nvspan.annotate("idle"): pass
"""
EVERY_TIME = """
import ctypes, nvspan
from helpers.gpu import Cuda
cuda = Cuda()
event = ctypes.c_void_p()
cuda.call("cuEventCreate", ctypes.byref(event), 0)
for _ in range(2):
    with nvspan.annotate("asks"):
        cuda.launch(0)
        cuda.library.cuEventQuery(event)
        cuda.synchronize()
"""
LATER = """
import ctypes, nvspan
from helpers.gpu import Cuda
cuda = Cuda()
event = ctypes.c_void_p()
cuda.call("cuEventCreate", ctypes.byref(event), 0)
for number in range(3):
    with nvspan.annotate("asks"):
        cuda.launch(0)
        if number: cuda.library.cuEventQuery(event)
        cuda.synchronize()
"""
THREAD = """
import threading, nvspan
from helpers.gpu import Cuda
cuda = Cuda()
def other():
    cuda.call("cuCtxSetCurrent", cuda.context)
    cuda.launch(0)
    cuda.synchronize()
for mark in (lambda: nvspan.annotate("pushed"), lambda: nvspan.span("spanned")):
    with mark():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
"""
EVENTS = """
import ctypes, nvspan
from helpers.gpu import Cuda
cuda = Cuda()
streams = [cuda.stream(), cuda.stream()]
events = [ctypes.c_void_p() for _ in streams]
for event in events: cuda.call("cuEventCreate", ctypes.byref(event), 0)
def record(number):
    cuda.launch(streams[number])
    cuda.call("cuEventRecord", events[number], ctypes.c_void_p(streams[number]))
with nvspan.annotate("both"):
    for number in (0, 1): record(number)
    for event in events: cuda.call("cuEventSynchronize", event)
with nvspan.annotate("joined"):
    record(0)
    cuda.call("cuStreamWaitEvent", ctypes.c_void_p(streams[1]), events[0], 0)
    record(1)
    cuda.call("cuEventSynchronize", events[1])
with nvspan.annotate("the first alone"):
    for number in (0, 1): record(number)
    cuda.call("cuEventSynchronize", events[0])
"""
PROGRAMS = {"cold": COLD, "synced": SYNCED, "every": EVERY_TIME, "later": LATER, "thread": THREAD,
            "events": EVENTS}  # fmt: skip
MEMORY = ("ok       1.0 GiB of the GPU's 8.0 GiB are in use: what is written can be saved beside "
          "it between passes")  # fmt: skip
CONTEXT = "begins in a context that is there, and loads no kernels"
CALLS = "makes only calls of CUDA that range replay can repeat"
GRAPH = "           - capture the graph before the range begins, and launch it within"
ELSEWHERE = ("           - ranges that hold such calls can be profiled by --replay app-range, or "
             "kernel by kernel without --replay")  # fmt: skip
WARM = ("           - run it once before the range begins: nvspan.torch.warmup(model, *inputs), or "
        "nvspan.nsight.profile_region(..., warmup=1)")  # fmt: skip
WAIT = ("           - annotate(sync=True), nvspan.nsight.profile_region and "
        "torch.cuda.synchronize() wait")  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for name, code in PROGRAMS.items():
        (tmp_path / f"{name}.py").write_text(code)
    ncu = tmp_path / "ncu"
    ncu.write_text("#!/bin/sh\necho started >> started\n")
    ncu.chmod(0o755)
    return tmp_path


def run(folder, *words, env=None):
    driver, cupti = fake_cupti()
    added = {"NVSPAN_LIBCUDA": driver, "NVSPAN_CUPTI": cupti, "PYTHONPATH": str(TESTS),
             "NVSPAN_CACHE": str(folder / "cache"), "CUDA_INJECTION64_PATH": None,
             "NVSPAN_NCU": str(folder / "ncu"), **(env or {})}  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "nvspan", "ncu", *words], cwd=folder, capture_output=True, text=True,
        timeout=120, check=False, env=clean_environment(added),
    )  # fmt: skip


def findings(folder, *words, **options):
    done = run(folder, "--dry-run", *words, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line[2:] if line[2] != " " else line for line in done.stderr.splitlines()
            if line.startswith("  ")]  # fmt: skip


def test_ranges_that_can_be_replayed(folder):
    assert findings(folder, "torch:forward", "--replay", "range", KERNELS, "sync") == [
        f"ok       'torch@forward/' {CALLS}",
        "ok       'torch@forward/' waits for its work before it ends",
        f"ok       'torch@forward/' {CONTEXT}",
        MEMORY,
    ]


def test_one_sentence_for_all_ranges_of_which_it_is_true(folder):
    each = "each of 'torch@layers.0/', 'torch@layers.1/', 'torch@layers.2/'"
    assert findings(folder, "torch:layers.?", "--replay", "range", KERNELS, "sync") == [
        f"ok       {each} {CALLS}",
        f"note     {each} ends each of the 3 times without a call that waits for its work",
        WAIT,
        f"ok       {each} {CONTEXT}",
        MEMORY,
    ]


def test_a_range_that_waits_waits_and_no_call_of_ours_is_refused(folder):
    assert findings(folder, "waits", "does not", "--replay", "range", "synced.py") == [
        f"ok       each of 'waits/', 'does not/' {CALLS}",
        "ok       'waits/' waits for its work before it ends; for what came before it, Nsight "
        "Compute waits",
        "note     'does not/' ends without a call that waits for its work",
        WAIT,
        f"ok       each of 'waits/', 'does not/' {CONTEXT}",
        MEMORY,
    ]


def test_a_wait_for_an_event_is_for_what_came_before_it(folder):
    found = findings(folder, "both", "joined", "the first alone", "--replay", "range", "events.py")
    assert found[1:4] == [
        "ok       each of 'both/', 'joined/' waits for its work before it ends",
        "note     'the first alone/' ends without a call that waits for its work",
        WAIT,
    ]


def test_a_graph(folder):
    assert findings(folder, "captured", "--replay", "range", KERNELS, "graph") == [
        "problem  'app@captured/' captures a CUDA graph, and launches no kernel",
        "           - the graph's kernels run, and are profiled, where it is launched",
        "problem  'app@captured/' calls cuStreamBeginCapture, which range replay cannot repeat: a "
        "CUDA graph is captured in it",
        GRAPH,
        ELSEWHERE,
        f"           try: nvspan ncu captured --dry-run --replay app-range {KERNELS} graph",
        "ok       'app@captured/' waits for its work before it ends",
        f"ok       'app@captured/' {CONTEXT}",
        MEMORY,
    ]


def test_a_cold_context_in_the_first_call(folder):
    for replay in ("range", "app-range"):
        found = findings(folder, "work", "--replay", replay, "cold.py")
        context = [
            "problem  'app@work/' makes the CUDA context 1 of 3 times: there must be one when a "
            "range begins that is to be measured as one thing",
            WARM,
            f"           try: nvspan ncu work --dry-run --replay {replay} --calls 1: cold.py",
        ]
        if replay == "app-range":
            assert found == context
            continue
        assert found == [
            "problem  'app@work/' calls cuInit, cuDevicePrimaryCtxRetain 1 of 3 times, which range "
            "replay cannot repeat: CUDA begins in it",
            WARM,
            ELSEWHERE,
            "           try: nvspan ncu work --dry-run --replay range --calls 1: cold.py",
            "ok       'app@work/' waits for its work before it ends",
            MEMORY,
        ]


def test_the_calls_that_are_chosen_are_checked(folder):
    assert findings(folder, "work", "--replay", "range", "--calls", "1:", "cold.py") == [
        f"ok       'app@work/' {CALLS}",
        "ok       'app@work/' waits for its work before it ends",
        f"ok       'app@work/' {CONTEXT}",
        MEMORY,
    ]


def test_no_run_that_would_fail(folder):
    words = ("asks", "--replay", "range", "every.py")
    done = run(folder, *words)
    assert done.returncode == 1
    assert ("problem  'asks/' calls cuEventQuery each of the 2 times, which range replay cannot "
            "repeat\n") in done.stderr  # fmt: skip
    assert done.stderr.endswith(
        "nvspan ncu: not run, because nothing would be profiled: --no-check runs it nevertheless\n"
    )
    assert not (folder / "started").exists()
    done = run(folder, "--dry-run", *words)
    assert done.stderr.endswith("nvspan ncu: this run would profile nothing\n")
    run(folder, "--no-check", *words)
    assert (folder / "started").exists()


def test_a_call_that_is_refused_in_the_first_range_alone(folder):
    assert findings(folder, "asks", "--replay", "range", "later.py")[0] == (
        "note     'asks/' calls cuEventQuery 2 of 3 times, which Nsight Compute refuses in the "
        "first range that it profiles in a process"
    )


def test_what_does_not_surely_fail_is_run(folder):
    run(folder, "idle", "does not", "--replay", "range", "synced.py")
    assert (folder / "started").exists()


@pytest.mark.parametrize("replay", ["kernel", "range"])
def test_kernels_of_other_threads_count_for_start_end_ranges_alone(folder, replay):
    found = findings(folder, "pushed", "spanned", "--replay", replay, "thread.py")
    assert found[0] == (
        "problem  'pushed/' launches no kernel in its thread: other threads launch them meanwhile"
    )
    assert not any("'spanned' launches" in line for line in found)


def test_a_range_without_kernels(folder):
    found = findings(folder, "idle", "synced.py")
    assert found == ["problem  'idle/' launches no kernel: nothing would be profiled", MEMORY]


@pytest.mark.parametrize(("replay", "other"), [("range", "app-range"), ("kernel", "application")])
def test_little_memory(folder, replay, other):
    used = {"FAKE_CUDA_USED": str(7 << 30)}
    found = findings(folder, "layers.1", "--replay", replay, KERNELS, "sync", env=used)
    assert found[-3] == (
        "note     7.0 GiB of the GPU's 8.0 GiB are in use: of what is written, more than 1.0 GiB "
        "would be saved in the host's memory, which is slow"
    )
    assert found[-2] == (
        f"           - --replay {other} repeats the program instead, and saves nothing"
    )


@pytest.mark.parametrize("replay", ["application", "app-range"])
def test_what_saves_no_memory_is_not_asked_for_it(folder, replay):
    used = {"FAKE_CUDA_USED": str(7 << 30)}
    found = findings(folder, "layers.1", "--replay", replay, KERNELS, "sync", env=used)
    expected = [f"ok       'torch@layers.1/' {CONTEXT}"] if replay == "app-range" else []
    assert found == expected


NOT_CHECKED = {
    "another tool": ({"FAKE_CUPTI_RESULT": "39"}, "another tool uses CUPTI in the program"),
    "an error": ({"FAKE_CUPTI_RESULT": "999"}, "cannot be used: CUPTI_ERROR_UNKNOWN (999)"),
    "no CUPTI": ({"NVSPAN_CUPTI": "/nowhere/libcupti.so.13"},
                 "no CUPTI (libcupti.so.13 or .12) was found"),
    "a tool of CUDA": ({"CUDA_INJECTION64_PATH": "/nowhere.so"},
                       "CUDA_INJECTION64_PATH is set to '/nowhere.so', so CUDA's driver loads "
                       "that tool in place of nvspan's"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_CHECKED)
def test_what_could_not_be_checked_is_told_and_run(folder, name):
    env, reason = NOT_CHECKED[name]
    done = run(folder, "layers.1", "--replay", "range", KERNELS, "sync", env=env)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("  note")]
    assert line.startswith("  note     what --replay range needs could not be checked: ")
    assert reason in line
    assert (folder / "started").exists()


def test_a_program_that_fails_in_its_dry_run_is_run(folder):
    (folder / "fails.py").write_text("import nvspan; nvspan.mark('a'); raise SystemExit('no data')")
    done = run(folder, "app@work/", "--replay", "range", "fails.py")
    assert "could not be checked: the program failed in its dry run" in done.stderr
    assert (folder / "started").exists()


def test_without_a_replay_of_ranges_little_is_said(folder):
    for name, said in (("layers.1", "nvspan ncu: recording the first 3 steps"), ("torch@x/", "")):
        before = run(folder, name, KERNELS, "sync").stderr.partition("nvspan ncu: nothing was")[0]
        assert before[: len(said)] == said
        assert before.count("\n") == bool(said)


def test_a_program_with_cuda_and_no_range(folder):
    (folder / "bare.py").write_text("from helpers.gpu import Cuda\nCuda().launch(0)\n")
    done = run(folder, "layers.1", "bare.py")
    assert done.returncode == 1
    assert "the program made no NVTX call in its dry run" in done.stderr
