# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What programs do with the objects and modules of the nvtx package beside annotating."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import subprocess
import sys
import weakref

import pytest

import nvspan
from helpers.events import plain
from helpers.traced import needs_library, run_command, run_plain, run_traced


def test_a_handle_is_a_tuple_for_isinstance():
    handle = nvspan.start_range("x", domain="d")
    assert isinstance(handle, tuple)
    assert isinstance(handle, nvspan.RangeHandle)
    assert type(handle) is nvspan.RangeHandle
    range_id, domain = handle
    assert (range_id, domain) == handle == tuple(handle) == (handle[0], handle[1])
    assert domain is nvspan.get_domain("d")
    nvspan.end_range(handle)


def test_a_range_ends_by_what_its_handle_unpacks_to():
    done = run_traced("""
import nvspan
for form in list, tuple, lambda pair: [pair[0], pair[1]]:
    nvspan.end_range(form(nvspan.start_range(f"{form.__name__}", domain="d")))
    nvspan.end_range([7, None])
for wrong in [], [1], [1, 2], ["1", None], [1, None, None], [-1, None], [2**64, None], {1: 2}:
    try: nvspan.end_range(wrong)
    except (TypeError, OverflowError) as error: print(type(error).__name__)
    else: print("ended", wrong)
""")
    assert plain(done.events) == [
        "start #1 [d] 'list'", "end #1 [d] 'list'", "start #2 [d] 'tuple'", "end #2 [d] 'tuple'",
        "start #3 [d] '<lambda>'", "end #3 [d] '<lambda>'",
    ]  # fmt: skip
    assert done.stdout.split() == ["TypeError"] * 5 + ["OverflowError"] * 2 + ["TypeError"]


ATTRIBUTES = """
import nvspan as nvtx
def use(tag):
    for _ in range(4):
        kept = nvtx.annotate("x", color="red")
        assert not hasattr(kept, "foo") and kept.__dict__ == {}, tag
        kept.foo = tag
        with kept: pass
        assert kept.foo == tag and vars(kept) == {"foo": tag}
        del kept.foo
        try: kept.foo
        except AttributeError as error: pass
        else: raise AssertionError
        kept.__dict__["bar"] = 1
        del kept
        with nvtx.annotate("x", color="red") as other: assert not hasattr(other, "bar")
        in_domain = nvtx.get_domain("d").annotate("y")
        in_domain.foo = 2
        with in_domain: pass
        del in_domain
use(1); use(2)
try: nvtx.annotate("x").kind = "span"
except AttributeError: print("read only")
domain = nvtx.get_domain("d")
domain.zz = 1
print(nvtx.get_domain("d").zz, nvtx.Domain("d").__dict__, hasattr(nvtx.get_domain("e"), "zz"))
"""


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_attributes_of_the_programs_own(run):
    done = run(ATTRIBUTES)
    assert done.stdout == "read only\n1 {'zz': 1} False\n"
    once = ["push [] 'x' depth=0", "pop [] 'x' depth=0", "push [] 'x' depth=0",
            "pop [] 'x' depth=0", "push [d] 'y' depth=0", "pop [d] 'y' depth=0"]  # fmt: skip
    assert plain(done.events) == (once * 8 if run is run_traced else [])


def test_an_attribute_that_leads_back_is_collected():
    class Owner:
        pass

    for _ in range(3):  # from then on the constructor gives out an annotation that it keeps
        nvspan.annotate("x")
    owner = Owner()
    owner.annotation = nvspan.annotate("x")
    owner.annotation.owner = owner
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_copies_and_pickles_leave_attributes_behind():
    annotation = nvspan.annotate("x", domain="d")
    annotation.foo = 1
    for other in (copy.copy(annotation), pickle.loads(pickle.dumps(annotation))):
        assert other.init_args == annotation.init_args
        assert not hasattr(other, "foo")


SUBCLASS = """
import nvspan as nvtx
class D(nvtx.Domain):
    kind = "mine"
    def __init__(self, name):
        super().__init__(name)
        self.calls = 0
    def mark(self, *args, **kwargs):
        self.calls += 1
        super().mark(*args, **kwargs)
class E(D): pass
d = D("lib")
assert type(d) is D and isinstance(d, nvtx.Domain) and D("lib") is d and d.calls == 0
assert type(E("lib")) is E and E("lib") is not d
assert type(nvtx.get_domain("lib")) is nvtx.Domain and nvtx.get_domain("lib") is nvtx.Domain("lib")
d.mark(message="m", category="c"); d.mark(message="n")
a = d.get_event_attributes("attributes", payload=3)
d.push_range(a); d.pop_range()
nvtx.get_domain("lib").mark(a); E("lib").mark(a)
with d.annotate("a"), nvtx.annotate("b", domain=d): pass
d.end_range(d.start_range(message="s"))
nvtx.end_range(nvtx.start_range("t", domain=d))
@d.annotate
def function(): pass
function()
same = d.get_category_id("c") == nvtx.get_domain("lib").get_category_id("c")
print(d.calls, d.name, repr(d), same)
import copy, gc, pickle
assert copy.copy(d) is d and pickle.loads(pickle.dumps(d)) is d
gc.collect()
class Gone(nvtx.Domain): pass
del Gone; gc.collect()
"""


@pytest.mark.parametrize("run", [run_plain, run_traced], ids=["no tool", "a tool"])
def test_a_subclass_of_domain(run, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(SUBCLASS)
    done = run(program)
    assert done.stdout == "2 lib nvspan.Domain('lib') True\n"
    expected = [
        "mark [lib] 'm' category=#1:c", "mark [lib] 'n'",
        "push [lib] 'attributes' payload=i64:3 depth=0", "pop [lib] 'attributes' depth=0",
        "mark [lib] 'attributes' payload=i64:3", "mark [lib] 'attributes' payload=i64:3",
        "push [lib] 'a' depth=0", "push [lib] 'b' depth=1", "pop [lib] 'b' depth=1",
        "pop [lib] 'a' depth=0", "start #1 [lib] 's'", "end #1 [lib] 's'", "start #2 [lib] 't'",
        "end #2 [lib] 't'", "push [lib] 'function' depth=0", "pop [lib] 'function' depth=0",
    ]  # fmt: skip
    assert plain(done.events) == (expected if run is run_traced else [])
    created = [event["domain"] for event in done.events if event["kind"] == "domain_create"]
    assert created == (["lib"] if run is run_traced else [])


def test_counter_semantics_are_a_dataclass():
    semantics = nvspan.CounterSemantics(unit="bytes", min=0)
    changed = dataclasses.replace(semantics, max=10, unit="s")
    assert changed == nvspan.CounterSemantics(unit="s", min=0, max=10)
    assert dataclasses.is_dataclass(semantics)
    assert dataclasses.is_dataclass(nvspan.CounterSemantics)
    names = [field.name for field in dataclasses.fields(semantics)]
    assert names == ["unit", "value_type", "interpolation", "min", "max", "unit_scale_numerator",
                     "unit_scale_denominator"]  # fmt: skip
    assert dataclasses.asdict(semantics)["unit"] == b"bytes"
    assert semantics.__replace__(min=1) == nvspan.CounterSemantics(unit="bytes", min=1)
    with pytest.raises(TypeError):
        dataclasses.replace(semantics, no_such_field=1)
    with pytest.raises(AttributeError):
        semantics.min = 1


NUMBERS = ["-1", "2**32", "2**63", "2**64", "-2**31 - 1", "-2**63 - 1"]
OUT_OF_RANGE = [
    "nvtx.mark('m', {})", "nvtx.annotate('m', {})", "nvtx.push_range('m', {})",
    "nvtx.start_range('m', {})", "d.mark(message='m', {})", "d.push_range(message='m', {})",
    "d.start_range(message='m', {})", "d.get_event_attributes('m', {})",
    "d.set_event_attributes(a, {})", "setattr(a, *'{}'.split('='))",
]  # fmt: skip


def test_numbers_out_of_range_overflow_as_they_do_in_the_peer():
    pytest.importorskip("nvtx")
    calls = [call.format(f"{field}={number}") for call in OUT_OF_RANGE[:-1] for number in NUMBERS
             for field in ("color", "category")]  # fmt: skip
    calls += [f"setattr(a, '{field}', {number})" for number in NUMBERS
              for field in ("color", "category")]  # fmt: skip
    calls += [f"nvtx.end_range(({number}, None))" for number in NUMBERS]
    calls += [f"d.end_range({number})" for number in NUMBERS]
    code = (
        "import MODULE as nvtx\nd = nvtx.get_domain('d')\na = d.get_event_attributes('m')\n"
        f"for call in {calls!r}:\n"
        "    try: eval(call)\n"
        "    except OverflowError: print('OverflowError', call)\n"
        "    else: print('fine', call)\n"
    )
    theirs = run_traced(code.replace("MODULE", "nvtx")).stdout
    assert theirs.count("OverflowError") > 120
    for run in (run_plain, run_traced):
        assert run(code.replace("MODULE", "nvspan")).stdout == theirs


def test_the_error_is_a_value_error_too():
    for wrong in ({"color": 2**32}, {"category": -1}):
        with pytest.raises(ValueError, match=r"outside 0\.\.0xFFFFFFFF") as caught:
            nvspan.mark("m", **wrong)
        assert caught.type is nvspan.NumberRangeError
        assert issubclass(caught.type, OverflowError)


NAMES = """
import MODULE as nvtx, sys, types
print("MODULE._lib" in sys.modules, "MODULE.nvtx" in sys.modules) if "MODULE" == "nvspan" else None
assert nvtx._lib.lib._to_bytes("gr\\xf6\\xdfe") == "gr\\xf6\\xdfe".encode()
assert nvtx._lib.lib._to_bytes(b"x") == b"x"
assert nvtx._lib.Domain is nvtx._lib.lib.Domain
union = ("typing.Union[int, float, list, tuple, range" if sys.version_info < (3, 14)
         else "int | float | list | tuple | range")
assert str(nvtx.nvtx.PayloadTypeAlias).startswith(union)
assert nvtx.nvtx.NVTX_DTYPE_METADATA_KEY_NAME == "nvidia_nvtx_payload_metadata"
assert nvtx.nvtx._get_domain_cached("d") is nvtx.get_domain("d")
nvtx.nvtx._get_domain_cached.cache_clear()
assert nvtx.nvtx.annotate is nvtx.annotate
assert isinstance(nvtx.nvtx, types.ModuleType) and isinstance(nvtx._lib, types.ModuleType)
from MODULE import nvtx as inner
assert inner.mark is nvtx.mark and "push_range" in dir(inner)
import MODULE.nvtx, MODULE._lib.lib
assert MODULE.nvtx is sys.modules["MODULE.nvtx"]
for module in nvtx.nvtx, nvtx._lib, nvtx._lib.lib:
    try: module.no_such_name
    except AttributeError: pass
    else: raise AssertionError
print("done")
"""


def test_names_of_the_inner_modules_without_importing_them():
    assert run_plain(NAMES.replace("MODULE", "nvspan")).stdout == "False False\ndone\n"
    pytest.importorskip("nvtx")
    assert run_plain(NAMES.replace("MODULE", "nvtx")).stdout == "done\n"
    as_nvtx = "import nvspan; nvspan.install_as_nvtx()\n" + NAMES.replace("MODULE", "nvtx")
    as_nvtx += "from nvtx._metadata import NVTX_DTYPE_METADATA_KEY_NAME\n"
    assert run_plain(as_nvtx).stdout == "done\n"


SCRIPT = """
import sys, sibling
def function(): sibling.work()
function()
print(__name__, sys.argv[1:], sys.path[0] == sys.argv[0].rpartition("/")[0])
sys.exit(3)
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "sibling.py").write_text("def work(): len('')\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    return str(tmp_path / "script.py")


def profiled(script, *options, below=False):
    command = [sys.executable, "-m", "nvspan", "--as-nvtx"]
    if below:
        code = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, *sys.argv[1:]]))"
        command += ["-c", code]
    command += ["-m", "nvtx", *options, script, "--epochs", "3"]
    done = run_command(command, check=False)
    assert done.stdout == "__main__ ['--epochs', '3'] True\n", done.stderr
    assert done.returncode == 3
    return plain(done.events)


@needs_library
@pytest.mark.parametrize("below", [False, True], ids=["in this process", "in a process below"])
def test_python_m_nvtx_profiles_a_script(script, below):
    opened = [
        line.replace("push [nvtx.py] ", "").rpartition(" ")[0]
        for line in profiled(script, below=below)
        if line.startswith("push")
    ]
    # importlib's own functions lie between
    names = [name for name in opened if name.startswith(("'script.py", "'sibling.py"))]
    assert names == [
        "'script.py:1(<module>)'", "'sibling.py:1(<module>)'", "'script.py:3(function)'",
        "'sibling.py:1(work)'",
    ]  # fmt: skip


@needs_library
def test_options_of_python_m_nvtx(script):
    events = profiled(script, "--no-linenos", "--annotate-cfuncs")
    assert "push [nvtx.py] 'function' depth=1" in events
    assert "push [nvtx.py] 'len' depth=3" in events
    command = [sys.executable, "-m", "nvspan", "--as-nvtx", "-m", "nvtx"]
    for words, status, text in (
        (["--help"], 0, "usage: python -m nvtx"),
        ([], 2, "no script to run"),
        (["--wrong", script], 2, "no such option: --wrong"),
    ):
        done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
        assert (done.returncode, text in done.stdout + done.stderr) == (status, True)
