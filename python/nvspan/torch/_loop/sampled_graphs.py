# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Replays of CUDA graphs of which one in some is recorded kernel by kernel.

Records of a graph's kernels slow down its executable from then on. So a sampled replay has an
executable of its own, made from the same graph; both work on the same memory.
"""

from __future__ import annotations

import functools
import sys
import weakref

from nvspan import launch
from nvspan._runtime.warnings import warn_once
from nvspan.torch._support.removable import Removable, replace

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from typing import Any

_STATE = "_nvspan_sample"
_AUTO_FREE_ON_LAUNCH = 1  # as torch instantiates graphs
_patched: Any = None  # the class whose methods are ours
_every_new: int | None = None  # of the graphs that are made from now on


class SampledGraph(Removable):
    """What `sample_graph` began: ``remove()`` ends it, and frees the second executable."""


def sample_graph(graph: Any = None, every: int = 100) -> SampledGraph:
    """Record one in `every` replays of a CUDA graph kernel by kernel, with the ranges that were
    open when each kernel was captured; the other replays are recorded as a whole.

    Call it before the capture: ``graph`` is a ``torch.cuda.CUDAGraph(keep_graph=True)``, or None
    for each ``torch.cuda.CUDAGraph`` that is made from now on, such as those of
    ``torch.cuda.make_graphed_callables`` and of ``torch.compile(mode="reduce-overhead")``. It may
    be called after the capture of a graph that was made with ``keep_graph=True``, with the device
    of the capture current. One that was captured without it is not sampled, as a warning says.

    Sampled replays are the second one, and each one `every` later. The first of them instantiates
    the graph once more. They have to follow a replay on the same stream, and the graph must not
    draw random numbers; other graphs are replayed as without nvspan. Without a recorder that takes
    kernels (``--cuda``) nothing is sampled, and a replay costs a look-up more.

    A handle: ``remove()`` ends it for `graph`, or for graphs that are made later. Threads replay a
    graph one after the other, as CUDA demands; a forked child has no CUDA.

    Raises:
        TypeError: `graph` is not a ``torch.cuda.CUDAGraph``.
        ValueError: `every` is not an int of 1 or more.
        RuntimeError: this torch has no ``CUDAGraph(keep_graph=True)``.

    >>> graph = torch.cuda.CUDAGraph(keep_graph=True)              # doctest: +SKIP
    >>> nvspan.torch.sample_graph(graph, every=100)                # doctest: +SKIP
    """
    global _every_new
    import torch

    if not isinstance(every, int) or every < 1:
        raise ValueError(f"every must be 1 or more, not {every!r}")
    cls = torch.cuda.CUDAGraph
    if graph is not None and not isinstance(graph, cls):
        raise TypeError(f"graph must be a torch.cuda.CUDAGraph, not {type(graph).__name__}")
    if not hasattr(cls, "raw_cuda_graph"):
        raise RuntimeError(f"torch {torch.__version__} keeps no graphs: keep_graph came later")
    _patch(cls)
    handle = SampledGraph()
    if graph is None:
        _every_new = every
        handle._undo.append(_end_new)
        return handle
    state = _State(every)
    vars(graph)[_STATE] = state
    handle._undo.append(state.end)
    return handle


def _end_new() -> None:
    global _every_new
    _every_new = None


class _State:
    """Of one graph."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.device = sys.modules["torch"].cuda.current_device()
        self.replays = 0
        self.stream: Any = None  # of the replay before, where it matters
        self.is_sampled = False  # the replay before
        self.executable: int | None = None
        self.free: Any = None  # destroys it

    def end(self) -> None:
        """No replay is sampled any more."""
        self.every = 0
        self.forget()

    def forget(self) -> None:
        """What it was captured as is gone."""
        if self.free is not None:
            self.free()
        self.executable = self.free = None


def _patch(cls: Any) -> None:
    """Once a class: nothing of it is put back, as graphs may be replayed at any time."""
    global _patched
    if _patched is cls:
        return
    _patched = cls
    init, begin, replay, reset = cls.__init__, cls.capture_begin, cls.replay, cls.reset
    register = cls.register_generator_state

    @functools.wraps(init)
    def __init__(self: Any, keep_graph: bool = False) -> None:
        init(self, keep_graph or _every_new is not None)
        if _every_new is not None:
            vars(self)[_STATE] = _State(_every_new)

    @functools.wraps(begin)
    def capture_begin(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = vars(self).get(_STATE)
        if state is not None:
            state.device = sys.modules["torch"].cuda.current_device()
        return begin(self, *args, **kwargs)

    @functools.wraps(replay)
    def sampled_replay(self: Any) -> None:
        state = vars(self).get(_STATE)
        if state is None or not _replay_sampled(self, state, replay):
            replay(self)

    @functools.wraps(reset)
    def reset_both(self: Any) -> None:
        state = vars(self).get(_STATE)
        if state is not None:
            state.forget()
            state.replays = 0
        reset(self)

    @functools.wraps(register)
    def register_generator_state(self: Any, *args: Any) -> Any:
        state = vars(self).get(_STATE)
        if state is not None:
            state.end()  # it draws numbers, as far as is known
        return register(self, *args)

    replace(cls, "__init__", __init__)
    replace(cls, "capture_begin", capture_begin)
    replace(cls, "replay", sampled_replay)
    replace(cls, "reset", reset_both)
    replace(cls, "register_generator_state", register_generator_state)


def _offset(device: int) -> int:
    """How many random numbers the device's default generator has given."""
    return int(sys.modules["torch"].cuda.default_generators[device].get_offset())


def _replay_sampled(graph: Any, state: _State, replay: Any) -> bool:
    """Whether the graph was launched: as a sample, or as the one after or before."""
    every = state.every
    if every == 0:
        return False
    state.replays += 1
    if state.replays == 1:
        return _first_replay(graph, state, replay)
    place = (state.replays - 2) % every
    if place > 1 and place != every - 1:  # neither a sample nor a neighbour of one
        state.stream = None
        return False
    torch = sys.modules["torch"]
    stream, before = torch.cuda.current_stream(state.device), state.stream
    # Two executables are not kept apart by CUDA, as two launches of one are.
    if state.is_sampled and before is not None and stream != before:
        stream.wait_stream(before)
    state.is_sampled = False
    state.stream = stream
    if place != 0 or stream != before:
        return False
    state.is_sampled = _launch_sample(graph, state, stream.cuda_stream)
    return state.is_sampled


def _first_replay(graph: Any, state: _State, replay: Any) -> bool:
    """torch gives a graph that draws numbers new ones in its replay; nothing else can."""
    before = _offset(state.device)
    replay(graph)
    if _offset(state.device) != before:
        state.end()
        warn_once(
            "sample_graph",
            "nvspan.torch.sample_graph: a graph that draws random numbers is not sampled",
        )
    state.stream = sys.modules["torch"].cuda.current_stream(state.device)
    return True


@functools.cache
def _recorder() -> Any:
    import ctypes

    library = ctypes.CDLL(launch.attached_tool() or launch.injection_library())
    return library if hasattr(library, "nvspan_inject_begin_graph_sample") else None


@functools.cache
def _driver() -> Any:
    import ctypes

    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuGraphLaunch.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    driver.cuGraphExecDestroy.argtypes = [ctypes.c_void_p]
    driver.cuGraphInstantiateWithFlags.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ulonglong,
    ]  # fmt: skip
    return driver


def _launch_sample(graph: Any, state: _State, stream: int) -> bool:
    """False: nothing was launched."""
    recorder = _recorder()
    if recorder is None or not recorder.nvspan_inject_begin_graph_sample():
        return False
    try:
        if state.executable is None:
            _instantiate(graph, state)
        return bool(_driver().cuGraphLaunch(state.executable, stream) == 0)
    except Exception as problem:
        state.end()
        warn_once("sample_graph", f"nvspan.torch.sample_graph: a graph is not sampled: {problem}")
        return False
    finally:
        recorder.nvspan_inject_end_graph_sample()


def _instantiate(graph: Any, state: _State) -> None:
    import ctypes

    driver = _driver()
    executable = ctypes.c_void_p()
    result = driver.cuGraphInstantiateWithFlags(
        ctypes.byref(executable), graph.raw_cuda_graph(), _AUTO_FREE_ON_LAUNCH
    )
    if result != 0:
        raise RuntimeError(f"cuGraphInstantiateWithFlags answers {result}")
    state.executable = executable.value
    state.free = weakref.finalize(graph, driver.cuGraphExecDestroy, executable.value)
    state.free.atexit = False
