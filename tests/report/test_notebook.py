# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``%%nvspan`` and the tables in a notebook that a real kernel runs."""

from __future__ import annotations

import functools
import json
import re
import sys

import pytest

from helpers.browser import page
from helpers.packages import needs
from helpers.page_data import data_of, framed
from helpers.traced import needs_library, run_plain

pytestmark = [needs_library, needs("ipykernel", "nbclient", "nbformat")]

ANSI = re.compile(r"\x1b\[[0-9;]*m")
CELLS = {
    "load": "%load_ext nvspan",
    "before": "import nvspan\nwith nvspan.annotate('not recorded'): pass",
    "plain": """\
%%nvspan

with nvspan.annotate("outer"):
    with nvspan.annotate("inner"): pass
"a value"
""",
    "recording": "[row['name'] for row in _nvspan.ranges.rows()]",
    "table": "_nvspan.stats()",
    "await": """\
%%nvspan
import asyncio
async def work(name):
    with nvspan.annotate(name): await asyncio.sleep(0.001)
await asyncio.gather(work("a"), work("b"))
""",
    "awaited": "sorted(row['name'] for row in _nvspan.ranges.rows())",
    "profile": "%%nvspan --profile\ndef called(): pass\nfor _ in range(3): called()\n",
    "profiled": "sum('called' in row['name'] for row in _nvspan.ranges.rows())",
    "steps": """\
%%nvspan --steps
for i in range(6):
    with nvspan.annotate("step"):
        with nvspan.annotate("load"): pass
""",
    "no steps": "%%nvspan --steps\nwith nvspan.annotate('once'): pass",
    "capture": "%%nvspan\n%%capture caught\nprint('hidden')\n"
    "with nvspan.annotate('captured'): pass",
    "captured": "caught.stdout, [row['name'] for row in _nvspan.ranges.rows()]",
    "within": "%%capture caught\n%%nvspan\nwith nvspan.annotate('within'): pass",
    "nothing": "%%nvspan\n1 + 1",
    "nested": "%%nvspan\nget_ipython().run_cell_magic('nvspan', '', 'nvspan.mark(\"in\")')",
    "error": """\
%%nvspan
with nvspan.annotate("fails"):
    raise KeyError("in line 3")
""",
    "same error": """\
# in place of the magic
with nvspan.annotate("fails"):
    raise KeyError("in line 3")
""",
    "failed": "[row['name'] for row in _nvspan.ranges.rows()]",
    "syntax": "%%nvspan\n1 +\n",
    "option": "%%nvspan --profil\nprint('not run')",
    "keep": "%%nvspan -o KEPT\nnvspan.mark('kept')",
    "kept": "len(nvspan.read('KEPT').marks)",
    "unload": "%unload_ext nvspan",
    "gone": "get_ipython().find_cell_magic('nvspan')",
    "after": "with nvspan.annotate('after'): pass\n'still here'",
}
RUN = """
import nbclient, nbformat, sys
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(
    notebook, timeout=60, kernel_name="this", allow_errors=True
).execute()
nbformat.write(notebook, sys.argv[1])
"""


@functools.cache
def outputs(folder):
    """The outputs of each cell."""
    import nbformat

    kernels = folder / "kernels" / "this"
    kernels.mkdir(parents=True)
    spec = {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": "this", "language": "python"}  # fmt: skip
    (kernels / "kernel.json").write_text(json.dumps(spec))
    cells = [nbformat.v4.new_code_cell(text.replace("KEPT", str(folder / "kept.nvspan")))
             for text in CELLS.values()]  # fmt: skip
    path = folder / "notebook.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    run_plain(RUN, str(path), env={"JUPYTER_PATH": str(folder)}, timeout=120)
    ran = nbformat.read(path, as_version=4)
    return {name: cell.outputs for name, cell in zip(CELLS, ran.cells, strict=True)}


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    return outputs(tmp_path_factory.mktemp("notebook"))


def values(cell):
    return [output["data"]["text/plain"] for output in cell if "data" in output]


def html(cell):
    return [output["data"]["text/html"] for output in cell
            if "data" in output and "text/html" in output["data"]]  # fmt: skip


def stream(cell, name="stderr"):
    return "".join(output["text"] for output in cell if output.get("name") == name)


def test_a_cell_is_recorded_and_shown(notebook):
    value, shown = notebook["plain"]
    assert value["data"]["text/plain"] == "'a value'"
    (cell,) = html([shown])
    data = data_of(framed(cell))
    columns = ["name", "calls", "total", "self", "p50", "typical", "p99", "max", "share"]
    assert set(columns) <= set(data["columns"])
    assert [row[0] for row in data["rows"]] == ["outer", "inner"]
    assert values(notebook["recording"]) == ["['outer', 'inner']"]
    assert "<td>outer</td>" in html(notebook["table"])[0]
    assert notebook["before"] == []
    assert notebook["load"] == []


def test_await_profiles_steps_and_other_magics(notebook):
    assert values(notebook["awaited"]) == ["['a', 'b']"]
    assert values(notebook["profiled"]) == ["3"]
    assert len(html(notebook["steps"])) == 2
    assert "<th>load</th>" in html(notebook["steps"])[1]
    assert "no range repeats" in stream(notebook["no steps"])
    assert values(notebook["captured"]) == ["('hidden\\n', ['captured'])"]
    assert notebook["within"] == []
    assert "the cell has no ranges" in stream(notebook["nothing"])
    assert values(notebook["nothing"]) == ["2"]


def test_a_second_recording_at_once_is_refused_and_the_cell_runs(notebook):
    assert "the cell is not recorded: " in stream(notebook["nested"])


def test_an_error_is_that_of_the_cell(notebook):
    (failed,) = [output for output in notebook["error"] if output["output_type"] == "error"]
    (plain,) = notebook["same error"]
    assert (failed["ename"], failed["evalue"]) == (plain["ename"], plain["evalue"])
    arrows = [
        [line for line in ANSI.sub("", "\n".join(output["traceback"])).splitlines()
         if "-> " in line or line.startswith("KeyError")]
        for output in (failed, plain)
    ]  # fmt: skip
    assert arrows[0] == arrows[1]
    assert any(line.startswith('----> 3     raise KeyError("in line 3")') for line in arrows[0])
    assert values(notebook["failed"]) == ["['fails']"]
    (wrong,) = [output for output in notebook["syntax"] if output["output_type"] == "error"]
    assert wrong["ename"] == "SyntaxError"
    assert "unknown option '--profil'" in str(notebook["option"])
    assert "not run" not in stream(notebook["option"], "stdout")


def test_the_file_is_kept_and_the_magic_goes(notebook):
    assert values(notebook["kept"]) == ["1"]
    assert values(notebook["gone"]) == []
    assert values(notebook["after"]) == ["'still here'"]


def test_the_cell_is_drawn_in_a_browser(notebook, tmp_path):
    path = tmp_path / "cell.html"
    shown = html(notebook["plain"])[0]
    path.write_text(f'<!doctype html><meta charset="utf-8"><p>cell</p>{shown}', encoding="utf-8")
    with page() as tab:
        problems = []
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.goto(path.as_uri())
        tab.wait_for_timeout(500)
        assert tab.locator("iframe").bounding_box()["height"] > 700
        frame = tab.frame_locator("iframe")
        assert frame.locator(".strip").bounding_box()["height"] > 30
        assert frame.get_by_text("inner").count() >= 1
        assert problems == []


CELL_STATE = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  for (let i = 0; i < 4; i++) await frame();
  const pixels = canvas => {
    if (!canvas.width) return 0;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let seen = 0;
    for (let i = 3; i < data.length; i += 4) seen += data[i] > 200;
    return seen; };
  return {
    view: [nvspan.model.from / nvspan.model.whole, nvspan.model.to / nvspan.model.whole],
    query: nvspan.model.query,
    lanes: nvspan.timeline.lanes.map(lane => pixels(lane.canvas) > 0),
    flame: pixels(nvspan.icicle.canvas) > 0, zoomed: nvspan.icicle.focus !== nvspan.icicle.top,
    selected: nvspan.timeline.selected !== null }; }"""


def test_the_cells_of_a_notebook_are_apart_and_interactive(notebook, tmp_path):
    names = ("plain", "await", "profile", "steps", "table")
    shown = [html(notebook[name]) for name in names]
    path = tmp_path / "cells.html"
    cells = "".join(f"<div>{''.join(each)}</div>" for each in shown)
    path.write_text(f'<!doctype html><meta charset="utf-8">{cells}', encoding="utf-8")
    whole = {"view": [0, 1], "query": "", "flame": True, "zoomed": False, "selected": False}
    with page() as tab:
        problems = []
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.set_viewport_size({"width": 1000, "height": 4000})
        tab.goto(path.as_uri())
        frames = [frame for frame in tab.frames if frame != tab.main_frame]

        def states_of_cells():
            return [frame.evaluate(CELL_STATE) for frame in frames]

        states = states_of_cells()
        assert all(state.pop("lanes") for state in states)  # a profile may have other threads
        assert states == [whole] * 4
        assert all(all(state["lanes"]) for state in states_of_cells())
        ids = tab.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
        assert len(ids) == len(set(ids))
        # In one cell: zoom, search, select, and zoom into the flame graph.
        one = frames[1]
        one.locator(".strip .lane:not(.axis) canvas").first.click(position={"x": 8, "y": 8})
        tab.keyboard.press("w")
        one.locator("input[type=search]").first.fill("a")
        one.locator(".flame canvas").first.click(position={"x": 10, "y": 27})
        after = states_of_cells()
        assert after[1]["view"] == pytest.approx([0.2, 0.8])
        assert (after[1]["query"], after[1]["selected"], after[1]["zoomed"]) == ("a", True, True)
        for state in (after[0], *after[2:]):
            state.pop("lanes")
            assert state == whole
        assert tab.get_by_role("cell", name="outer", exact=True).count() == 1
        assert frames[0].get_by_role("cell", name="outer", exact=True).count() == 1
        assert problems == []
