# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Uses every public name. Type checkers must accept it and infer what `assert_type` states."""

from __future__ import annotations

import contextlib
import enum
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

import nvspan
from nvspan import (
    Annotation,
    BatchOrdering,
    Counter,
    CounterInterpolation,
    CounterNoValueReason,
    CounterSemantics,
    CounterValueType,
    DeviceRangeHandle,
    Domain,
    DummyDomain,
    EntryKind,
    EventAttributes,
    EventKind,
    ExtCounter,
    Float64Counter,
    Int64Counter,
    NumberRangeError,
    NvspanWarning,
    NvtxWarning,
    PayloadEntryType,
    PredefinedScope,
    Profile,
    RangeHandle,
    Recording,
    RegisteredString,
    Step,
    TimestampType,
    analyze_ranks,
    annotate,
    annotate_class,
    colors,
    configure,
    device_available,
    device_flush,
    device_problem,
    device_range,
    device_stats,
    disable,
    doctor,
    enable,
    enabled,
    end_device_range,
    end_range,
    get_domain,
    install_as_nvtx,
    is_active,
    mark,
    numpy_dtype,
    paused,
    pop_range,
    push_range,
    read,
    read_many,
    record,
    set_message_limit,
    start_device_range,
    start_range,
    step,
    tool,
    trace,
    trigger,
    where,
)
from nvspan.ranks import ManyRecordings
from nvspan.testing import LiveRecording, RangeSummary
from nvspan.torch import (
    AutoAnnotations,
    ModuleAnnotations,
    OpAnnotations,
    ProfileWindow,
    annotate_module,
    annotate_ops,
    auto,
    loss,
    profile_window,
    to_device,
)
from nvspan.torch import nvtx as torch_nvtx

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value, expected):
        return value


class Lib(str, enum.Enum):
    NAME = "example"


# Decorators keep the type of what they decorate, with and without parentheses.


@annotate
def bare(x: int, *, y: str = "") -> float:
    return float(x)


@annotate()
def empty(x: int, *, y: str = "") -> float:
    return float(x)


@annotate("named", color="red", domain="example", category="c", payload=3, level=1)
def named(x: int, *, y: str = "") -> float:
    return float(x)


assert_type(bare(1, y="a"), float)
assert_type(empty(1, y="a"), float)
assert_type(named(1, y="a"), float)


@annotate("coroutine")
async def coroutine(x: int) -> str:
    async with annotate("async with"):
        return str(x)


@annotate("generator")
def generator(n: int) -> Iterator[int]:
    yield from range(n)


@annotate("async generator")
async def async_generator(n: int) -> AsyncIterator[int]:
    for i in range(n):
        yield i


async def drive() -> None:
    assert_type(await coroutine(1), str)
    async for value in async_generator(1):
        assert_type(value, int)


def keeps_types() -> None:
    made: Coroutine[Any, Any, str] = coroutine(1)
    made.close()
    assert_type(generator(2), Iterator[int])
    wrapped: Callable[[int], Iterator[int]] = generator
    wrapped(1)


class Model:
    @annotate("method")
    def method(self, x: int) -> int:
        return x

    @annotate("static")
    @staticmethod
    def static(x: int) -> int:
        return x

    @annotate("class")
    @classmethod
    def make(cls) -> Model:
        return cls()

    @property
    @annotate("property")
    def value(self) -> int:
        return 1


model = Model()
assert_type(model.method(1), int)
assert_type(Model.static(1), int)
assert_type(Model.make(), Model)
assert_type(model.value, int)


@annotate_class
class Whole:
    def method(self) -> int:
        return 1


@annotate_class(include="m*", exclude="_*", domain="example")
class Some:
    def method(self) -> int:
        return 1


@annotate("class")
class Named:
    def method(self) -> int:
        return 1


assert_type(Whole().method(), int)
assert_type(Some().method(), int)
assert_type(Named().method(), int)


# Context managers.

with annotate("a", color=0xFF00FF00, domain=Lib.NAME, category=3, payload=1.5) as entered:
    assert_type(entered, Annotation)
with annotate(message=lambda: "lazy", payload=lambda: 5, kind="span"):
    pass
with annotate("nested", color=(1.0, 0.0, 0.0), kind="nested"), annotate("auto", color="auto"):
    pass
with contextlib.ExitStack() as stack:
    assert_type(stack.enter_context(annotate("stacked")), Annotation)


class Fixed(Annotation):
    """A subclass with a domain of its own, as libraries make them."""

    def __init__(self, name: str) -> None:
        super().__init__(name, domain="fixed")


with Fixed("x") as fixed:
    assert_type(fixed, Fixed)

# Functions.

assert_type(mark("m", "blue", "example", "c", 3), None)
assert_type(push_range("p", color="#0f0", domain="example"), None)
assert_type(pop_range(domain="example"), None)
handle = start_range("s", domain="example", payload=True)
assert_type(handle, RangeHandle)
range_id, range_domain = handle
assert_type(end_range(handle), None)
end_range(None)
assert_type(enabled(), bool)

# Domains and attributes.

domain = get_domain("example")
assert_type(domain, Domain)
assert_type(Domain("example"), Domain)
assert_type(isinstance(domain, DummyDomain), bool)
assert_type(domain.name, "str | None")
attributes = domain.get_event_attributes("m", "red", "c", 5)
assert_type(attributes, EventAttributes)
string = domain.get_registered_string("s")
assert_type(string, RegisteredString)
assert_type(string.string, "str | bytes")
assert_type(domain.get_category_id("c"), int)
attributes.message = string
attributes.color = "green"
attributes.category = 4
attributes.payload = None
domain.set_event_attributes(attributes, message="n", payload=2.5)
domain.mark(attributes)
domain.mark(message="m", color="red", category="c", payload=1)
domain.push_range(attributes, payload=1)
domain.pop_range()
assert_type(domain.start_range(attributes), int)
domain.end_range(domain.start_range(message="s"))
with domain.annotate("in domain", payload=1):
    pass


@domain.annotate
def in_domain(x: int) -> int:
    return x


assert_type(in_domain(1), int)

# Switching.

disable("example")
enable(domain)
with paused():
    assert_type(is_active(), bool)
configure(emit=("nvtx", "torch"))
assert_type(tool(), "str | None")
assert_type(Domain("example", level=2).level, int)
domain.level = 1
assert_type(domain.enabled, bool)

# Checking, names, spans.

with nvspan.check(strict=True) as checking:
    assert_type(checking.active(), bool)
assert_type(nvspan.check.reports(), list[nvspan.CheckReport])
check_error: type[nvspan.CheckError] = nvspan.CheckError
nvspan.name_thread("example")
nvspan.name_thread("example", native_id=1)
with nvspan.annotate("both", device=True, sync=True) as with_device:
    assert_type(with_device.device, bool)
    assert_type(with_device.sync, bool)
with domain.annotate("both", device=True, sync=False):
    pass
nvspan.name_stream(0, "default")
nvspan.name_device(0, "trainer")
nvspan.name_event(1, "done")
nvspan.name_category(7, "io", domain="example")
nvspan.name_threads_automatically()
nvspan.name_threads_automatically(False)
with nvspan.span("block", color="red", domain="example", payload=1) as opened:
    assert_type(opened.open, int)
assert_type(nvspan.span("request").start(), nvspan.span)
domain.span("request").start().end()
with domain.range("kept"):
    pass
assert_type(nvspan.get_domain("library", default_level=2, env="EXAMPLE_NVTX"), Domain)
assert_type(nvspan.info()["names_registered"], int)
# Profile.

with Profile(linenos=False, include="mypkg", exclude=["a", "b"], max_depth=3) as profile:
    assert_type(profile, Profile)
    assert_type(profile.enabled, bool)
profile.enable()
profile.disable()
# In place of nvtx, and what a doctor finds.

install_as_nvtx()
if sys.platform == "linux":
    assert_type(doctor.collect(modules=["json"], timeout=30.0), "dict[str, Any]")
# Device ranges.

with device_range("work", stream=None, timing=True) as device_handle:
    assert_type(device_handle, DeviceRangeHandle)
assert_type(device_handle.elapsed(), "float | None")
assert_type(device_handle.done(), bool)


@device_range
def on_device(x: int) -> float:
    return float(x)


@device_range("named", backend="exact", placement="stream", capture="skip")
def named_on_device(x: int) -> float:
    return float(x)


assert_type(on_device(1), float)
assert_type(named_on_device(1), float)
end_device_range(start_device_range("started", stream=0, backend="callback"))
assert_type(device_available(), bool)
assert_type(device_problem(), "str | None")
assert_type(device_flush(1.0), bool)
assert_type(device_stats(), dict[str, int])

# Payloads and counters.

with annotate("structured", payload={"step": 1, "shape": (8, 128)}):
    mark("row", payload=[1, 2.5])
counted = get_domain("example")
semantics = CounterSemantics(
    unit="bytes", min=0, max=10, value_type=CounterValueType.ABSOLUTE,
    interpolation=CounterInterpolation.LINEAR,
)  # fmt: skip
int_counter = counted.get_counter(
    "ints", int, description="of the example", scope=PredefinedScope.CURRENT_SW_PROCESS,
    semantics=semantics, time_domain=TimestampType.TOOL_PROVIDED,
)  # fmt: skip
assert_type(int_counter, Int64Counter)
int_counter.sample(1)
int_counter.sample_no_value(CounterNoValueReason.UNCHANGED)
int_counter.batch_submit([1, 2], [counted.get_timestamp(), counted.get_timestamp()])
assert_type(counted.get_counter("floats", float, scope="GPU[0]"), Float64Counter)
assert_type(int_counter.domain, Domain)
assert_type(semantics.unit, "bytes | None")
assert_type(counted.get_scope_id("GPU[0]", parent=PredefinedScope.ROOT), int)
entry_name: str = EntryKind.MARK.name
try:
    role_time = numpy_dtype("i8", entry_kind=EntryKind.MARK)
    role_name = numpy_dtype("u8", entry_type=PayloadEntryType.REGISTERED_STRING)
    grouped = counted.get_counter("group", [("a", "i4")])
    assert_type(grouped, Counter)
    assert isinstance(grouped, ExtCounter)
    import numpy

    counted.event_batch(
        numpy.zeros(2, [("at", role_time), ("name", role_name)]), kind=EventKind.MARK,
        ordering=BatchOrdering.UNSORTED,
    )  # fmt: skip
except (ImportError, RuntimeError):
    pass

# PyTorch: nothing here imports torch.

assert_type(torch_nvtx.range_push("push", domain="example", payload=1), int)
assert_type(torch_nvtx.range_pop(domain="example"), int)
torch_nvtx.range_end(torch_nvtx.range_start("start", color="red"))
torch_nvtx.mark("mark", category="c")
with torch_nvtx.range("step {}", 3, domain="example"):
    pass


@torch_nvtx.range("call")
def called_by_torch(x: int) -> int:
    return x


assert_type(called_by_torch(1), int)
device_handle = torch_nvtx.device_range_start("device", payload=1)
assert_type(device_handle, DeviceRangeHandle)
torch_nvtx.device_range_end(device_handle)
if TYPE_CHECKING:
    torch_nvtx.patch()
    torch_nvtx.unpatch()
    module_annotations = annotate_module(object(), backward=True, include=["layers.*"], depth=2)
    assert_type(module_annotations, ModuleAnnotations)
    module_annotations.remove()
    with auto(object(), [object()], [1, 2], step="step", device=True) as autos:
        assert_type(autos, AutoAnnotations)
        assert_type(autos.step, int)
        autos.step = 100
        for batch in autos.dataloader:
            to_device(batch, "cuda", non_blocking=False)
    with annotate_ops(shapes=True, include="aten::*mm", exclude=["aten::bmm"]) as ops:
        assert_type(ops, OpAnnotations)
with loss(device=False):
    pass
assert_type(loss(called_by_torch)(1), int)
with profile_window(1, 2, ranks=[0], cuda_profiler=False, verbose=False) as window:
    assert_type(window, ProfileWindow)
    assert_type(window.open, bool)
    with step(1) as one_step:
        assert_type(one_step, Step)
        assert_type(one_step.number, "int | None")

# The rest.

set_message_limit(1000)
set_message_limit(1000, domain="example")
assert_type(colors.color_to_hex("red"), int)
assert_type(nvspan.__version__, str)
range_error: type[ValueError] = NumberRangeError
warnings: tuple[type[NvspanWarning], type[NvtxWarning]] = (NvspanWarning, NvtxWarning)
if sys.platform == "linux":
    with trace(os.devnull, format="text"):
        mark("traced")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "example.nvspan")
        with record(path, mode="ring=8", domains=["example"], min_duration=100) as recorder:
            mark("recorded")
            assert_type(trigger("an odd step"), bool)
            look = where(path, interval=0.01, samples=2, waits=["data"])
            assert_type(look.verdict.ranks, list[int])
        recording = read(*recorder.paths)
        try:
            ranks = analyze_ranks(
                recorder.paths, "threads", step="step", progress=lambda part: None
            )
        except ValueError:  # nothing in it is a collective
            pass
        else:
            assert_type(ranks.problems, list[str])
        job = read_many(recorder.paths, by_rank=True, progress=lambda part: None)
    assert_type(recording, Recording)
    assert_type(job, ManyRecordings)
    assert_type(job.stats("rank").lost, int)
    assert_type(job.unread, dict[str, str])
    assert_type([row.count for row in job.collectives("rank")], list[int])
    assert_type(recording.ranges["start"], memoryview)
    for row in range(len(recording.ranges)):
        assert_type(recording.payload_fields(row), "dict[str, Any] | None")
    assert_type(recording.filter(names=["a"]).stats("thread").lost, int)
    with LiveRecording() as live:
        assert_type(live.range("step", domain="example"), RangeSummary)
        assert_type(live.range("step").calls, int)
        assert_type(live.range("step").max_ms, float)
        live.range("step").check(calls=0, max_ms=5)
