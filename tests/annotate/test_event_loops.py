# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Event loops: a `with annotate` around an await never disturbs another task's ranges."""

from __future__ import annotations

import json
import sys
import textwrap

import pytest

from helpers.events import plain
from helpers.packages import needs
from helpers.traced import LIBRARY, read_events, run_plain, run_traced

IMPORT = "import nvspan as nvtx, asyncio, contextlib\n"


def traced(code, **options):
    return plain(run_traced(IMPORT + textwrap.dedent(code), **options).events)


def test_asyncio_tasks_interleave_around_awaits():
    code = """
    async def work(name, sleeps):
        with nvtx.annotate(name, payload=sleeps):
            for _ in range(sleeps): await asyncio.sleep(0)
    async def main(): await asyncio.gather(work("a", 3), work("b", 1), work("c", 2))
    asyncio.run(main())
    """
    assert traced(code) == [
        "start #1 [] 'a' payload=i64:3", "start #2 [] 'b' payload=i64:1",
        "start #3 [] 'c' payload=i64:2", "end #2 [] 'b'", "end #3 [] 'c'", "end #1 [] 'a'",
    ]  # fmt: skip


def test_another_tasks_nesting_stays_intact():
    code = """
    def nested(name):
        with nvtx.annotate(name + " outer"):
            with nvtx.annotate(name + " inner"): nvtx.mark(name)
    async def work(name):
        nested(name + "1")
        with nvtx.annotate(name):
            nested(name + "2")
            await asyncio.sleep(0)
            nested(name + "3")
    async def main(): await asyncio.gather(work("a"), work("b"))
    asyncio.run(main())
    """

    def nested(name):
        return [f"push [] '{name} outer' depth=0", f"push [] '{name} inner' depth=1",
                f"mark [] '{name}'", f"pop [] '{name} inner' depth=1",
                f"pop [] '{name} outer' depth=0"]  # fmt: skip

    assert traced(code) == [
        *nested("a1"), "start #1 [] 'a'", *nested("a2"),
        *nested("b1"), "start #2 [] 'b'", *nested("b2"),
        *nested("a3"), "end #1 [] 'a'", *nested("b3"), "end #2 [] 'b'",
    ]  # fmt: skip


@needs("trio")
def test_trio_tasks_interleave_around_awaits():
    code = """
    import trio
    async def work(name, ready, go):
        with nvtx.annotate(name):
            ready.set()
            await go.wait()
            nvtx.mark(name)
    async def main():
        a_ready, b_ready, a_go, b_go = (trio.Event() for _ in range(4))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(work, "a", a_ready, a_go)
            await a_ready.wait()
            nursery.start_soon(work, "b", b_ready, b_go)
            await b_ready.wait()
            a_go.set()
            await trio.testing.wait_all_tasks_blocked()
            b_go.set()
    import trio.testing
    trio.run(main)
    """
    assert traced(code) == [
        "start #1 [] 'a'", "start #2 [] 'b'", "mark [] 'a'", "end #1 [] 'a'", "mark [] 'b'",
        "end #2 [] 'b'",
    ]  # fmt: skip


def test_a_plain_function_that_drives_a_loop_inside_a_range_stays_push_pop():
    code = """
    async def main():
        with nvtx.annotate("inside"): await asyncio.sleep(0)
    with nvtx.annotate("around"):
        asyncio.run(main())
        loop = asyncio.new_event_loop()
        loop.run_until_complete(main())
        loop.close()
    """
    assert traced(code) == [
        "push [] 'around' depth=0", "start #1 [] 'inside'", "end #1 [] 'inside'",
        "start #2 [] 'inside'", "end #2 [] 'inside'", "pop [] 'around' depth=0",
    ]  # fmt: skip


def test_a_plain_function_called_by_a_coroutine_is_push_pop():
    code = """
    def plain():
        with nvtx.annotate("plain"): pass
    async def main():
        plain()
        with nvtx.annotate("coroutine"): plain()
    asyncio.run(main())
    """
    assert traced(code) == [
        "push [] 'plain' depth=0", "pop [] 'plain' depth=0", "start #1 [] 'coroutine'",
        "push [] 'plain' depth=0", "pop [] 'plain' depth=0", "end #1 [] 'coroutine'",
    ]  # fmt: skip


def test_async_generators_are_spans_and_generators_are_push_pop():
    code = """
    def gen():
        with nvtx.annotate("gen"): yield
    async def agen():
        with nvtx.annotate("agen"): yield
    async def main():
        async for _ in agen(): pass
    for _ in gen(): pass
    asyncio.run(main())
    """
    assert traced(code) == [
        "push [] 'gen' depth=0", "pop [] 'gen' depth=0", "start #1 [] 'agen'", "end #1 [] 'agen'",
    ]  # fmt: skip


def test_kind_is_obeyed_wherever_it_is_given():
    code = """
    async def main():
        with nvtx.annotate("a", kind="nested"): pass
        with nvtx.annotate("b", kind="span"): pass
    asyncio.run(main())
    with nvtx.annotate("c", kind="nested"): pass
    with nvtx.annotate("d", kind="span"): pass
    with nvtx.annotate("e", kind=None): pass
    """
    assert traced(code) == [
        "push [] 'a' depth=0", "pop [] 'a' depth=0", "start #1 [] 'b'", "end #1 [] 'b'",
        "push [] 'c' depth=0", "pop [] 'c' depth=0", "start #2 [] 'd'", "end #2 [] 'd'",
        "push [] 'e' depth=0", "pop [] 'e' depth=0",
    ]  # fmt: skip


def test_async_with_is_a_span_and_passes_exceptions_on():
    code = """
    async def main():
        async with nvtx.annotate("a") as r: print(type(r).__name__)
        try:
            async with nvtx.annotate("b"): raise KeyError
        except KeyError: print("passed on")
    asyncio.run(main())
    """
    done = run_traced(IMPORT + textwrap.dedent(code))
    assert done.stdout == "annotate\npassed on\n"
    assert plain(done.events) == [
        "start #1 [] 'a'", "end #1 [] 'a'", "start #2 [] 'b'", "end #2 [] 'b'",
    ]  # fmt: skip


def test_cancellation_closes_a_range_exactly_once():
    code = """
    @nvtx.annotate("work")
    async def work():
        with nvtx.annotate("with"): await asyncio.sleep(60)
    async def main():
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        try: await asyncio.wait_for(work(), .01)
        except asyncio.TimeoutError: nvtx.mark("timeout")
    asyncio.run(main())
    """
    assert traced(code) == [
        "start #1 [] 'work'", "start #2 [] 'with'", "end #2 [] 'with'", "end #1 [] 'work'",
        "start #3 [] 'work'", "start #4 [] 'with'", "end #4 [] 'with'", "end #3 [] 'work'",
        "mark [] 'timeout'",
    ]  # fmt: skip


def test_coroutine_that_is_closed_or_dropped_closes_its_range():
    code = """
    import gc, types
    @types.coroutine
    def pause(): yield
    async def work(name):
        with nvtx.annotate(name): await pause()
    c = work("closed"); c.send(None); c.close()
    d = work("dropped"); d.send(None); del d; gc.collect()
    """
    assert traced(code) == [
        "start #1 [] 'closed'", "end #1 [] 'closed'", "start #2 [] 'dropped'",
        "end #2 [] 'dropped'",
    ]  # fmt: skip


def test_a_task_that_moves_to_another_thread_ends_its_range_there():
    code = """
    import threading, types
    @types.coroutine
    def pause(): yield
    async def work():
        with nvtx.annotate("moving"): await pause()
    c = work(); c.send(None)
    def finish():
        try: c.send(None)
        except StopIteration: pass
    t = threading.Thread(target=finish); t.start(); t.join()
    """
    done = run_traced(IMPORT + textwrap.dedent(code))
    assert plain(done.events) == ["start #1 [] 'moving'", "end #1 [] 'moving'"]
    start, end = (event for event in done.events if event["kind"] in ("start", "end"))
    assert start["tid"] != end["tid"]


@pytest.mark.parametrize("made", ["kept", "cached"])
@pytest.mark.parametrize("payloads", [(1, 2), (5, 5)])
def test_enter_a_enter_b_exit_a_exit_b(made, payloads):
    code = f"""
    import types
    @types.coroutine
    def pause(): yield
    class Payload: value = 0
    kept = nvtx.annotate("r", payload=lambda: Payload.value)
    async def work(value):
        Payload.value = value
        with {"kept" if made == "kept" else "nvtx.annotate('r', payload=value)"}: await pause()
    a, b = work({payloads[0]}), work({payloads[1]})
    a.send(None); b.send(None)
    for c in a, b:
        try: c.send(None)
        except StopIteration: pass
        nvtx.mark("closed")
    """
    assert traced(code) == [
        f"start #1 [] 'r' payload=i64:{payloads[0]}", f"start #2 [] 'r' payload=i64:{payloads[1]}",
        "end #1 [] 'r'", "mark [] 'closed'", "end #2 [] 'r'", "mark [] 'closed'",
    ]  # fmt: skip


def test_exit_stacks_treat_the_range_as_their_callers():
    code = """
    def plain():
        with contextlib.ExitStack() as stack:
            stack.enter_context(nvtx.annotate("a"))
            stack.push(nvtx.annotate("never entered"))
            stack.pop_all().close()
    async def coroutine(name):
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(nvtx.annotate(name))
            await stack.enter_async_context(nvtx.annotate(name + " async"))
            await asyncio.sleep(0)
    async def main(): await asyncio.gather(coroutine("b"), coroutine("c"))
    plain()
    asyncio.run(main())
    """
    lines = traced(code)
    assert lines[:2] == ["push [] 'a' depth=0", "pop [] 'a' depth=0"]
    assert lines[2:] == [
        "start #1 [] 'b'", "start #2 [] 'b async'", "start #3 [] 'c'", "start #4 [] 'c async'",
        "end #2 [] 'b async'", "end #1 [] 'b'", "end #4 [] 'c async'", "end #3 [] 'c'",
    ]  # fmt: skip


def test_context_manager_generators():
    code = """
    @contextlib.contextmanager
    def cm(name):
        with nvtx.annotate(name): yield
    @contextlib.asynccontextmanager
    async def acm(name):
        with nvtx.annotate(name): yield
    async def work(name):
        async with acm(name): await asyncio.sleep(0)
    async def main(): await asyncio.gather(work("c"), work("d"))
    with cm("a"):
        with cm("b"): pass
    asyncio.run(main())
    """
    assert traced(code) == [
        "push [] 'a' depth=0", "push [] 'b' depth=1", "pop [] 'b' depth=1", "pop [] 'a' depth=0",
        "start #1 [] 'c'", "start #2 [] 'd'", "end #1 [] 'c'", "end #2 [] 'd'",
    ]  # fmt: skip


def test_a_context_manager_generator_used_by_tasks_keeps_them_apart():
    code = """
    @contextlib.contextmanager
    def cm(name):
        with nvtx.annotate(name): yield
    async def work(name):
        with cm(name): await asyncio.sleep(0)
    async def main(): await asyncio.gather(work("a"), work("b"))
    asyncio.run(main())
    """
    lines = traced(code)
    # Each range is closed exactly once and under its own name, whichever kind it has.
    closed = [line.split("'")[1] for line in lines if line.split()[0] in ("pop", "end")]
    assert sorted(closed) == ["a", "b"]


@needs("ipykernel", "nbclient", "nbformat")
def test_an_ipython_kernel_cell_is_push_pop_and_its_coroutines_are_spans(tmp_path):
    import nbclient as client
    import nbformat

    out = tmp_path / "out.jsonl"
    cells = [
        "import nvspan as nvtx, asyncio\n"
        f"from nvspan import _core\n_core.attach({LIBRARY!r}, 'format=jsonl;file={out}')",
        "with nvtx.annotate('cell'):\n with nvtx.annotate('inner'): pass",
        "def f():\n with nvtx.annotate('function'): pass\nf()",
        "async def work(name):\n with nvtx.annotate(name): await asyncio.sleep(0)\n"
        "await asyncio.gather(work('a'), work('b'))",
        "_core.detach()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    kernels = tmp_path / "kernels" / "this"
    kernels.mkdir(parents=True)
    spec = {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": "this", "language": "python"}  # fmt: skip
    (kernels / "kernel.json").write_text(json.dumps(spec))
    program = (
        "import nbclient, nbformat, sys\n"
        "notebook = nbformat.read(sys.argv[1], as_version=4)\n"
        "nbclient.NotebookClient(notebook, timeout=60, kernel_name='this').execute()\n"
    )
    path = tmp_path / "notebook.ipynb"
    nbformat.write(notebook, path)
    assert client.NotebookClient is not None
    run_plain(program, str(path), env={"JUPYTER_PATH": str(tmp_path)}, timeout=120)
    assert plain(read_events(out)) == [
        "push [] 'cell' depth=0", "push [] 'inner' depth=1", "pop [] 'inner' depth=1",
        "pop [] 'cell' depth=0", "push [] 'function' depth=0", "pop [] 'function' depth=0",
        "start #1 [] 'a'", "start #2 [] 'b'", "end #1 [] 'a'", "end #2 [] 'b'",
    ]  # fmt: skip
