# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""configure(emit=("nvtx", "torch")): what torch's profiler sees beside what a tool is told."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest

import nvspan
from helpers.loops import by_case, signs
from helpers.traced import run_plain, run_traced

torch = pytest.importorskip("torch", reason="torch is not installed")

PROGRAM = Path(__file__).with_name("programs") / "emit_torch.py"

# Of each case: all that a tool is told, and what each of its profilers has seen.
EXPECTED = {
    "kinds_of_ranges": (
        "+with  +kept  +kept  +decorated  .inside  -decorated  +method  -method  -kept  -kept  "
        "-with  +pushed  -pushed  +by domain  .mark  -by domain  +torch's push  -torch's push  "
        "+torch's range  .torch's mark  -torch's range  +on a stack  -on a stack  "
        "+from a callable  -from a callable",
        "with(kept(kept(decorated(inside) lib:method))) pushed lib:by domain(lib:mark) "
        "torch's push torch's range(torch's mark) on a stack from a callable",
    ),
    "names": (
        f'+é漢  +{"x" * 3000}  -{"x" * 3000}  -é漢  +  .  -  +a "quoted" name  +two\r\nlines  '
        '-two\r\nlines  -a "quoted" name',
    ),
    "recursion": ("+again  " * 4 + "-again  -again  -again  -again", "again(again(again(again)))"),
    "open_at_both_ends": (
        "+around  +inner  +pushed  +between  -between  +in the second  -in the second  -pushed  "
        "-inner  +after  -after  -around",
        "inner(lib:pushed)",
        "in the second after",
    ),
    "switched_off": ("+lib is off  -lib is off  .on", "lib is off on"),
    "closed_while_off": ("+outer  -outer  +next  -next", "outer next"),
    "interleaved_domains": ("+one  +two  -one  .one is closed  -two  .both are closed  -",),
    "what_nests_in_no_thread": (
        "<started  >started  +in a generator  -in a generator  "
        "<in a coroutine  >in a coroutine  <span  >span",
        "in a generator",
    ),
    "exceptions": (
        "+raises  +decorated  .inside  -decorated  -raises  +after  -after",
        "raises(decorated(inside)) after",
    ),
    "configured_meanwhile": (
        "+before  +emitted  +decorated  .inside  -decorated  -emitted  -before  +again  -again",
        "emitted again",
    ),
    "scheduled": ("  ".join(f"+step {i}  -step {i}" for i in range(6)), "step 2 step 3"),
    "threads_of_one_profile": (
        "+main  +in a thread  -main  -in a thread  +after  -after",
        "in a thread | main",
        "after",
    ),
    "backward_and_modules": (
        "+step  +Sequential  +0  -0  +1  -1  -Sequential  "
        "<Sequential  <1  >1  <0  >0  >Sequential  -step",
        "step(torch:Sequential(torch:0 torch:1))",
    ),
    "check_mode": (
        "+around  +outer  +decorated  .inside  -decorated  -outer  -around  +after  -after",
        "lib:outer(decorated(inside))",
    ),
    "fork": ("+parent  +child  -child  -parent", "parent"),
}


def seen(stdout):
    return {name: tuple(found) for name, found in map(json.loads, stdout.splitlines())}


def test_with_a_tool():
    done = run_traced(PROGRAM)
    told = by_case(done.events, lambda events: "  ".join(signs(events)))
    assert told == {name: expected[0] for name, expected in EXPECTED.items()}
    assert seen(done.stdout) == {name: expected[1:] for name, expected in EXPECTED.items()}


def test_without_a_tool():
    done = run_plain(PROGRAM)
    assert seen(done.stdout) == {name: expected[1:] for name, expected in EXPECTED.items()}


@pytest.mark.filterwarnings("ignore:torch was imported before the recording")
# torch 2.11 says so of every profile
@pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")
def test_torch_was_first_and_a_tool_comes_and_goes(tmp_path):
    from torch.profiler import ProfilerActivity, profile

    file = tmp_path / "late.nvspan"
    nvspan.configure(emit=("nvtx", "torch"))
    try:
        with profile(activities=[ProfilerActivity.CPU]) as prof:
            with nvspan.annotate("around"):
                with nvspan.record(file), nvspan.annotate("recorded"):
                    pass
                with nvspan.annotate("between"):
                    pass
            begun = nvspan.device_stats()["begun"]
            with nvspan.device_range("nobody times this"):
                pass
            assert nvspan.device_stats()["begun"] == begun
    finally:
        nvspan.configure(emit=("nvtx",))
    found = [(event.name, len(event.cpu_children)) for event in prof.events()]
    assert found == [("around", 0), ("recorded", 0), ("between", 0)]
    assert [row.name for row in nvspan.read(str(file)).stats().rows] == ["recorded"]


def test_the_environment():
    code = "import nvspan, sys; print(nvspan._core.torch_emit_enabled(), 'torch' in sys.modules)"
    assert run_plain(code, env={"NVSPAN_EMIT": "nvtx, torch"}).stdout == "True False\n"
    assert run_plain(code, env={"NVSPAN_EMIT": "nvtx"}).stdout == "False False\n"


def test_nothing_where_annotations_are_disabled_for_good():
    code = """
import nvspan
from nvspan import _core
_core.torch_profiler_started(object)
assert not nvspan.is_active()
with nvspan.annotate("x"):
    pass
"""
    done = run_plain(code, env={"NVSPAN_EMIT": "nvtx,torch", "NVTX_DISABLE": "1"})
    assert done.stderr == ""


def test_an_environment_that_cannot_be_read():
    done = run_plain("import nvspan; print('on')", env={"NVSPAN_EMIT": "torch,ittx"})
    assert done.stdout == "on\n"
    assert "NVSPAN_EMIT: cannot read 'torch,ittx'; it is ignored" in done.stderr


@pytest.mark.parametrize("emit", ["torch", b"nvtx", 3])
def test_emit_of_another_type(emit):
    with pytest.raises(TypeError):
        nvspan.configure(emit=emit)


@pytest.mark.parametrize("emit", [(), ("torch",), ("nvtx", "itt"), ("nvtx", 1)])
def test_emit_of_another_value(emit):
    with pytest.raises(ValueError, match="emit must"):
        nvspan.configure(emit=emit)


class FakeTorch:
    """Modules of torch that the test tells what is active, with record functions that may fail."""

    def __init__(self):
        self.active = None
        self.entered = []
        outer = self

        class RecordFunction:
            def __init__(self, name):
                self.name = name

            def __enter__(self):
                outer.entered.append(self.name)
                if self.name.startswith("fails"):
                    raise OSError(self.name)

            def __exit__(self, *exc):
                outer.entered.append("left " + self.name)

        self.profiler = types.ModuleType("torch.autograd.profiler")
        self.profiler._enable_profiler = lambda kind: setattr(self, "active", kind)
        self.profiler._disable_profiler = lambda: setattr(self, "active", None)
        self.profiler._is_profiler_enabled = False
        self.c = types.SimpleNamespace(
            _profiler=types.SimpleNamespace(
                _RecordFunctionFast=RecordFunction,
                ActiveProfilerType=types.SimpleNamespace(NVTX="nvtx"),
            ),
            _autograd=types.SimpleNamespace(_profiler_type=lambda: self.active),
        )


@pytest.fixture
def fake(monkeypatch):
    from nvspan._runtime import configure
    from nvspan.torch._support import profiler

    made = FakeTorch()
    profiler._wrap(made.profiler, made.c)
    monkeypatch.setattr(configure, "_followed", {"torch"})
    nvspan.configure(emit=("nvtx", "torch"))
    yield made
    nvspan.configure(emit=("nvtx",))


def test_torch_emits_to_nvtx_itself(fake):
    fake.profiler._enable_profiler("nvtx")
    with nvspan.annotate("would be there twice"):
        assert not nvspan.is_active()
    fake.profiler._disable_profiler()
    assert fake.entered == []


def test_profilers_in_two_threads(fake):
    fake.profiler._enable_profiler("kineto")
    fake.profiler._enable_profiler("kineto")
    fake.profiler._disable_profiler()
    with nvspan.annotate("one is left"):
        pass
    fake.profiler._disable_profiler()
    with nvspan.annotate("none is left"):
        pass
    assert fake.entered == ["one is left", "left one is left"]


def test_a_record_function_that_fails(fake):
    fake.profiler._enable_profiler("kineto")
    with pytest.warns(nvspan.NvspanWarning, match="record function failed"):
        nvspan.push_range("fails")
    nvspan.push_range("works")
    nvspan.pop_range()
    nvspan.pop_range()
    fake.profiler._disable_profiler()
    assert fake.entered == ["fails", "works", "left works"]


def test_another_torch(monkeypatch):
    from nvspan.torch._support import profiler

    monkeypatch.setattr(profiler, "_registered", False)
    monkeypatch.setitem(sys.modules, "torch.autograd.profiler", types.ModuleType("another"))
    with pytest.warns(nvspan.NvspanWarning, match="cannot follow the profilers of this torch"):
        profiler.register()
    profiler.register()
