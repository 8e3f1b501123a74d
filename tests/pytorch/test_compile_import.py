# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Registration with torch.compile: in any order of imports, from any thread, and where it fails."""

from __future__ import annotations

import pytest

from helpers.traced import run_plain

pytest.importorskip("torch", reason="torch is not installed")

FRESH = True
CHECK = """
import sys
from nvspan.torch._compile import register
from torch._dynamo.testing import CompileCounter
finders = [each for each in sys.meta_path if type(each).__module__ == "nvspan._runtime.registry"]
assert register.is_registered() and not register.problems() and not finders, register.problems()

def function(x):
    with nvspan.annotate("x"):
        return x * 2

backend = CompileCounter()
compiled = torch.compile(function, backend=backend, fullgraph=True)
assert torch.equal(compiled(torch.ones(3)), torch.full((3,), 2.0))
assert backend.op_count == 1
print("right")
"""

ORDERS = {
    "nvspan, torch": "import nvspan, torch",
    "torch, nvspan": "import torch, nvspan",
    "dynamo, nvspan": "import torch._dynamo, nvspan",
    "nvspan, dynamo": "import nvspan, torch._dynamo",
    "nvspan.torch first": "import nvspan.torch, torch",
    "nvspan in the middle of dynamo": """
import sys
class Once:
    def find_spec(self, name, path=None, target=None):
        if name == "torch._dynamo.eval_frame":
            sys.meta_path.remove(self)
            assert sys.modules["torch._dynamo"].__spec__._initializing
            import nvspan
sys.meta_path.insert(0, Once())
import torch._dynamo
assert "nvspan" in sys.modules
import nvspan, torch
import wave  # any import that is not in sys.modules yet
""",
    "eight threads": """
import nvspan, threading
gate = threading.Barrier(8)
def load():
    gate.wait()
    import torch._dynamo
threads = [threading.Thread(target=load) for _ in range(8)]
[each.start() for each in threads]
[each.join() for each in threads]
import torch
""",
    "importlib, and a look before": """
import nvspan, importlib, importlib.util
assert importlib.util.find_spec("torch._dynamo").loader is not None
importlib.import_module("torch._dynamo")
import torch
""",
    "a finder that asks the others": """
import sys
class Asking:
    busy = False
    def find_spec(self, name, path=None, target=None):
        if name != "torch._dynamo" or self.busy:
            return None
        self.busy = True
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
sys.meta_path.insert(0, Asking())
import nvspan
sys.meta_path.insert(0, Asking())
import torch._dynamo
import torch
""",
}


FAST = {"nvspan, torch", "torch, nvspan", "nvspan in the middle of dynamo"}


@pytest.mark.parametrize(
    "order",
    [pytest.param(order, marks=[pytest.mark.slow] * (order not in FAST)) for order in ORDERS],
)
def test_every_order_of_imports(order):
    assert run_plain(ORDERS[order] + CHECK).stdout == "right\n"


def test_neither_nvspan_nor_nvspan_torch_imports_torch():
    code = """
import sys
before = set(sys.modules)  # an environment may import typing at the start
import nvspan, nvspan.torch
made = set(sys.modules) - before
print('torch' in made, 'typing' in made)
"""
    assert run_plain(code).stdout == "False False\n"


def test_where_dynamo_differs_annotations_break_the_graph_and_one_warning_says_so():
    program = """
import sys
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name == "nvspan.torch._compile.ranges":
            raise ImportError("cannot import name 'NullContextVariable'")
sys.meta_path.insert(0, Lacking())
import warnings
import nvspan
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import torch, torch._dynamo
ours = [str(each.message) for each in caught if issubclass(each.category, nvspan.NvspanWarning)]
assert len(ours) == 1, ours
assert "annotations may break graphs there" in ours[0] and "NullContextVariable" in ours[0]
kept = nvspan.annotate("kept")

@nvspan.annotate("decorated")
def decorated(x):
    return x * 2

def function(x):
    with nvspan.annotate("x") as r:
        y = x * 2
    with kept, nvspan.get_domain("lib").annotate("d"):
        y = decorated(y)
    nvspan.mark("m")
    return y.sin() if isinstance(r, nvspan.annotate) else y

x = torch.ones(3)
compiled = torch.compile(function, backend="eager")
assert torch.equal(compiled(x), (x * 4).sin())
assert torch.equal(compiled(x), (x * 4).sin())
print("right")
"""
    assert run_plain(program).stdout == "right\n"


@pytest.mark.slow
def test_where_dynamo_differs_and_warnings_are_errors_the_import_goes_on():
    program = """
import sys
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name == "nvspan.torch._compile.ranges":
            raise ImportError("no such name")
sys.meta_path.insert(0, Lacking())
import warnings
import nvspan, torch
warnings.simplefilter("error", nvspan.NvspanWarning)
import torch._dynamo
print("right")
"""
    done = run_plain(program)
    assert done.stdout == "right\n"
    assert "annotations may break graphs" in done.stderr


def test_a_tool_that_attaches_after_compilation():
    """Decorated functions have other code from then on: traced again, and right."""
    program = """
import nvspan, torch, sys
from torch._dynamo.testing import CompileCounter

@nvspan.annotate("decorated")
def decorated(x):
    return x * 2

def function(x):
    with nvspan.annotate("x"):
        return decorated(x).sin()

backend = CompileCounter()
compiled = torch.compile(function, backend=backend, fullgraph=True)
x = torch.ones(3)
for round in range(3):
    assert torch.equal(compiled(x), (x * 2).sin())
    with nvspan.trace("/dev/null"):
        assert torch.equal(compiled(x), (x * 2).sin())
print(backend.frame_count)
"""
    assert run_plain(program).stdout == "2\n"
