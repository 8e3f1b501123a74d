# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nsys and the recorder: the same events of the same program, and manners where both are wanted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.compile import build
from helpers.nsys import PAYLOADS, profile
from helpers.recorded import record_command
from helpers.traced import needs_library

pytestmark = [pytest.mark.nsys, needs_library]
PROGRAMS = Path(__file__).parents[1] / "programs"
SIGN = 2**63

OURS = """
import threading, time
import nvspan

@nvspan.annotate("decorated", domain="lib", color="green")
def decorated(x):
    time.sleep(0.0005)
    with nvspan.annotate("inner", domain="lib", category="loop", payload=x):
        time.sleep(0.0005)

with nvspan.annotate("outer", color="red", payload=-7):
    time.sleep(0.0005)
    for i in range(5):
        decorated(i)
        nvspan.mark("mark", domain="lib", category=9, payload=1.5)
        time.sleep(0.0005)
handle = nvspan.start_range("span", domain="lib")
time.sleep(0.0005)

def work():
    with nvspan.annotate("in thread", payload=2.25):
        time.sleep(0.0005)
    nvspan.end_range(handle)

thread = threading.Thread(target=work)
thread.start()
thread.join()
for text in ("", "quote\\"tab\\t", "gr\\u00f6\\u00dfe \\u5bf8", "line\\nbreak"):
    with nvspan.annotate(text):
        time.sleep(0.0005)
print("done")
"""


CUDA = """
import tempfile
import nvtx, nvspan, torch, torch.distributed as dist

image, weight = (torch.randn(shape, device="cuda") for shape in ((8, 16, 32, 32), (16, 16, 3, 3)))
matrix = torch.randn(256, 256, device="cuda")
whole = torch.ones(1024, device="cuda")
meeting = tempfile.mktemp()
dist.init_process_group("nccl", init_method="file://" + meeting, rank=0, world_size=1)
for i in range(3):
    with torch.cuda.nvtx.range(f"step {i}"):
        with nvspan.annotate("convolution", domain="ours", payload=i):
            torch.nn.functional.conv2d(image, weight)
        with nvtx.annotate("product", domain="peer"):
            matrix @ matrix
        dist.all_reduce(whole)
        dist.broadcast(whole, 0)
with torch.autograd.profiler.emit_nvtx():
    matrix @ matrix
torch.cuda.synchronize()
dist.destroy_process_group()
print("done")
"""


def lines(recording):
    """A recording's ranges and marks as helpers.nsys shows those of nsys, in its order."""
    made = []
    threads: dict[int, int] = {}

    def common(row):
        words = [f"[{row['domain'] or ''}]", repr(row["name"])]
        if row["category"]:
            words.append(f"category={row['category']}")
        if row["color"] is not None:
            words.append(f"color={row['color']:08X}")
        if 0 < row["payload_type"] <= len(PAYLOADS):  # extended payloads are columns of their own
            name = PAYLOADS[row["payload_type"] - 1]
            bits = row["payload"]
            whole = bits - 2 * SIGN if name == "int64" and bits >= SIGN else bits
            value = row["payload_value"] if name in ("double", "float") else whole
            words.append(f"payload={name}:{value}")
        return words

    rows = [("mark", row["time"], row["time"], row) for row in recording.marks.rows()]
    rows += [
        ("span" if row["kind"] else "range", row["start"], row["end"], row)
        for row in recording.ranges.rows()
    ]
    rows.sort(key=lambda item: (item[1], -item[2]))
    for *_, row in rows:
        threads.setdefault(row["thread"], len(threads))
    for kind, _, _, row in rows:
        words = [kind, *common(row)]
        if kind == "range":
            words.append(f"depth={row['depth']}")
        if kind == "span":
            words.append(f"ended_by=t{threads.get(row['end_thread'])}")
        made.append(" ".join([*words, f"t{threads[row['thread']]}"]))
    return made


def events(report):
    return [line for line in report.lines if line.split()[0] in ("range", "mark", "span")]


def test_our_annotations_are_the_same_events_under_both(tmp_path):
    report = profile(OURS, tmp_path)
    recorded = record_command([sys.executable, "-c", OURS])
    assert recorded.stdout == report.stdout == "done\n"
    assert len(events(report)) == 22
    assert lines(recorded.recording) == events(report)


def test_a_program_of_nvtx3_hpp_gives_the_same_events_under_both(tmp_path):
    program = str(build(PROGRAMS / "cpp_ranges.cpp"))
    code = f"import subprocess\nsubprocess.run([{program!r}], check=True)"
    report = profile(code, tmp_path)
    recorded = record_command([program])
    assert len(events(report)) == 27
    assert lines(recorded.recording) == events(report)


def test_the_nvtx_package_is_recorded_where_nsys_has_nothing():
    code = OURS.replace("import nvspan", "import nvtx as nvspan")
    recorded = record_command([sys.executable, "-c", code])
    assert recorded.stdout == "done\n"
    ours = record_command([sys.executable, "-c", OURS])

    def named(record):
        return [(line.split("]")[0], line.split("'")[1]) for line in lines(record.recording)]

    assert named(recorded) == named(ours)


def test_a_program_of_torch_nccl_cudnn_and_cublas_gives_the_same_events_under_both(tmp_path):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    report = profile(CUDA, tmp_path)
    recorded = record_command([sys.executable, "-c", CUDA])
    assert "done" in recorded.stdout
    assert "done" in report.stdout
    collectives = ["range [NCCL] 'ncclAllReduce'", "range [NCCL] 'ncclBroadcast'"]
    steps = []
    for i in range(3):
        steps += [
            f"range [] 'step {i}'", "range [ours] 'convolution'",
            "range [peer] 'product'", *collectives,
        ]  # fmt: skip
    found = lines(recorded.recording)
    assert found == events(report)
    short = [line.split(" depth")[0].split(" color")[0] for line in found]
    assert [line for line in short if line in steps] == steps
    assert any("aten::mm" in line for line in short)


def test_the_command_steps_back_under_nsys(tmp_path):
    (tmp_path / "program.txt").write_text("import nvspan\nnvspan.mark('m')\nraise SystemExit(3)\n")
    code = f"""
import subprocess, sys
done = subprocess.run(
    [sys.executable, "-m", "nvspan", "record", "-o", {str(tmp_path / "run.nvspan")!r},
     {str(tmp_path / "program.txt")!r}], capture_output=True, text=True)
print(done.returncode, done.stderr.count("\\n"), done.stderr.split(": ")[0], done.stdout)
print("NVTX loads another tool" in done.stderr)
"""
    report = profile(code, tmp_path)
    assert report.stdout == "3 1 nvspan record \nTrue\n"
    assert [line.split(" color")[0] for line in events(report)] == ["mark [] 'm'"]
    assert not (tmp_path / "run.nvspan").exists()


@pytest.mark.parametrize("how", ["variable", "call"])
def test_a_program_that_records_itself_steps_back_under_nsys(tmp_path, how):
    path = tmp_path / "run.nvspan"
    program = {
        "variable": "import nvspan\nnvspan.mark('m')",
        "call": f"""
import nvspan
try:
    nvspan.record({str(path)!r}).start()
except RuntimeError as error:
    import sys
    print(error, file=sys.stderr)
nvspan.mark('m')""",
    }[how]
    code = f"""
import os, subprocess, sys
if {how!r} == "variable":
    os.environ["NVSPAN_RECORD"] = {str(path)!r}
done = subprocess.run([sys.executable, "-c", {program!r}], capture_output=True, text=True)
print(done.returncode, done.stderr.count("\\n"), "attached" in done.stderr)
"""
    report = profile(code, tmp_path)
    assert report.stdout == "0 1 True\n"
    assert [line.split(" color")[0] for line in events(report)] == ["mark [] 'm'"]
    assert not path.exists()
