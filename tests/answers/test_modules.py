# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan modules``: trees, folded blocks, forward and backward, and its formats."""

from __future__ import annotations

import csv
import io
import json
import os
from array import array

import nvspan
from helpers.recorded_loops import unpack
from helpers.reported import nvspan_done
from helpers.written import Call, put, written
from nvspan import _reader
from nvspan.answers import modules


def step(at: int, blocks: int, slow: int = 1) -> list[Call]:
    """A step of a model with `blocks` blocks of two layers of 10 and 20, and a head of 5."""
    calls: list[Call] = []
    inner = at + 1
    for number in range(blocks):
        calls += [(inner, inner + 32 * slow, f"h.{number}"),
                  (inner + 1, inner + 1 + 10 * slow, f"h.{number}.a"),
                  (inner + 11 * slow, inner + 31 * slow, f"h.{number}.b")]  # fmt: skip
        inner += 40 * slow
    calls.append((inner, inner + 5, "head"))
    return [(at, inner + 10, "step"), (at, inner + 8, "forward"), (at, inner + 6, "Net"), *calls]


def paths(found: nvspan.recording.Modules, **options) -> list[tuple]:
    return [(row["path"], row["level"], row["count"], row["calls"], row["forward_cpu"])
            for row in found.rows(**options)]  # fmt: skip


def test_the_tree_of_a_model_and_its_folded_blocks(tmp_path):
    found = written(tmp_path / "a.nvspan", step(0, 3)).modules()
    assert paths(found) == [
        ("Net", 0, 1, 1, 127), ("h.0..2", 1, 3, 3, 96), ("h.0..2.a", 2, 3, 3, 30),
        ("h.0..2.b", 2, 3, 3, 60), ("head", 1, 1, 1, 5),
    ]  # fmt: skip
    assert paths(found, fold=False) == [
        ("Net", 0, 1, 1, 127), ("h", 1, 1, 0, None),
        *(entry for i in range(3) for entry in (
            (f"h.{i}", 2, 1, 1, 32), (f"h.{i}.a", 3, 1, 1, 10), (f"h.{i}.b", 3, 1, 1, 20))),
        ("head", 1, 1, 1, 5),
    ]  # fmt: skip
    assert (found.steps, found.warm_up, found.span) == (1, 0, 131)
    assert found.rows()[0]["share"] == 127 / 131


def test_warm_up_is_left_out(tmp_path):
    calls, at = step(0, 2, slow=9), 2000
    for _ in range(9):
        calls += step(at, 2)
        at += 200
    found = written(tmp_path / "a.nvspan", calls).modules()
    assert (found.steps, found.warm_up) == (9, 1)
    assert found.rows()[0]["forward_cpu"] == 9 * 87
    assert modules.render(found).startswith("means of 9 steps, without 1 warm-up step; share:")


def test_forward_backward_and_the_gpu_are_apart(tmp_path):
    calls = [(0, 100, "step"), (10, 50, "Net"), (12, 40, "layer"),
             (60, 70, "layer (recompute)")]  # fmt: skip
    found = written(
        tmp_path / "a.nvspan", calls, [(55, 95, "Net"), (60, 90, "layer")], [(20, 60, "layer")]
    ).modules()
    row = found.rows()[1]
    assert [row[time] for time in modules.TIMES] == [28, 30, 40, None]  # it repeats within
    assert row["share"] == 0.4  # of the GPU's time
    assert found.rows()[0]["forward_gpu"] is None
    assert found.has_backward
    assert found.has_gpu
    assert modules.notes(found) == []


def test_layers_that_are_numbers_are_one_row_only_if_they_take_alike(tmp_path):
    alike = [(0, 100, "Net"), *((10 * i + 1, 10 * i + 9, str(i)) for i in range(5))]
    assert [row["path"] for row in written(tmp_path / "a.nvspan", alike).modules().rows()] == [
        "Net", "0..4",
    ]  # fmt: skip
    linear = [(0, 100, "Net"), *((10 * i + 1, 10 * i + (9, 2)[i % 2], str(i)) for i in range(5))]
    assert len(written(tmp_path / "b.nvspan", linear).modules().rows()) == 6
    few = [(0, 100, "Net"), *((10 * i + 1, 10 * i + 9, str(i)) for i in range(3))]
    assert len(written(tmp_path / "c.nvspan", few).modules().rows()) == 4


def test_two_models_with_modules_of_one_name(tmp_path):
    calls = [(0, 40, "A"), (5, 20, "layer"), (50, 90, "B"), (55, 60, "layer")]
    found = written(tmp_path / "a.nvspan", calls, [(100, 110, "layer")]).modules()
    assert paths(found) == [("A", 0, 1, 1, 40), ("layer", 1, 1, 1, 15), ("B", 0, 1, 1, 40),
                            ("layer", 1, 1, 1, 5)]  # fmt: skip
    assert found.ambiguous == ["layer"]
    assert modules.notes(found) == [
        "several modules are called layer: backward passes and GPU work of which nothing tells "
        "whose they are count for the first of them"
    ]
    assert found.steps == 0
    assert found.span == 110


def classed(path, calls):
    """A recording of modules' calls: start, end, name, class or ""."""
    with _reader.ExternalWriter(os.fsencode(path)) as writer:
        process = writer.process(77)
        thread = writer.thread(process, 1)
        domain = writer.domain(process, "torch")
        kinds = ["", *sorted({kind for *_, kind in calls} - {""})]
        for number, kind in enumerate(kinds):
            writer.category(domain, 5 + number, f"forward {kind}".rstrip())
        for start, end, name, kind in calls:
            put(writer, thread, domain, [(start, end, name)], category=5 + kinds.index(kind))
    return path


def kinds_of(found):
    return [(row["level"], row["path"], row["class"], row["calls"], row["forward_cpu"])
            for row in found.rows(fold=False)]  # fmt: skip


LINEAR_FIRST = [(0, 40, "Net", ""), (5, 20, "0", "Linear"), (20, 30, "1", "ReLU")]
RELU_FIRST = [(100, 140, "Net", ""), (101, 104, "0", "ReLU"), (104, 130, "1", "Linear")]


def test_numbered_modules_that_differ_in_class_are_two_at_one_place(tmp_path):
    """A model that is called as an earlier one that is gone."""
    found = nvspan.read(classed(tmp_path / "a.nvspan", LINEAR_FIRST + RELU_FIRST)).modules()
    apart = [
        (0, "Net", None, 2, 80), (1, "0", "Linear", 1, 15), (1, "1", "ReLU", 1, 10),
        (1, "0", "ReLU", 1, 3), (1, "1", "Linear", 1, 26),
    ]  # fmt: skip
    assert kinds_of(found) == apart
    paths = [classed(tmp_path / f"{number}.nvspan", calls)
             for number, calls in enumerate((LINEAR_FIRST, RELU_FIRST))]  # fmt: skip
    assert sorted(kinds_of(nvspan.read_many(paths, modules=True).modules())) == sorted(apart)


def test_each_of_two_models_has_the_class_of_its_own(tmp_path):
    calls = [*LINEAR_FIRST, *((*call[:2], call[2].replace("Net", "Other"), call[3])
                              for call in RELU_FIRST)]  # fmt: skip
    assert kinds_of(nvspan.read(classed(tmp_path / "a.nvspan", calls)).modules()) == [
        (0, "Net", None, 1, 40), (1, "0", "Linear", 1, 15), (1, "1", "ReLU", 1, 10),
        (0, "Other", None, 1, 40), (1, "0", "ReLU", 1, 3), (1, "1", "Linear", 1, 26),
    ]  # fmt: skip


def test_a_module_called_from_outside_of_its_container_is_within_the_same_one(tmp_path):
    calls = [(0, 40, "Net", ""), (5, 20, "0", "Block"), (6, 10, "0.fc", ""), (22, 30, "0.fc", "")]
    assert kinds_of(nvspan.read(classed(tmp_path / "a.nvspan", calls)).modules()) == [
        (0, "Net", None, 1, 40), (1, "0", "Block", 1, 15), (2, "0.fc", None, 2, 12),
    ]  # fmt: skip


def backward_of(tmp_path, calls, passes, device=()):
    """The backward and GPU times of two models A and B with a module called layer.

    `calls` and `passes` are start, end, name and autograd's number.
    """
    with _reader.ExternalWriter(os.fsencode(tmp_path / "a.nvspan")) as writer:
        process = writer.process(77)
        thread = writer.thread(process, 1)
        domain = writer.domain(process, "torch")
        writer.category(domain, 5, "backward")
        for start, end, name, number in calls:
            put(writer, thread, domain, [(start, end, name)], payload=number)
        for start, end, name, number in passes:
            put(
                writer,
                thread,
                domain,
                [(start, end, name)],
                payload=number,
                kind="start_end",
                category=5,
            )
        for start, end, name in device:
            writer.device_ranges(
                process,
                domain,
                array("q", [start]),
                array("q", [end]),
                device=0,
                stream=7,
                name=writer.strings([name]),
            )
    found = nvspan.read(tmp_path / "a.nvspan").modules()
    layers = [model.children[0] for model in found.models]
    return [(each.backward_cpu, each.forward_gpu) for each in layers], found.ambiguous


TWO_MODELS = [(0, 40, "A", 0), (5, 20, "layer", 3), (50, 90, "B", 6), (55, 60, "layer", 9)]


def test_a_backward_pass_is_of_the_call_with_its_number(tmp_path):
    passes = [(100, 110, "layer", 9), (200, 230, "layer", 3)]
    assert backward_of(tmp_path, TWO_MODELS, passes) == ([(30, None), (10, None)], [])


def test_of_calls_with_one_number_the_last_made_autograds_nodes(tmp_path):
    """The first model is called without gradients, which leaves autograd's count as it is."""
    calls = [(0, 40, "A", 0), (5, 20, "layer", 0), (50, 90, "B", 0), (55, 60, "layer", 0)]
    passes = [(100, 110, "layer", 0)]
    assert backward_of(tmp_path, calls, passes) == ([(None, None), (10, None)], [])


def test_a_backward_pass_is_of_the_model_whose_pass_is_around_it(tmp_path):
    calls = [(start, end, name, None) for start, end, name, _ in TWO_MODELS]
    passes = [
        (100, 150, "B", None),
        (110, 120, "layer", None),
        (200, 250, "A", None),
        (210, 240, "layer", None),
    ]
    assert backward_of(tmp_path, calls, passes) == ([(30, None), (10, None)], [])
    gpu = [(300, 350, "B"), (310, 317, "layer")]
    assert backward_of(tmp_path, calls, passes, gpu) == ([(30, None), (10, 7)], [])


def test_a_backward_pass_is_of_the_only_call_that_waits_for_one(tmp_path):
    calls = [
        (0, 40, "A", None),
        (5, 20, "layer", None),
        (100, 140, "B", None),
        (105, 110, "layer", None),
    ]
    passes = [(50, 60, "layer", None), (150, 180, "layer", None)]
    assert backward_of(tmp_path, calls, passes) == ([(10, None), (30, None)], [])
    second = [(150, 180, "layer", None), (190, 200, "layer", None)]  # both wait for theirs
    assert backward_of(tmp_path, calls, second)[1] == ["layer"]


def test_a_module_is_within_each_that_calls_it(tmp_path):
    calls = [(0, 100, "Net"), (10, 40, "encoder"), (15, 25, "encoder.embed"),
             (16, 20, "aten::embedding"), (50, 90, "decoder"),
             (55, 75, "encoder.embed"), (76, 80, "decoder.layers.0")]  # fmt: skip
    found = written(tmp_path / "a.nvspan", calls).modules()
    assert paths(found, fold=False) == [
        ("Net", 0, 1, 1, 100), ("encoder", 1, 1, 1, 30), ("encoder.embed", 2, 1, 1, 10),
        ("decoder", 1, 1, 1, 40), ("encoder.embed", 2, 1, 1, 20),
        ("decoder.layers.0", 2, 1, 1, 4),
    ]  # fmt: skip


def test_evaluation_is_outside_of_the_steps(tmp_path):
    """Each of two epochs has five steps of 100 and an evaluation of 900, in the modules' domain."""
    calls, device, at = [], [], 0
    for _ in range(2):
        begin, epoch = at, len(calls)
        for _ in range(5):
            calls += [(at, at + 100, "step"), (at + 10, at + 50, "Net"), (at + 20, at + 40, "0")]
            device.append((at + 20, at + 60, "Net"))
            at += 100
        calls += [(at, at + 900, "evaluate"), (at, at + 890, "Net"), (at + 5, at + 880, "0")]
        device.append((at + 10, at + 800, "Net"))
        at += 900
        calls.insert(epoch, (begin, at, "epoch"))
    found = written(tmp_path / "a.nvspan", calls).modules(step="step")
    assert (found.steps, found.span) == (10, 1000)
    assert paths(found) == [("Net", 0, 1, 10, 400), ("0", 1, 1, 10, 200)]
    assert [row["share"] for row in found.rows()] == [0.4, 0.2]
    on_gpu = written(tmp_path / "b.nvspan", calls, device=device).modules(step="step").rows()
    assert [(row["path"], row["forward_gpu"], row["share"]) for row in on_gpu] == [
        ("Net", 400, 0.4), ("0", None, 0),
    ]  # fmt: skip


def test_a_step_takes_as_long_as_nvspan_steps_says(tmp_path):
    """Ten steps of 131, the sixth ten times as long."""
    calls, at = [], 0
    for number in range(10):
        calls += step(at, 3, slow=10 if number == 5 else 1)
        at = calls[-1][1] + 10
    recording = written(tmp_path / "a.nvspan", calls)
    steps, found = recording.steps(), recording.modules()
    assert (found.steps, found.warm_up, found.outliers) == (9, 0, 1)
    assert found.span / found.steps == steps.typical.duration == 131
    assert paths(found)[:2] == [("Net", 0, 1, 9, 9 * 127), ("h.0..2", 1, 3, 27, 9 * 96)]
    assert modules.render(found).startswith(
        "means of 9 steps, without 1 outlier; share: time of the CPU, of a step of 131 ns\n"
    )
    missing = [(at, at + 50, "Net")]
    assert paths(written(tmp_path / "b.nvspan", calls + missing).modules()) == paths(found)


def test_the_gpu_is_spoken_of_where_one_was_used(tmp_path):
    missing = "time of the GPU was not recorded: annotate_module(model, device=True) does it"
    plain = written(tmp_path / "a.nvspan", [(0, 100, "Net")])
    assert missing not in modules.notes(plain.modules())
    written(tmp_path / "b.nvspan", [], device=[(5, 9, "copy")], domain_name="other")
    both = nvspan.read(tmp_path / "a.nvspan", tmp_path / "b.nvspan")
    assert missing in modules.notes(both.modules())


def run(*words):
    return nvspan_done("modules", *words)


def test_formats_have_one_truth(tmp_path):
    found = written(tmp_path / "a.nvspan", step(0, 3)).modules()
    document = json.loads(run(tmp_path / "a.nvspan", "--format", "json").stdout)
    assert document["rows"] == found.rows()
    rows = list(csv.DictReader(io.StringIO(run(tmp_path / "a.nvspan", "--format", "csv").stdout)))
    assert [row["path"] for row in rows] == [row["path"] for row in found.rows()]
    ended = run(tmp_path / "a.nvspan", "--depth", "1", "--format", "markdown")
    assert ended.stdout.splitlines()[2:] == [
        "| calls | forward | share | module |", "| ---: | ---: | ---: | :--- |",
        "| 1 | 127 ns | 97% | Net |", "| 3 | 96 ns | 73% |   h.0..2 x3 |",
        "| 1 | 5 ns | 3.8% |   head |",
    ]  # fmt: skip
    assert ended.stderr.splitlines() == [
        "nvspan: the backward pass was not recorded module by module: "
        "annotate_module(model, backward=True) does it",
    ]


def test_a_recording_without_modules(tmp_path):
    written(tmp_path / "a.nvspan", [(0, 10, "step")])
    ended = run(tmp_path / "a.nvspan")
    assert (ended.returncode, ended.stdout) == (0, "no modules\n")
    assert ended.stderr == (
        "nvspan: no range of a module is here: nvspan.torch.annotate_module(model) makes them\n"
    )


def test_a_real_model_on_a_gpu(tmp_path):
    found = nvspan.read(unpack("blocks", tmp_path / "blocks.nvspan")).modules()
    rows = found.rows(fold=False)
    assert [row["path"] for row in rows if row["level"] == 2] == [f"h.{i}" for i in range(12)]
    model = rows[0]
    for time in modules.TIMES:  # what is within a model takes no longer than it
        assert sum(row[time] or 0 for row in rows if row["level"] == 2) <= model[time]
    folded = {row["path"]: row for row in found.rows()}
    for time in modules.TIMES:
        blocks = [row[time] for row in rows if row["level"] == 2]
        assert folded["h.0..11"][time] == sum(blocks)
