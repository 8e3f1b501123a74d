# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan.torch.nvtx: the functions of torch.cuda.nvtx, event by event."""

from __future__ import annotations

import gc
import inspect
import weakref

import pytest

import nvspan
from helpers.events import lines, plain
from helpers.traced import run_plain, run_traced
from nvspan.torch import nvtx


def traced(body):
    return run_traced("import nvspan\nfrom nvspan.torch import nvtx\n" + body)


def test_push_and_pop_return_the_depth():
    done = traced("""
print(nvtx.range_push("a"), nvtx.range_push(msg="b"), nvtx.range_push("other", domain="lib"))
with nvspan.annotate("c", color="red"):
    print(nvtx.range_push("d"), nvtx.range_pop())
print(nvtx.range_pop(domain="lib"), nvtx.range_pop(), nvtx.range_pop())
print(nvtx.range_pop(domain="lib"))
""")
    assert done.stdout == "0 1 0\n3 3\n0 1 0\n-1\n"
    assert lines(done.events) == [
        "push [] 'a' depth=0",
        "push [] 'b' depth=1",
        "push [lib] 'other' depth=0",
        "push [] 'c' color=00FF0000 depth=2",
        "push [] 'd' depth=3",
        "pop [] 'd' depth=3",
        "pop [] 'c' depth=2",
        "pop [lib] 'other' depth=0",
        "pop [] 'b' depth=1",
        "pop [] 'a' depth=0",
        "pop [lib] - depth=-1",
    ]


def test_every_attribute():
    done = traced("""
keywords = dict(domain="lib", color="red", category="io", payload=7)
nvtx.range_push("push", **keywords)
nvtx.range_pop(domain="lib")
handle = nvtx.range_start("start", **keywords)
nvtx.range_end(handle, domain="lib")
nvtx.mark("mark", **keywords)
with nvtx.range("range", **keywords):
    pass
with nvtx.range("range {} {n}", 1, n=2, **keywords):
    pass
nvtx.range_end(nvtx.range_start("plain"))
nvtx.range_end(range_id=0)
""")
    rest = "color=00FF0000 category=#1:io payload=i64:7"
    assert lines(done.events) == [
        f"push [lib] 'push' {rest} depth=0",
        "pop [lib] 'push' depth=0",
        f"start #1 [lib] 'start' {rest}",
        "end #1 [lib] 'start'",
        f"mark [lib] 'mark' {rest}",
        f"push [lib] 'range' {rest} depth=0",
        "pop [lib] 'range' depth=0",
        f"push [lib] 'range 1 2' {rest} depth=0",
        "pop [lib] 'range 1 2' depth=0",
        "start #2 [] 'plain'",
        "end #2 [] 'plain'",
    ]


def test_range_formats_as_torch_does():
    done = traced("""
with nvtx.range("plain"):
    pass
with nvtx.range("{{}}"):
    pass
with nvtx.range("{} and {name!r:>4}", 1, name="x"):
    pass
with nvtx.range("{}{}{}{}{}{}", *"abcdef"):
    pass
with nvtx.range("no braces", 1):
    pass

@nvtx.range("call {}", 5)
def function(x):
    return x + 1

@nvtx.range("plain call")
def other(x):
    return x + 1

print(function(1), function(2), other(1), function.__name__)
kept = nvtx.range("kept {}", 1)
with kept:
    with kept:
        pass
try:
    with kept:
        raise ValueError
except ValueError:
    pass
""")
    assert done.stdout == "2 3 2 function\n"
    names = ["plain", "{}", "1 and  'x'", "abcdef", "no braces", "call 5", "call 5", "plain call"]
    expected = [f"{kind} [] {name!r} depth=0" for name in names for kind in ("push", "pop")]
    assert plain(done.events) == [
        *expected,
        "push [] 'kept 1' depth=0",
        "push [] 'kept 1' depth=1",
        "pop [] 'kept 1' depth=1",
        "pop [] 'kept 1' depth=0",
        "push [] 'kept 1' depth=0",
        "pop [] 'kept 1' depth=0",
    ]


def test_a_message_that_cannot_be_formatted_is_shown_as_it_is():
    done = traced("""
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        with nvtx.range("missing {} {}", 1):
            pass
print([str(each.message) for each in caught])
""")
    assert done.stdout == ("""["the message 'missing {} {}' of a range cannot be formatted"]\n""")
    assert (
        plain(done.events)
        == ["push [] 'missing {} {}' depth=0", "pop [] 'missing {} {}' depth=0"] * 2
    )


def test_nothing_is_formatted_while_nobody_listens():
    class Refusing:
        def __format__(self, spec):
            raise AssertionError("formatted")

    with nvtx.range("x {}", Refusing()):
        pass
    with nvtx.range("x {a}", a=Refusing(), payload=1):
        pass
    assert nvtx.range_start("x") == 0
    assert [nvtx.range_push("a"), nvtx.range_push("b"), nvtx.range_pop(), nvtx.range_pop()] == [
        0, 1, 1, 0,
    ]  # fmt: skip
    assert nvtx.range_pop() == -1
    handle = nvtx.device_range_start("device", payload=1)
    nvtx.device_range_end(handle)
    nvtx._device_range_end(nvtx._device_range_start("device", 0), 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nvtx.range_push(), "missing 1 required argument: 'msg'"),
        (lambda: nvtx.range_push(5), "message must be"),
        (lambda: nvtx.range_push("a", 1), "takes at most 1 positional"),
        (lambda: nvtx.range_push("a", text=1), "unexpected keyword argument 'text'"),
        (lambda: nvtx.range_pop(1), "takes 0 positional arguments"),
        (lambda: nvtx.range_pop(name=1), "unexpected keyword argument 'name'"),
        (lambda: nvtx.range(5), "msg must be a str"),
        (lambda: nvtx.range("{}", 1, color=[]), "color"),
        (lambda: nvtx.range_end("x"), "range_id must be an int"),
        (lambda: nvtx.range_end(), "range_id must be an int"),
        (lambda: nvtx.mark(), "missing 1 required argument: 'msg'"),
    ],
)
def test_wrong_calls_raise_without_a_tool_too(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_the_arguments_of_a_range_are_released():
    class Argument:
        pass

    argument = Argument()
    gone = weakref.ref(argument)
    argument.range = nvtx.range("{} {}", argument, 1)
    del argument
    gc.collect()
    assert gone() is None
    before = gc.get_count()
    many = [nvtx.range("{} {} {} {} {}", i, 2, 3, 4, 5) for i in range(200)]
    assert repr(many[0]) == "range('{} {} {} {} {}')"
    del many, before


def test_signatures():
    for name in ("range_push", "range_start", "mark"):
        assert str(inspect.signature(getattr(nvtx, name))) == (
            "(msg, *, domain=None, color=None, category=None, payload=None)"
        )
        assert getattr(nvtx, name).__module__ == "nvspan.torch.nvtx"
    assert nvspan.annotate is type(nvtx.range("plain"))


FIELDS = """
color = "not a color"
with nvtx.range("{color} {domain:>4} {category!r} {payload.real}", color=color, domain="d",
                category=[1], payload=1j): pass
with nvtx.range("{color[0]} {{domain}} {x:{payload}}", color=["c"], domain="lib", x=1, payload=3):
    pass
with nvtx.range("{colors} { color}", colors=1, color="red", **{" color": 2}): pass
@nvtx.range("{domain} {n}", n=1, domain={"not": "a domain"}, color="green")
def function(): pass
function()
for wrong in {"color": "no such"}, {"domain": 1.5}:
    try: nvtx.range("{x}", x=1, **wrong)
    except (ValueError, TypeError) as error: print(type(error).__name__)
"""


def test_a_field_that_the_message_names_is_for_the_message_alone():
    done = traced(FIELDS)
    assert lines(done.events) == [
        "push [] 'not a color    d [1] 0.0' depth=0", "pop [] 'not a color    d [1] 0.0' depth=0",
        "push [lib] 'c {domain}   1' depth=0", "pop [lib] 'c {domain}   1' depth=0",
        "push [] '1 2' color=00FF0000 depth=0", "pop [] '1 2' depth=0",
        "push [] \"{'not': 'a domain'} 1\" color=00008000 depth=0",
        "pop [] \"{'not': 'a domain'} 1\" depth=0",
    ]  # fmt: skip
    assert done.stdout == "TypeError\n"  # an unknown color is blue, as with nvtx


PATCHED = """
from torch.cuda import nvtx as before
from torch.cuda.nvtx import range_push as push_before, range_pop as pop_before, mark as mark_before
import torch
from nvspan.torch import nvtx as ours
originals = {name: getattr(before, name) for name in before.__all__}
ours.patch()
ours.patch()
print(before.range_push("third party"), before.range_pop())
with torch.cuda.nvtx.range("step {}", 1):
    pass
print(push_before("imported before"), pop_before())
mark_before("mark")
handle = before._device_range_start("phase")
before._device_range_end(handle)
before.range_end(before.range_start("start"))

import torch._dynamo
from torch._dynamo.testing import CompileCounter

def function(x):
    torch.cuda.nvtx.range_push("compiled")
    with torch.cuda.nvtx.range("compiled {}", 1), ours.range("x"):
        x = x * 2
    torch.cuda.nvtx.mark("compiled")
    torch.cuda.nvtx.range_end(ours.range_start("compiled"))
    torch.cuda.nvtx.range_pop()
    return x.sin()

backend = CompileCounter()
compiled = torch.compile(function, backend=backend, fullgraph=True)
x = torch.ones(3)
assert torch.equal(compiled(x), (x * 2).sin())
print(backend.frame_count, backend.op_count)
ours.unpatch()
assert originals == {name: getattr(before, name) for name in before.__all__}
ours.unpatch()
"""


def test_patch_is_for_everybody():
    pytest.importorskip("torch", reason="torch is not installed")
    done = run_traced(PATCHED)
    assert done.stdout == "0 0\n0 0\n1 2\n"
    assert plain(done.events) == [
        "push [] 'third party' depth=0",
        "pop [] 'third party' depth=0",
        "push [] 'step 1' depth=0",
        "pop [] 'step 1' depth=0",
        "push [] 'imported before' depth=0",
        "pop [] 'imported before' depth=0",
        "mark [] 'mark'",
        "start #1 [] 'start'",
        "end #1 [] 'start'",
    ]


# As MONAI and others reach torch's extension module, and as the functions of torch.cuda.nvtx do.
DIRECT = """
import importlib, sys
SETUP
from nvspan.torch import nvtx as ours
ours.patch()
ours.patch()
import torch
from torch._C import _nvtx
from torch._C._nvtx import markA
assert importlib.import_module("torch._C._nvtx") is _nvtx is torch._C._nvtx is held or held is None
_nvtx.rangePushA("push")
torch.cuda.nvtx.range_push("inner"); torch._C._nvtx.rangePop()
_nvtx.rangePop()
markA("mark")
_nvtx.rangeEnd(_nvtx.rangeStartA("start"))
_nvtx.deviceRangeEnd(_nvtx.deviceRangeStart("device", 0), 0)
ours.unpatch()
ours.unpatch()
print(getattr(torch._C, "_nvtx", None) is held, sys.modules.get("torch._C._nvtx") is held)
END
"""
OF_DIRECT = [
    "push [] 'push' depth=0", "push [] 'inner' depth=1", "pop [] 'inner' depth=1",
    "pop [] 'push' depth=0", "mark [] 'mark'", "start #1 [] 'start'", "end #1 [] 'start'",
]  # fmt: skip

# A build with CUDA has the module, which torch.cuda.nvtx imports.
MODULE_OF_TORCH = """
import torch, types
if not hasattr(torch._C, "_nvtx"):
    made = types.ModuleType("torch._C._nvtx")
    for name in ("rangePushA rangePop rangeStartA rangeEnd markA deviceRangeStart "
                 "deviceRangeEnd").split():
        setattr(made, name, lambda *args, name=name: print("torch's", name))
    torch._C._nvtx = sys.modules["torch._C._nvtx"] = made
    del sys.modules["torch.cuda.nvtx"]
import torch.cuda.nvtx
held = torch._C._nvtx
assert torch.cuda.nvtx._nvtx is held
"""


def test_patch_reaches_the_extension_module_of_a_build_with_cuda():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    end = "held.markA('m'); torch.cuda.nvtx.mark('m'); held.rangePushA('p'); held.rangePop()"
    done = run_traced(DIRECT.replace("SETUP", MODULE_OF_TORCH).replace("END", end))
    if hasattr(torch._C, "_nvtx"):
        # torch's own reach the tool as well.
        assert done.stdout == "True True\n"
        last = ["mark [] ascii:'m'"] * 2 + ["push [] ascii:'p' depth=0", "pop [] ascii:'p' depth=0"]
        assert plain(done.events) == OF_DIRECT + last
    else:
        after = ["markA", "markA", "rangePushA", "rangePop"]
        assert done.stdout == "True True\n" + "".join(f"torch's {name}\n" for name in after)
        assert plain(done.events) == OF_DIRECT


def test_patch_provides_the_extension_module_to_a_build_without_cuda():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if hasattr(torch._C, "_nvtx"):
        pytest.skip("this torch is built with CUDA")
    end = """
try: from torch._C import _nvtx
except ImportError: print("gone")
try: importlib.import_module("torch._C._nvtx")
except ImportError: print("gone")
try: torch.cuda.nvtx.mark("m")
except RuntimeError as error: print(str(error).split(".")[0])
"""
    done = run_traced(DIRECT.replace("SETUP", "held = None").replace("END", end))
    assert done.stdout.startswith("True True\ngone\ngone\nNVTX functions not installed")
    assert plain(done.events) == OF_DIRECT


def test_a_name_that_somebody_replaced_since_is_left_alone():
    pytest.importorskip("torch", reason="torch is not installed")
    done = run_traced("""
import torch
from nvspan.torch import nvtx
nvtx.patch()
mine = lambda msg: print("mine", msg)
torch._C._nvtx.markA = torch.cuda.nvtx.mark = mine
kept = torch._C._nvtx
nvtx.unpatch()
torch.cuda.nvtx.mark("m"); kept.markA("n")
nvtx.patch(); torch.cuda.nvtx.mark("ours"); nvtx.unpatch()
print(torch.cuda.nvtx.mark is mine)
""")
    assert done.stdout == "mine m\nmine n\nTrue\n"
    assert plain(done.events) == ["mark [] 'ours'"]


COMPILED = """
import torch, torch._dynamo
from torch.cuda.nvtx import range_push as push_before, range_pop as pop_before, mark as mark_before
from torch._dynamo.testing import CompileCounter
from nvspan.torch import nvtx as ours
ours.patch()
from torch._C import _nvtx

def function(x):
    torch.cuda.nvtx.range_push("a")
    depth = _nvtx.rangePushA("b")
    x = x * 2 + depth
    torch._C._nvtx.rangePop()
    _nvtx.markA("c")
    _nvtx.rangeEnd(_nvtx.rangeStartA("d"))
    return x.sin() + torch.cuda.nvtx.range_pop()

x = torch.ones(3)
backend = CompileCounter()
compiled = torch.compile(function, backend=backend, fullgraph=True)
assert torch.equal(compiled(x), (x * 2).sin()) and torch.equal(compiled(x), (x * 2).sin())
print(backend.frame_count, backend.op_count)
torch.cuda.nvtx.mark("outside"); _nvtx.markA("outside")
function(x)

def mark_imported_before(x):
    x = x * 2
    mark_before("before")
    return x.sin()

def push_imported_before(x):
    x = x * 2
    push_before("before")
    x = x.sin()
    pop_before()
    return x

for function in mark_imported_before, push_imported_before:
    backend = CompileCounter()
    assert torch.equal(torch.compile(function, backend=backend)(x), (x * 2).sin())
    print(backend.frame_count, backend.op_count)

def after(x):
    torch.cuda.nvtx.range_push("after")
    return x * 2

backend = CompileCounter()
compiled = torch.compile(after, backend=backend)
compiled(x)
ours.unpatch()
calls = []
torch.cuda.nvtx.range_push = calls.append
compiled(x)
print(calls, backend.frame_count)
"""


def test_patched_functions_in_a_compiled_region():
    """They are dropped there, no break. Of those that were imported by name before, torch puts
    a mark into the graph, and breaks it at a push or pop. After unpatch() it traces again."""
    pytest.importorskip("torch", reason="torch is not installed")
    done = run_traced(COMPILED)
    assert done.stdout == "1 4\n1 3\n2 2\n['after'] 2\n"
    events = plain(done.events)
    assert events[:9] == [
        "mark [] 'outside'", "mark [] 'outside'",
        "push [] 'a' depth=0", "push [] 'b' depth=1", "pop [] 'b' depth=1", "mark [] 'c'",
        "start #1 [] 'd'", "end #1 [] 'd'", "pop [] 'a' depth=0",
    ]  # fmt: skip
    # torch calls what it does not know to be nvspan's while it traces, and again when it runs.
    before = [line.partition(" depth")[0] for line in events[9:]]
    assert set(before) == {"mark [] 'before'", "push [] 'before'", "pop [] 'before'"}
    assert before.count("push [] 'before'") == before.count("pop [] 'before'")


INDUCTOR = """
import torch
import torch._inductor.config as config
from nvspan.torch import nvtx
nvtx.patch()
calls = []
start = torch.cuda.nvtx._device_range_start
def counted(*args, **kwargs):
    calls.append(args)
    return start(*args, **kwargs)
torch.cuda.nvtx._device_range_start = counted
config.annotate_training = True
model = torch.nn.Linear(4, 4)
compiled = torch.compile(model)
compiled(torch.ones(2, 4)).sum().backward()
print(sorted(name for name, in calls))
"""


@pytest.mark.slow
def test_inductor_annotates_training_through_the_patch():
    pytest.importorskip("torch", reason="torch is not installed")
    config = pytest.importorskip("torch._inductor.config")
    if not hasattr(config, "annotate_training"):
        pytest.skip("this torch has no annotate_training")
    assert run_plain(INDUCTOR).stdout == "['backward', 'forward']\n"
