# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What `nvspan explain` says of the cost of recording tiny ranges, by what the file knows of it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from helpers.compile import build
from helpers.lanes import Program
from helpers.recorded import record_command
from helpers.traced import needs_library
from helpers.tree import ROOT
from nvspan import launch, recorder
from nvspan.answers.finding import Finding
from nvspan.answers.recorder import tiny_findings
from nvspan.recording.loop import read_loop

ADVICE = "name the loop around them instead"
LEVEL = f"{ADVICE}, or annotate(..., level=2): sent where NVSPAN_LEVEL=2"
EXCLUDE = "nvspan record --profile --exclude PATTERN    leave them out"


def recording_of(tmp_path, threads=1):
    """3,000 ranges of 400 ns in 1.5 ms, shared by threads of the same time."""
    program = Program()
    for number in range(threads):
        lane = program.lane(f"thread {number}")
        with lane.inside("step"):
            for _ in range(3000 // threads):
                lane.add("cell", 0.4)
                lane.pause(0.1 + 0.5 * (threads - 1))
    return program.read(tmp_path / "run.nvspan")


def said(recording, *, registered=False, **costs):
    """The findings where the one process of the recording has these costs."""
    loop = read_loop(recording)
    loop.tiny = [
        SimpleNamespace(**{**one.as_dict(), "registered": registered}) for one in loop.tiny
    ]
    process = SimpleNamespace(**{"event_cost": 0.0, "annotate_cost": None, **costs})
    return list(tiny_findings(SimpleNamespace(processes=[process]), loop))


def overhead(bound, share, certainty, source, without, advice=ADVICE):
    return Finding(
        "overhead",
        f"recording 3,000 tiny ranges 'cell' takes {bound} {share:.0%} of the run",
        certainty,
        [f"{source}; their median is 400 ns", f"the run would take {without} without them"],
        advice,
        pytest.approx(share),
    )


def test_annotations_cost_what_was_measured(tmp_path):
    recording = recording_of(tmp_path)
    source = "one annotation takes 100 ns, as measured before the program started"
    expected = overhead("about", 0.2, "measured", source, "about 1.20 ms", LEVEL)
    assert said(recording, registered=True, event_cost=10.0, annotate_cost=100) == [expected]
    assert said(recording, registered=True, event_cost=10.0, annotate_cost=24) == []


@pytest.mark.parametrize(
    ("registered", "annotate_cost"), [(True, None), (False, 100), (False, None)]
)
def test_of_others_the_recorder_is_the_least(tmp_path, registered, annotate_cost):
    found = said(
        recording_of(tmp_path),
        registered=registered, event_cost=25.0, annotate_cost=annotate_cost,
    )  # fmt: skip
    source = "the recorder takes 50 ns for each, and making them takes more"
    assert found == [overhead("at least", 0.1, "measured", source, "at most 1.35 ms")]


def test_a_file_without_a_figure(tmp_path):
    source = "150 ns for each is assumed: the file has no figure"
    expected = overhead("about", 0.3, "likely", source, "about 1.05 ms")
    assert said(recording_of(tmp_path)) == [expected]


def test_threads_may_record_at_once(tmp_path):
    (finding,) = said(recording_of(tmp_path, threads=3), event_cost=60.0)
    assert finding.text == "recording 3,000 tiny ranges 'cell' takes at least 8.0% of the run"
    assert finding.evidence[1] == "the run would take at most 1.38 ms without them"


def test_threads_annotate_in_turn(tmp_path):
    (finding,) = said(recording_of(tmp_path, threads=3), registered=True, annotate_cost=60)
    assert finding.text == "recording 3,000 tiny ranges 'cell' takes about 12% of the run"


@needs_library
def test_a_recording_of_annotations_has_the_figure(tmp_path):
    code = "import nvspan\nfor _ in range(5000):\n    with nvspan.annotate('turn'): pass"
    config = recorder.config_string(tmp_path / "run-{pid}.nvspan", run=1, annotate_cost=40_000)
    done = record_command(
        [sys.executable, "-c", code], folder=tmp_path, env={launch.CONFIG_VARIABLE: config}
    )
    (finding,) = tiny_findings(done.recording, read_loop(done.recording))
    assert finding.text.startswith("recording 5,000 tiny ranges 'turn' takes about ")
    source = "one annotation takes 40.0 us, as measured before the program started; "
    assert finding.evidence[0].startswith(source)


@needs_library
def test_functions_of_a_profile_are_no_annotations(tmp_path):
    code = (
        "import nvspan\ndef tiny(): pass\nwith nvspan.Profile():\n"
        "    for _ in range(5000): tiny()\n"
    )
    (tmp_path / "calls.py").write_text(code)
    done = record_command([sys.executable, str(tmp_path / "calls.py")], folder=tmp_path)
    costs = SimpleNamespace(event_cost=20_000.0, annotate_cost=40_000)
    (finding,) = tiny_findings(SimpleNamespace(processes=[costs]), read_loop(done.recording))
    assert finding.next == EXCLUDE
    assert finding.evidence[0].startswith("the recorder takes 40.0 us for each, and ")


@needs_library
def test_plain_names_of_a_c_program_are_no_annotations(tmp_path):
    done = record_command([build(ROOT / "tests" / "programs" / "tiny_ranges.cpp")])
    (group,) = read_loop(done.recording).tiny
    assert (group.name, group.ranges, group.registered) == ("tiny", 20_000, False)
