# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How taking kernels begins and ends: refusals, other tools, forks, exits, kills, lost records."""

from __future__ import annotations

import os
import signal
import sys

import pytest

import nvspan
from helpers.fake_cupti import PREAMBLE, environment, fake_library, run_recorded
from helpers.traced import needs_library, run_plain

pytestmark = needs_library

BEGUN = [
    "subscribe", "register clock", "register buffers", "enable 8",
    "enable 10", "enable 1", "enable 22", "enable 2", "enable 51",
]  # fmt: skip
ENDED = [
    "disable 10", "disable 1", "disable 22", "disable 2", "disable 51", "disable 49", "disable 8",
    "flush 1", "unsubscribe",
]  # fmt: skip


def work(recording):
    found = [row for row in recording.ranges.rows() if row["domain"] == "CUDA"]
    return [row["name"] for row in sorted(found, key=lambda row: row["start"])]


def losses(recording):
    return [(row["reason"], row["count"]) for row in recording.losses.rows()]


def test_cupti_is_subscribed_to_first_and_never_finalized():
    done = run_recorded("gpu.use()\ngpu.launch('k')\nprint(gpu.log())")
    assert done.stdout == f"{BEGUN}\n"
    assert work(done.recording) == ["k"]  # at the process's end


@pytest.mark.parametrize("cuda", ["off", None])
def test_nothing_is_loaded_where_kernels_are_not_wanted(cuda):
    done = run_recorded("""
gpu.use()
gpu.call()
nvspan.mark("here")
assert gpu.log() == [], gpu.log()
""", cuda=cuda)  # fmt: skip
    assert done.stderr == ""
    assert [call["kind"] for call in done.calls()] == ["mark"]


@pytest.mark.parametrize("mode", ["stats", "armed"])
def test_modes_without_events_take_none(mode):
    run_recorded("gpu.use()\nnvspan.mark('here')\nassert gpu.log() == [], gpu.log()", mode=mode)


def test_where_another_tool_has_cupti_nothing_is_touched():
    done = run_recorded("""
gpu.use()
gpu.use()
with nvspan.annotate("step"):
    gpu.launch("k")
gpu.deliver()
assert gpu.log() == ["subscribe"] * 2, gpu.log()
assert gpu.cupti.fake_callbacks() == 0
""", env={"FAKE_CUPTI_SUBSCRIBE": "39"})  # fmt: skip
    assert (
        done.stderr == "nvspan: kernels are not recorded: another tool uses CUPTI in this process\n"
    )
    assert [row["name"] for row in done.recording.ranges.rows()] == ["step"]


@pytest.mark.parametrize(
    ("env", "said"),
    [
        (
            {"FAKE_CUPTI_SUBSCRIBE": "8"},
            "{library}: cuptiSubscribe: CUPTI_ERROR_UNKNOWN (8)",
        ),
        (
            {"FAKE_CUPTI_REFUSED_KIND": "10"},
            "the driver lets only root profile (NVreg_RestrictProfilingToAdminUsers)",
        ),
        (
            {"NVSPAN_LIBCUPTI": "/absent/libcupti.so"},
            "NVSPAN_LIBCUPTI: /absent/libcupti.so: cannot open shared object file: "
            "No such file or directory",
        ),
        (
            {"CUDA_INJECTION64_PATH": "/opt/tool/libtool.so"},
            "CUDA loads another tool, CUDA_INJECTION64_PATH=/opt/tool/libtool.so",
        ),
    ],
)
def test_a_refusal_is_one_line(env, said):
    done = run_recorded("gpu.use()\ngpu.use()\nnvspan.mark('here')", env=env)
    text = said.format(library=fake_library())
    assert done.stderr == f"nvspan: kernels are not recorded: {text}\n"
    assert [row["name"] for row in done.recording.marks.rows()] == ["here"]


def test_what_was_enabled_before_a_refusal_is_disabled():
    done = run_recorded("gpu.use()\nprint(gpu.log())\nnvspan.mark('here')",
                        env={"FAKE_CUPTI_REFUSED_KIND": "1"})  # fmt: skip
    begun = BEGUN[: BEGUN.index("enable 1") + 1]
    assert done.stdout == f"{[*begun, *[line for line in ENDED if line != 'flush 1']]}\n"


def test_each_recording_of_a_process_has_its_own_kernels(tmp_path):
    calls = [*BEGUN, *ENDED, *[line for line in BEGUN if line != "register clock"], *ENDED]
    code = f"""
gpu.use()
assert gpu.log() == []
for name in ("first", "second"):
    with nvspan.record({str(tmp_path)!r} + f"/{{name}}.nvspan", cuda="kernels"):
        gpu.use()
        with nvspan.annotate("step"):
            gpu.launch(name)
            gpu.launch(name)
    gpu.launch("between")
assert gpu.log() == {calls}, gpu.log()
assert gpu.cupti.fake_pending() == 0
"""
    run_plain(PREAMBLE + code, env=environment(None))
    for name in ("first", "second"):
        recording = nvspan.read(str(tmp_path / f"{name}.nvspan"))
        assert work(recording) == [name, name]
        assert recording.projection().rows[0].ops == 2


def test_dropped_records_are_counted():
    done = run_recorded("""
gpu.use()
gpu.launch("k")
gpu.cupti.fake_drop(17)
gpu.deliver()
""")
    assert losses(done.recording) == [("dropped by CUPTI", 17)]
    assert work(done.recording) == ["k"]
    (gap,) = done.recording.gpu_gaps
    (kernel,) = [row for row in done.recording.ranges.rows() if row["domain"] == "CUDA"]
    assert (gap.process, gap.reason) == (0, "CUPTI dropped some")
    assert gap.start <= kernel["start"] <= gap.end <= done.recording.processes[0].end


def test_buffers_are_cuptis_until_it_hands_them_back():
    """Also those that it has when a recording ends, and those that it never hands back."""
    done = run_recorded("""
gpu.use()
assert gpu.cupti.fake_request(10) == 10 * 256 * 1024
gpu.launch("k")
gpu.cupti.fake_scribble()
gpu.deliver()
gpu.cupti.fake_hand_back()
gpu.cupti.fake_request(40)
gpu.launch("k")
gpu.deliver()
gpu.cupti.fake_scribble()
import atexit
atexit.register(gpu.cupti.fake_scribble)
""")
    assert work(done.recording) == ["k", "k"]
    assert done.stderr == ""


def test_buffers_of_many_threads_have_a_budget():
    done = run_recorded("""
gpu.use()
print([gpu.cupti.fake_request(256) // 1024, gpu.cupti.fake_request(500) // 1024])
gpu.cupti.fake_hand_back()
print([gpu.cupti.fake_request(3) // 1024])
""")
    assert done.stdout == f"[{256 * 256}, {500 * 16}]\n[{3 * 256}]\n"


NO_MEMORY = """
import resource
gpu.use()
gpu.cupti.fake_request(256)  # beyond the budget they are small
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limits = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (size + (4 << 20), limits[1]))
found = gpu.cupti.fake_request(1000)
resource.setrlimit(resource.RLIMIT_AS, limits)
gpu.cupti.fake_scribble()
gpu.cupti.fake_hand_back()
gpu.launch("k")
gpu.deliver()
"""


@pytest.mark.skipif(bool(os.environ.get("NVSPAN_SANITIZED")), reason="it takes the address space")
def test_without_memory_an_older_cupti_gets_a_buffer_all_the_same():
    older = "gpu.cupti.fake_version(26)\n" + NO_MEMORY.replace("(1000)", "(400)")
    done = run_recorded(older + "print(found != 0, [l for l in gpu.log() if 'misuse' in l])")
    assert done.stdout == "True []\n"
    done = run_recorded(NO_MEMORY + "print(found != 0, [l for l in gpu.log() if 'misuse' in l])")
    assert done.stdout == "False []\n"
    assert work(done.recording) == ["k"]


def test_records_that_come_while_the_process_ends():
    done = run_recorded("""
gpu.use()
def deliver():
    while True:
        gpu.launch("late")
        gpu.deliver()
for _ in range(3):
    threading.Thread(target=deliver, daemon=True).start()
time.sleep(0.2)
""")
    assert done.stderr == ""
    assert set(work(done.recording)) == {"late"}
    assert done.recording.problems == []


def test_work_without_times_is_counted():
    done = run_recorded("""
gpu.use()
gpu.launch("k")
gpu.kernel("zero", 0, 0, gpu.call())
gpu.kernel("open", gpu.now(), 0, gpu.call())  # it runs when the process ends
gpu.kernel("of another clock", time.time_ns(), time.time_ns() + 10, gpu.call())
gpu.deliver()
assert gpu.cupti.fake_pending() == 2, gpu.cupti.fake_pending()
""")
    assert losses(done.recording) == [("GPU work without times", 3)]
    assert work(done.recording) == ["k"]


def test_work_that_begins_before_its_launch_is_counted_and_not_shown():
    done = run_recorded("""
gpu.use()
before = gpu.now()
with nvspan.annotate("step"):
    number = gpu.call()
gpu.kernel("early", before, before + 10, number)
gpu.launch("k")
gpu.deliver()
""")
    assert losses(done.recording) == [("GPU work before its launch", 1)]
    assert work(done.recording) == ["k"]
    assert [row.name for row in done.recording.projection().rows] == []


def test_a_forked_child_makes_no_call_of_cupti():
    done = run_recorded("""
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of threads, by CPython 3.12 and later
gpu.use()
with nvspan.annotate("parent"):
    gpu.launch("of the parent")
    before = gpu.log()
    child = os.fork()
    if child == 0:
        gpu.use()
        with nvspan.annotate("child"):
            gpu.call()
        sys.exit(0 if gpu.log() == before else 1)
    assert os.waitpid(child, 0)[1] == 0
    gpu.launch("of the parent")
gpu.deliver()
""")
    assert work(done.recording) == ["of the parent"] * 2
    assert len(done.recording.processes) == 2
    # what the child used of CUDA, it used in vain: the parent's driver is not its own
    assert done.stderr == (
        "nvspan: kernels are not recorded: this process was forked from one that used CUDA\n"
    )


def test_a_child_whose_parent_used_no_cuda_has_its_own_kernels():
    done = run_recorded("""
with nvspan.annotate("parent"):
    child = os.fork()
    if child == 0:
        gpu.cupti.fake_forked()
        gpu.use()
        gpu.launch("of the child")
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
""")
    assert work(done.recording) == ["of the child"]
    assert done.stderr == ""


def test_a_killed_process_keeps_what_was_delivered():
    done = run_recorded("""
gpu.use()
with nvspan.annotate("step"):
    gpu.launch("first")
    gpu.deliver()
    gpu.kernel("second", gpu.now(), 0, gpu.call())  # it runs
    os.kill(os.getpid(), signal.SIGKILL)
""", check=False)  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    assert work(done.recording) == ["first"]
    assert done.recording.projection().rows[0].ops == 1
    calls = [row for row in done.recording.ranges.rows() if row["domain"] == "CUDA API"]
    assert len(calls) == 2
    (gap,) = done.recording.gpu_gaps
    assert gap.reason == "CUPTI had not handed it over"
    assert gap.start == max(call["start"] for call in calls)


def test_what_is_complete_is_handed_over_once_a_second():
    done = run_recorded("""
gpu.use()
gpu.launch("k")
end = time.monotonic() + 30
while gpu.cupti.fake_pending() and time.monotonic() < end:
    time.sleep(0.05)
time.sleep(0.2)
os.kill(os.getpid(), signal.SIGKILL)
""", check=False)  # fmt: skip
    assert work(done.recording) == ["k"]
    assert done.recording.gpu_gaps == []


def test_delivery_by_threads_while_others_launch():
    done = run_recorded("""
gpu.use()
ended = []
def deliver():
    while not ended:
        gpu.deliver()
def launch(name):
    for _ in range(500):
        gpu.launch(name)
deliverers = [threading.Thread(target=deliver) for _ in range(2)]
launchers = [threading.Thread(target=launch, args=(f"k{i}",)) for i in range(3)]
for thread in deliverers + launchers: thread.start()
for thread in launchers: thread.join()
ended.append(True)
for thread in deliverers: thread.join()
""")
    assert sorted(work(done.recording)) == sorted(f"k{i}" for i in range(3) for _ in range(500))
    assert done.recording.problems == []


@pytest.mark.parametrize("cuda", ["kernel", "kernels,x", "off,api", "All"])
def test_an_unknown_choice_in_the_environment_is_said_and_ignored(cuda):
    done = run_recorded("gpu.use()\nnvspan.mark('here')\nassert gpu.log() == []", cuda=cuda)
    assert done.stderr == (
        f"nvspan: NVSPAN_RECORD_CUDA={cuda} is ignored: cuda must be auto, kernels, api, memory, "
        "graphs, all or off\n"
    )


def test_the_command_takes_the_choice(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"""{PREAMBLE}
gpu.use()
with nvspan.annotate("step"):
    gpu.launch("k")
print(os.environ["CUDA_INJECTION64_PATH"] == os.environ["NVTX_INJECTION64_PATH"])
""")
    output = str(tmp_path / "run.nvspan")
    done = run_plain(
        "import sys; from nvspan.cli import main; sys.exit(main(sys.argv[1:]))",
        *("record", "--cuda", "kernels", "--no-report", "-o", output, str(script)),
        env=environment(None),
    )  # fmt: skip
    assert done.stdout == "True\n"
    assert work(nvspan.read(output)) == ["k"]


@pytest.mark.skipif(sys.platform != "linux", reason="the recorder is for Linux")
@pytest.mark.parametrize("cuda", ["x", "kernels,", "api,off"])
def test_the_command_refuses_what_there_is_not(cuda):
    done = run_plain(
        "import sys; from nvspan.cli import main; sys.exit(main(sys.argv[1:]))",
        "record", "--cuda", cuda, "-c", "pass", check=False,
    )  # fmt: skip
    assert done.returncode == 2
    text = f"cuda must be auto, kernels, api, memory, graphs, all or off, not {cuda!r}"
    assert text in done.stderr


@pytest.mark.parametrize("mode", ["stats", "armed"])
def test_kernels_are_refused_in_a_mode_without_events(mode):
    with pytest.raises(ValueError, match=f"^cuda=kernels needs the mode full or ring, not {mode}$"):
        nvspan.record(mode=mode, cuda="kernels")
    nvspan.record(mode=mode, cuda="off")
