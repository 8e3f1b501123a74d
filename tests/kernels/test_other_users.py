# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Proton and users of cupti-python have CUPTI while they profile, the recorder before and after.

Both are played by modules that make their calls of CUPTI.
"""

from __future__ import annotations

import pytest

from helpers.fake_cupti import run_recorded
from helpers.traced import needs_library

pytestmark = needs_library

LIBRARY = """
import types
subscriber = ctypes.c_void_p()
answers = []
def subscribe(*args):
    answers.append(gpu.cupti.cuptiSubscribe(ctypes.byref(subscriber), None, None))
def unsubscribe(*args):
    answers.append(gpu.cupti.cuptiUnsubscribe(subscriber))
"""
PROTON = (
    LIBRARY
    + """
proton = types.ModuleType("proton")
sessions = set()
def start(name, context, data, backend, mode, path):
    if backend == "cupti":
        if not sessions: subscribe()
        sessions.add(len(sessions))
        return len(sessions) - 1
    return 7
def deactivate(session):
    sessions.discard(session)
    if not sessions: unsubscribe()
def finalize(session, form):
    if session in sessions: deactivate(session)
def activate(session):
    if not sessions: subscribe()
    sessions.add(session)
proton.start, proton.deactivate, proton.finalize, proton.activate = (
    start, deactivate, finalize, activate)
for name in "triton", "triton.profiler", "triton.profiler.profile":
    sys.modules[name] = types.ModuleType(name)
sys.modules["triton.profiler.profile"].libproton = proton
def begin(backend="cupti"):
    return proton.start("name", "shadow", "tree", backend, "", "")
"""
)
CUPTI = (
    LIBRARY
    + """
for name in "cupti", "cupti.cupti":
    sys.modules[name] = types.ModuleType(name)
cupti = sys.modules["cupti.cupti"]
cupti.subscribe, cupti.unsubscribe = subscribe, unsubscribe
def register(*args): gpu.cupti.cuptiActivityRegisterCallbacks(None, None)
cupti.activity_register_callbacks = register
"""
)
BEFORE = """
from nvspan._runtime import gpu_work
gpu_work.lend_cupti()
gpu.use()
gpu.launch("before")
"""
AFTER = """
gpu.launch("after")
gpu.deliver()
print(answers)
assert "misuse" not in " ".join(gpu.log()), gpu.log()
"""


def names(done):
    return [row["name"] for row in done.recording.ranges.rows() if row["domain"] == "CUDA"]


def gaps(done):
    return [gap.reason for gap in done.recording.gpu_gaps]


LENT = "a profiler of the program had CUPTI"


def test_cupti_is_lent_to_proton():
    done = run_recorded(PROTON + BEFORE + """
session = begin()
gpu.launch("profiled")
proton.finalize(session, "hatchet")
""" + AFTER)  # fmt: skip
    assert done.stdout == "[0, 0]\n"
    assert done.stderr == ""
    assert names(done) == ["before", "after"]
    assert gaps(done) == [LENT]


def test_proton_has_it_until_its_last_session_ends():
    done = run_recorded(PROTON + BEFORE + """
first, second = begin(), begin()
proton.finalize(first, "hatchet")
gpu.launch("profiled")
proton.deactivate(second)
gpu.launch("between")
proton.activate(second)
gpu.launch("profiled again")
proton.finalize(second, "hatchet")
""" + AFTER)  # fmt: skip
    assert done.stdout == "[0, 0, 0, 0]\n"
    assert done.stderr == ""
    assert names(done) == ["before", "between", "after"]
    assert gaps(done) == [LENT, LENT]


def test_a_session_that_needs_no_cupti_takes_nothing_away():
    done = run_recorded(PROTON + BEFORE + """
session = begin("instrumentation")
gpu.launch("profiled")
proton.finalize(session, "hatchet")
""" + AFTER)  # fmt: skip
    assert done.stdout == "[]\n"
    assert names(done) == ["before", "profiled", "after"]
    assert gaps(done) == []


def test_cupti_is_lent_to_users_of_cupti_python():
    done = run_recorded(CUPTI + BEFORE + """
cupti.subscribe(None, None)
gpu.launch("profiled")
cupti.unsubscribe(None)
""" + AFTER)  # fmt: skip
    assert done.stdout == "[0, 0]\n"
    assert done.stderr == ""
    assert names(done) == ["before", "after"]
    assert gaps(done) == [LENT]


@pytest.mark.parametrize("other", [PROTON + "begin()\n", CUPTI + "cupti.subscribe(None, None)\n"])
def test_who_was_first_keeps_it(other):
    done = run_recorded(other + BEFORE + AFTER)
    assert done.stdout == "[0]\n"
    assert done.stderr == (
        "nvspan: kernels are not recorded: another tool uses CUPTI in this process\n"
    )
    assert names(done) == []
