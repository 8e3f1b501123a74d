# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""NVTX annotations for Python: cheap, correct, and a drop-in for the ``nvtx`` package.

>>> import nvspan
>>> with nvspan.annotate("load", color="green"):
...     pass

PYTEST_DONT_REWRITE: a plugin of pytest that is imported before it (``nvspan -m pytest``).
"""

# No __getattr__ here, and no typing: the first would keep the interpreter from specialising
# `nvspan.annotate` (25 ns a use, CPython 3.11 to 3.13), the second takes longer than all of us.

from __future__ import annotations

from nvspan import _adapters, colors
from nvspan._compat import install_as_nvtx
from nvspan._compat import provide as _provide
from nvspan._compat.handles import RegisteredString
from nvspan._core import (
    Annotation,
    CheckError,
    Counter,
    DeviceRangeHandle,
    Domain,
    EventAttributes,
    ExtCounter,
    Float64Counter,
    Int64Counter,
    NumberRangeError,
    NvspanWarning,
    RangeHandle,
    __version__,
    annotate,
    device_range,
    end_device_range,
    end_range,
    mark,
    pop_range,
    push_range,
    span,
    start_device_range,
    start_range,
)
from nvspan._decorate import annotate_class
from nvspan._device import name_device, name_event, name_stream
from nvspan._lazy import LazyModule
from nvspan._runtime.configure import configure, configure_from_environment
from nvspan._runtime.domains import DummyDomain, enabled, get_domain, set_message_limit
from nvspan._runtime.gpu_work import lend_cupti_as_environment_says
from nvspan._runtime.info import info
from nvspan._runtime.names import name_category, name_thread, name_threads_automatically
from nvspan._runtime.steps import Step, step
from nvspan._runtime.switch import disable, enable, is_active, paused, tool
from nvspan.blackbox import start_from_environment as _watch
from nvspan.blackbox import trigger
from nvspan.checking import CheckReport, check, start_from_environment
from nvspan.counters import (
    CounterInterpolation,
    CounterNoValueReason,
    CounterSemantics,
    CounterValueType,
)
from nvspan.device import device_available, device_flush, device_problem, device_stats
from nvspan.live import where
from nvspan.payloads import (
    BatchOrdering,
    EntryKind,
    EventKind,
    PayloadEntryType,
    PredefinedScope,
    TimestampType,
    numpy_dtype,
)
from nvspan.profiler import Profile
from nvspan.ranks import read_many
from nvspan.ranks.cause import analyze_ranks
from nvspan.recorder import record, record_as_environment_says, sample_as_environment_says
from nvspan.recording import Recording, Source, read
from nvspan.tracing import trace

NvtxWarning = NvspanWarning
TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan import torch as torch
else:
    torch = LazyModule("nvspan.torch")


def _html_of(recording: Recording) -> str:
    from nvspan.answers.findings import analyze
    from nvspan.answers.page import sections
    from nvspan.report.page import cell

    analysis = analyze(recording)
    return cell(recording, sections(analysis), analysis.steps, analysis.stats)


def load_ipython_extension(shell: object) -> None:
    """Adds the cell magic ``%%nvspan``: what ``%load_ext nvspan`` calls."""
    from nvspan import notebook

    notebook.load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    """Takes it away again: what ``%unload_ext nvspan`` calls."""
    from nvspan import notebook

    notebook.unload_ipython_extension(shell)


def _recording_of(path: str) -> tuple[str, Source] | None:
    if path.endswith((".json", ".json.gz")):
        from nvspan.imports.traces import recording_of as recording_of_trace

        return recording_of_trace(path)
    if not path.endswith((".nsys-rep", ".sqlite", ".ncu-rep")) and not _is_foreign(path):
        return None
    from nvspan.nsight.nsys.read import recording_of

    return recording_of(path)


def _is_foreign(path: str) -> bool:
    """Whether the file is no recording of ours: a folder, or a database whatever its name."""
    from nvspan.recording.regular_file import open_regular

    try:
        with open_regular(path) as file:
            return file.read(8) == b"SQLite f"
    except IsADirectoryError:
        return True
    except OSError:
        return False


Recording._html = staticmethod(_html_of)
Recording._import = staticmethod(_recording_of)

_adapters.connect()
record_as_environment_says()
sample_as_environment_says()
lend_cupti_as_environment_says()
del lend_cupti_as_environment_says, record_as_environment_says, sample_as_environment_says
start_from_environment()
del start_from_environment
_watch()
del _watch
configure_from_environment()
del configure_from_environment
_provide("nvspan", "_lib", "nvtx")
del _provide, LazyModule, TYPE_CHECKING

__all__ = [
    "Annotation",
    "BatchOrdering",
    "CheckError",
    "CheckReport",
    "Counter",
    "CounterInterpolation",
    "CounterNoValueReason",
    "CounterSemantics",
    "CounterValueType",
    "DeviceRangeHandle",
    "Domain",
    "DummyDomain",
    "EntryKind",
    "EventAttributes",
    "EventKind",
    "ExtCounter",
    "Float64Counter",
    "Int64Counter",
    "NumberRangeError",
    "NvspanWarning",
    "NvtxWarning",
    "PayloadEntryType",
    "PredefinedScope",
    "Profile",
    "RangeHandle",
    "Recording",
    "RegisteredString",
    "Step",
    "TimestampType",
    "__version__",
    "analyze_ranks",
    "annotate",
    "annotate_class",
    "check",
    "colors",
    "configure",
    "device_available",
    "device_flush",
    "device_problem",
    "device_range",
    "device_stats",
    "disable",
    "enable",
    "enabled",
    "end_device_range",
    "end_range",
    "get_domain",
    "info",
    "install_as_nvtx",
    "is_active",
    "mark",
    "name_category",
    "name_device",
    "name_event",
    "name_stream",
    "name_thread",
    "name_threads_automatically",
    "numpy_dtype",
    "paused",
    "pop_range",
    "push_range",
    "read",
    "read_many",
    "record",
    "set_message_limit",
    "span",
    "start_device_range",
    "start_range",
    "step",
    "tool",
    "trace",
    "trigger",
    "where",
]
