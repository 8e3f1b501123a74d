# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges under torch's profilers: one case after the other, after a mark with its name. Prints what
each profiler of a case has seen: what lies within a range in brackets, threads apart."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import tempfile
import threading
from pathlib import Path

import nvspan

nvspan.configure(emit=("nvtx", "torch"))

import torch  # noqa: E402
from torch.profiler import ProfilerActivity, schedule  # noqa: E402

from nvspan.torch import annotate_module, nvtx  # noqa: E402

FOREIGN = re.compile(
    "ProfilerStep|PyTorch Profiler|aten::|(torch::)?autograd::|detach$|.*Backward0$"
)
LIB = nvspan.get_domain("lib")


def profile(**options):
    return torch.profiler.profile(activities=[ProfilerActivity.CPU], **options)


def slices_of(prof):
    """(thread, name, begin, end) of each range in the exported trace."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        prof.export_chrome_trace(str(file))
        events = json.loads(file.read_text())["traceEvents"]
    return [
        (each["tid"], each["name"], each["ts"], each["ts"] + each["dur"])
        for each in events
        if each["ph"] == "X" and not FOREIGN.match(each["name"])
    ]


def seen(prof):
    slices = sorted(slices_of(prof), key=lambda each: (each[2], -each[3]))
    # events() makes one of a range within a range of its name
    listed = {each.name for each in prof.events() if not FOREIGN.match(each.name)}
    threads = {}
    for thread, name, *_ in slices:
        threads.setdefault(thread, set()).add(name)
    # torch 2.11 leaves other threads out of events()
    assert listed in ({each[1] for each in slices}, *threads.values()), (listed, slices)
    roots = {}
    open_now = {}
    for thread, name, begin, end in slices:
        stack = open_now.setdefault(thread, [])
        while stack and stack[-1][0] <= begin:
            stack.pop()
        node = [name, []]
        (stack[-1][1][1] if stack else roots.setdefault(thread, [])).append(node)
        stack.append((end, node))
    return " | ".join(sorted(text_of(nodes) for nodes in roots.values()))


def text_of(nodes):
    return " ".join(name + (f"({text_of(inner)})" if inner else "") for name, inner in nodes)


def case(function):
    nvspan.mark(f"case {function.__name__}")
    print(json.dumps([function.__name__, [seen(prof) for prof in function()]]), flush=True)


@nvspan.annotate()
def decorated():
    nvspan.mark("inside")


@nvspan.annotate("method", domain="lib")
def in_lib():
    pass


@case
def kinds_of_ranges():
    kept = nvspan.annotate("kept", color="red", payload=3)
    with profile() as prof:
        with nvspan.annotate("with"), kept, kept:
            decorated()
            in_lib()
        nvspan.push_range("pushed", category="c", payload={"a": 1})
        nvspan.pop_range()
        LIB.push_range(LIB.get_event_attributes("by domain"))
        LIB.mark(LIB.get_event_attributes("mark"))
        LIB.pop_range()
        nvtx.range_push("torch's push")
        nvtx.range_pop()
        with nvtx.range("torch's {}", "range"):
            nvtx.mark("torch's mark")
        with contextlib.ExitStack() as stack:
            stack.enter_context(nvspan.annotate("on a stack"))
        with nvspan.annotate(message=lambda: "from a callable"):
            torch.ones(2)
    return [prof]


@case
def names():
    with profile() as prof:
        with nvspan.annotate("é漢"), nvspan.annotate("x" * 3000, domain="long"):
            pass
        with nvspan.annotate(domain="lib", color="red"):
            nvspan.mark()
        with nvspan.annotate('a "quoted" name'), nvspan.annotate("two\r\nlines"):
            pass
    # newer torch's export calls what is not ASCII "unknown", and every one takes names as JSON
    expected = ["é漢", "long:" + "x" * 3000, "lib:", "", "a 'quoted' name", "two  lines"]
    assert [each.name for each in prof.events()] == expected, prof.events()
    found = [each[1] for each in sorted(slices_of(prof), key=lambda each: each[2])]
    assert found[0] in ("unknown", expected[0])
    assert found[1:] == expected[1:], found
    return []


@case
def recursion():
    @nvspan.annotate("again")
    def again(n):
        if n:
            again(n - 1)

    with profile() as prof:
        again(3)
    return [prof]


@case
def open_at_both_ends():
    first, second, inner = profile(), profile(), nvspan.annotate("inner")
    with nvspan.annotate("around"):
        first.start()
        inner.__enter__()
        nvspan.push_range("pushed", domain="lib")
        first.stop()
        with nvspan.annotate("between"):
            pass
        second.start()
        with nvspan.annotate("in the second"):
            pass
        nvspan.pop_range(domain="lib")
        inner.__exit__(None, None, None)
        with nvspan.annotate("after"):
            second.stop()
    return [first, second]


@case
def switched_off():
    with profile() as prof:
        nvspan.disable()
        with nvspan.annotate("off"):
            decorated()
        nvspan.enable()
        with nvspan.paused(), nvspan.annotate("paused"):
            pass
        nvspan.disable("lib")
        with nvspan.annotate("lib is off"):
            in_lib()
        nvspan.enable("lib")
        with nvspan.annotate("level", level=2):
            nvspan.mark("on")
    return [prof]


@case
def closed_while_off():
    with profile() as prof:
        with nvspan.annotate("outer"):
            nvspan.disable()
        nvspan.enable()
        with nvspan.annotate("next"):
            pass
    return [prof]


@case
def interleaved_domains():
    with profile() as prof:
        nvspan.push_range("one", domain="1")
        nvspan.push_range("two", domain="2")
        nvspan.pop_range(domain="1")
        nvspan.mark("one is closed")
        nvspan.pop_range(domain="2")
        nvspan.mark("both are closed")
        nvspan.pop_range(domain="2")
    one, two, _, _ = sorted(slices_of(prof), key=lambda each: each[2])
    assert (one[1], two[1]) == ("1:one", "2:two")
    assert one[2] <= two[2] <= one[3] <= two[3]
    return []


@case
def what_nests_in_no_thread():
    def generator():
        with nvspan.annotate("in a generator"):
            yield

    async def coroutine():
        with nvspan.annotate("in a coroutine"):
            await asyncio.sleep(0)

    with profile() as prof:
        nvspan.end_range(nvspan.start_range("started"))
        list(generator())
        asyncio.run(coroutine())
        with nvspan.span("span"):
            pass
    return [prof]


@case
def exceptions():
    with profile() as prof:
        with contextlib.suppress(ValueError), nvspan.annotate("raises"):
            decorated()
            raise ValueError
        with nvspan.annotate("after"):
            pass
    return [prof]


@case
def configured_meanwhile():
    nvspan.configure(emit=("nvtx",))
    with profile() as prof:
        with nvspan.annotate("before"):
            nvspan.configure(emit=("torch", "nvtx"))
            with nvspan.annotate("emitted"):
                nvspan.configure(emit=("nvtx",))
                decorated()
        nvspan.configure(emit=("nvtx", "torch"))
        with nvspan.annotate("again"):
            pass
    return [prof]


@case
def scheduled():
    found = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    with profile(schedule=plan, on_trace_ready=found.append) as prof:
        for step in range(6):
            with nvspan.annotate(f"step {step}"):
                pass
            prof.step()
    return found


@case
def threads_of_one_profile():
    gate = threading.Barrier(2)

    def work():
        with nvspan.annotate("in a thread"):
            gate.wait()
            gate.wait()
        with nvspan.annotate("after"):
            pass

    every = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    first, second = profile(experimental_config=every), profile(experimental_config=every)
    first.start()
    other = threading.Thread(target=work)
    with nvspan.annotate("main"):
        other.start()
        gate.wait()
    first.stop()
    second.start()  # while the other thread still has a range of the first one's open
    gate.wait()
    other.join()
    second.stop()
    return [first, second]


@case
def backward_and_modules():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    annotations = annotate_module(model, backward=True)
    with profile() as prof, nvspan.annotate("step"):
        model(torch.ones(2, 2)).sum().backward()
    annotations.remove()
    return [prof]


@case
def check_mode():
    with nvspan.check():
        around = nvspan.annotate("around")
        around.__enter__()
        with profile() as prof:
            with nvspan.annotate("outer", domain="lib"):
                decorated()
            assert nvspan.is_active()
            assert nvspan.is_active("lib")
            around.__exit__(None, None, None)
        with nvspan.annotate("after"):
            pass
    assert nvspan.check.reports() == []
    return [prof]


@case
def fork():
    with profile() as prof, nvspan.annotate("parent"):
        child = os.fork()
        if child == 0:
            with nvspan.annotate("child"):
                pass
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    return [prof]
