# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The names that threads and processes have in a recording without the program's doing."""

from __future__ import annotations

import csv
import sys

import pytest

import nvspan
from helpers.compile import build
from helpers.recorded import record_command
from helpers.reported import run_nvspan
from helpers.traced import needs_library
from nvspan.report.summary import threads as shown_threads

pytestmark = needs_library

PROGRAM = """
import _thread, sys, threading, time
import nvspan
from concurrent.futures import ThreadPoolExecutor

class Loud(threading.Thread):
    def __getattribute__(self, name):
        own = sys._getframe(1).f_globals["__name__"] == "threading"  # CPython 3.14 names it
        if name in ("name", "_name") and not own and threading.current_thread() is not self:
            raise RuntimeError("asked")
        return super().__getattribute__(name)
    def run(self):
        nvspan.mark("loud")

def run(thread):
    thread.start(); thread.join()

nvspan.mark("main")
run(threading.Thread(target=nvspan.mark, args=("m",), name="loader 0"))
run(threading.Thread(target=nvspan.mark, args=("m",)))
run(threading.Thread(target=nvspan.mark, args=("m",), name="größe " + "x" * 100))
run(threading.Thread(target=nvspan.mark, args=("m",), name="\\ud800"))
run(threading.Thread(target=nvspan.mark, args=("m",), name=""))
with ThreadPoolExecutor(1, thread_name_prefix="pool") as pool:
    pool.submit(nvspan.mark, "m").result()
run(Loud(name="loud"))
def named():
    nvspan.name_thread("by the program")
    nvspan.mark("m")
run(threading.Thread(target=named, name="by Python"))
def renamed():
    nvspan.mark("m")
    nvspan.name_thread("later")
    nvspan.mark("m")
run(threading.Thread(target=renamed, name="at first"))
lock = _thread.allocate_lock(); lock.acquire()
def bare():
    nvspan.mark("m")
    lock.release()
_thread.start_new_thread(bare, ()); lock.acquire()
print(len(threading.enumerate()))
"""
# The system's name of a thread, where CPython 3.14 gave it one that cannot be encoded.
NOT_ENCODED = None if sys.version_info < (3, 14) else "?"
NAMES = ["MainThread", "loader 0", "Thread-1 (mark)", "größe " + "x" * 56, NOT_ENCODED,
         "Thread-2 (mark)", "pool_0", "loud", "by the program", "later", None]  # fmt: skip


def test_threads_are_called_as_python_calls_them():
    done = record_command([sys.executable, "-c", PROGRAM])
    assert done.recording.threads.text("name") == NAMES
    assert done.stdout == "1\n"  # asking makes no thread
    assert not [event for event in done.recording.events
                if event["kind"] == "name_thread"
                and event["name"] not in ("by the program", "later")]  # fmt: skip


@pytest.mark.parametrize("mode", ["stats", "ring"])
def test_in_every_mode(mode):
    done = record_command([sys.executable, "-c", PROGRAM], mode=mode)
    assert done.recording.threads.text("name") == NAMES


def test_a_program_that_imports_no_threading_has_a_main_thread():
    code = "import sys, nvspan; sys.modules.pop('threading', None); nvspan.mark('m')"
    assert record_command([sys.executable, "-c", code]).recording.threads.text("name") == [
        "MainThread"
    ]


def test_a_recording_within_the_program_names_its_threads_again(tmp_path):
    code = f"""
import threading, nvspan
gate = [threading.Event() for _ in range(4)]
def work():
    for number in range(2):
        gate[2 * number].wait()
        nvspan.mark("m")
        gate[2 * number + 1].set()
thread = threading.Thread(target=work, name="first"); thread.start()
for number in range(2):
    with nvspan.record({str(tmp_path)!r} + f"/{{number}}.nvspan"):
        gate[2 * number].set(); gate[2 * number + 1].wait()
    thread.name = "second"
thread.join()
"""
    done = record_command([sys.executable, "-c", code], env={"NVTX_INJECTION64_PATH": None})
    assert done.returncode == 0
    for number, name in enumerate(("first", "second")):
        recording = nvspan.read(tmp_path / f"{number}.nvspan")
        assert recording.threads.text("name")[-1] == name
        assert set(recording.threads.text("name")) <= {name, "MainThread"}


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_processes_are_called_as_multiprocessing_calls_them(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import multiprocessing, os, sys, types
import nvspan

class Information:  # as PyTorch's DataLoader has it in its workers
    id = 3
def work(): nvspan.mark("work")
def load():
    module = types.ModuleType("torch.utils.data._utils.worker")
    module._worker_info = Information()
    sys.modules[module.__name__] = module
    nvspan.mark("load")
if __name__ == "__main__":
    nvspan.mark("main")
    for method in ("fork", "spawn"):
        process = multiprocessing.get_context(method).Process(target=work, name=method + " child")
        process.start(); process.join()
    process = multiprocessing.get_context("fork").Process(target=load)
    process.start(); process.join()
    if os.fork() == 0:
        nvspan.mark("forked")
        os._exit(0)
    os.wait()
""")
    done = record_command([sys.executable, str(script)])
    recording = done.recording
    names = {mark["name"]: recording.threads.text("name")[mark["thread"]]
             for mark in recording.marks.rows()}  # fmt: skip
    works = [recording.threads.text("name")[mark["thread"]] for mark in recording.marks.rows()
             if mark["name"] == "work"]  # fmt: skip
    assert sorted(works) == ["fork child", "spawn child"]
    assert names["main"] == names["forked"] == "MainThread"
    assert names["load"] == "DataLoader worker 3"


THREADS = """
#define _GNU_SOURCE
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
static void* named(void* name) {
  if (name) pthread_setname_np(pthread_self(), (const char*)name);
  nvtxMarkA("m");
  return 0;
}
int main(void) {
  const char* names[] = {"pt_autograd_0", 0};
  nvtxMarkA("main");
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    pthread_create(&thread, 0, named, (void*)names[i]);
    pthread_join(thread, 0);
  }
}
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the names of Linux's threads")
def test_threads_without_python_have_the_names_of_the_system(tmp_path):
    (tmp_path / "threads_without_python.c").write_text(THREADS)
    program = build(tmp_path / "threads_without_python.c", "-pthread")
    done = record_command([str(program)])
    assert done.recording.threads.text("name") == [None, "pt_autograd_0", None]


def test_tables_tell_namesakes_apart(tmp_path):
    code = """
import threading, nvspan
for _ in range(2):
    def work():
        with nvspan.annotate("r"): pass
    t = threading.Thread(target=work, name="same"); t.start(); t.join()
nvspan.end_range(nvspan.start_range("x"))
"""
    done = record_command([sys.executable, "-c", code], folder=tmp_path)
    tids = done.recording.threads["tid"].tolist()
    table = run_nvspan("stats", "--by", "thread", "--format", "csv", *done.files).stdout
    assert {row["thread"] for row in csv.DictReader(table.splitlines())} == {
        f"same ({tids[0]})", f"same ({tids[1]})", "MainThread",
    }  # fmt: skip
    assert [thread.alone for thread in shown_threads(done.recording)] == [False, False, True]
