# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`nvspan.torch.sample_graph`: which replays are sampled, and what a recording has of them.

torch and the driver are played by what makes their calls of CUPTI.
"""

from __future__ import annotations

import pytest

from helpers.fake_cupti import run_recorded
from helpers.traced import needs_library

pytestmark = needs_library

TORCH = """
import types, warnings
launches = []  # "main" or "sample", one for each replay
waits = []
class Stream:
    def __init__(self, number): self.cuda_stream = number
    def wait_stream(self, other): waits.append((self.cuda_stream, other.cuda_stream))
class Generator:
    offset = 0
    def get_offset(self): return self.offset
streams = Stream(0), Stream(64)
current = [streams[0]]
class CUDAGraph:
    draws = 0
    def __init__(self, keep_graph=False): self.keeps = keep_graph
    def capture_begin(self): pass
    def register_generator_state(self, state): pass
    def raw_cuda_graph(self):
        if not self.keeps: raise RuntimeError("made without keep_graph")
        return 1000
    def replay(self):
        Generator.offset += self.draws
        launches.append("main")
        gpu.graph(1, 1000)
    def reset(self): launches.append("reset")
torch = types.ModuleType("torch")
torch.cuda = types.SimpleNamespace(
    CUDAGraph=CUDAGraph, current_device=lambda: 0, current_stream=lambda device: current[0],
    default_generators=[Generator()],
)
sys.modules["torch"] = torch

class Driver:
    result = 0
    def cuGraphInstantiateWithFlags(self, executable, graph, flags):
        executable._obj.value = 2000
        for number in 11, 12:
            gpu.node(number + 10, number)
        return self.result
    def cuGraphLaunch(self, executable, stream):
        assert executable == 2000 and gpu.cupti.fake_wants(51) == 0
        launches.append("sample")
        gpu.replay([(21, "query"), (22, "gelu")])
        return 0
    def cuGraphExecDestroy(self, executable):
        launches.append(f"destroyed {executable}")
driver = Driver()
from nvspan.torch import sample_graph
from nvspan.torch._loop import sampled_graphs
sampled_graphs._driver = lambda: driver

gpu.use()
with gpu.capture():
    with nvspan.annotate("attention"): gpu.node(11)
    with nvspan.annotate("mlp"): gpu.node(12)
def replay(graph, count):
    for _ in range(count):
        with nvspan.annotate("step"):
            graph.replay()
def numbers():
    return [number for number, kind in enumerate(launches, 1) if kind == "sample"]
"""
END = """
gpu.deliver()
assert "misuse" not in " ".join(gpu.log()), gpu.log()
"""


def run(code, **options):
    return run_recorded(TORCH + code + END, **options)


def kernels(recording):
    return {(row.name, row.range): row.count for row in recording.kernels(by="range").rows}


def test_one_replay_in_some_is_recorded_by_its_kernels():
    done = run("""
graph = CUDAGraph(keep_graph=True)
sample_graph(graph, every=10)
replay(graph, 25)
print(numbers(), gpu.cupti.fake_wants(51))
""")
    assert done.stdout == "[2, 12, 22] 1\n"
    assert kernels(done.recording) == {
        ("[CUDA graph 1]", "step"): 22, ("query", "attention"): 3, ("gelu", "mlp"): 3,
    }  # fmt: skip
    rows = {row.name: (row.calls, row.ops) for row in done.recording.projection().rows}
    assert rows == {"step": (25, 28), "attention": (3, 3), "mlp": (3, 3)}


def test_every_replay_but_the_first_is_sampled_where_every_is_1():
    done = run("""
graph = CUDAGraph(keep_graph=True)
sample_graph(graph, every=1)
replay(graph, 5)
print(numbers())
""")
    assert done.stdout == "[2, 3, 4, 5]\n"


def test_a_sample_follows_a_replay_on_its_stream():
    """CUDA keeps launches of one executable apart, not those of two."""
    done = run("""
graph = CUDAGraph(keep_graph=True)
sample_graph(graph, every=3)
replay(graph, 1)
current[0] = streams[1]
replay(graph, 3)  # the second was to be sampled
print(numbers(), waits)
replay(graph, 1)
print(numbers(), waits)
current[0] = streams[0]
replay(graph, 1)
print(numbers(), waits)
""")
    assert done.stdout == "[] []\n[5] []\n[5] [(0, 64)]\n"


def test_a_graph_that_draws_random_numbers_is_not_sampled():
    done = run("""
graph = CUDAGraph(keep_graph=True)
graph.draws = 4
sample_graph(graph, every=2)
replay(graph, 6)
other = CUDAGraph(keep_graph=True)
sample_graph(other, every=2)
other.register_generator_state(None)
replay(other, 6)
print(numbers())
""")
    assert done.stdout == "[]\n"
    assert done.stderr.count("a graph that draws random numbers is not sampled") == 1


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "graph = CUDAGraph(True)\ndriver.result = 801\n",
            "cuGraphInstantiateWithFlags answers 801",
        ),
        ("graph = CUDAGraph()\n", "made without keep_graph"),
    ],
)  # fmt: skip
def test_a_graph_that_has_no_second_executable_is_replayed_as_before(code, said):
    done = run(code + """
sample_graph(graph, every=2)
replay(graph, 6)
print(launches, gpu.cupti.fake_wants(51))
""")  # fmt: skip
    assert done.stdout == f"{['main'] * 6} 1\n"
    assert done.stderr.count(f"a graph is not sampled: {said}") == 1


def test_without_a_recorder_of_kernels_nothing_is_sampled():
    done = run_recorded(TORCH.replace("gpu.use()", "") + """
graph = CUDAGraph(keep_graph=True)
sample_graph(graph, every=2)
replay(graph, 6)
print(launches)
""", cuda=None)  # fmt: skip
    assert done.stdout == f"{['main'] * 6}\n"
    assert done.stderr == ""


def test_the_second_executable_is_freed():
    done = run("""
graph = CUDAGraph(keep_graph=True)
handle = sample_graph(graph, every=2)
replay(graph, 2)
graph.reset()
replay(graph, 2)
handle.remove()
replay(graph, 2)
handle.remove()
with_none = CUDAGraph(keep_graph=True)
sample_graph(with_none, every=2)
replay(with_none, 2)
del with_none
print(launches)
""")
    assert done.stdout.strip() == str([
        "main", "sample", "destroyed 2000", "reset", "main", "sample", "destroyed 2000", "main",
        "main", "main", "sample", "destroyed 2000",
    ])  # fmt: skip


def test_graphs_that_are_made_later_are_sampled():
    done = run("""
before = CUDAGraph()
handle = sample_graph(every=4)
later = CUDAGraph()
handle.remove()
after = CUDAGraph()
for graph in before, later, after:
    launches.append(f"keeps {graph.keeps}")
    replay(graph, 3)
print(launches)
""")
    assert done.stdout.strip() == str([
        "keeps False", "main", "main", "main", "keeps True", "main", "sample", "main",
        "keeps False", "main", "main", "main",
    ])  # fmt: skip


def test_what_cannot_be_sampled_is_refused():
    done = run("""
for arguments in (3,), (None, 0), (None, 1.5):
    try:
        sample_graph(*arguments)
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
del CUDAGraph.raw_cuda_graph
torch.__version__ = "2.1"
try:
    sample_graph()
except RuntimeError as error:
    print(error)
""")
    assert done.stdout.splitlines() == [
        "TypeError graph must be a torch.cuda.CUDAGraph, not int",
        "ValueError every must be 1 or more, not 0",
        "ValueError every must be 1 or more, not 1.5",
        "torch 2.1 keeps no graphs: keep_graph came later",
    ]
