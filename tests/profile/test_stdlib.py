# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""CPython's own tests of what is hard to profile: they pass under Profile, which stays balanced."""

from __future__ import annotations

import importlib.util
import json

import pytest

from helpers.calls import shown
from helpers.traced import needs_library, run_traced

PROGRAM = """
import io, json, sys, unittest, warnings
import nvspan
warnings.simplefilter("ignore")
name, c_functions = sys.argv[1:]
def run():
    suite = unittest.defaultTestLoader.loadTestsFromName("test." + name)
    result = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(suite)
    return result.testsRun, sorted(str(test) for test, _ in result.failures + result.errors)
alone = run()
with nvspan.Profile(linenos=False, annotate_cfuncs=c_functions == "True"):
    profiled = run()
print("RESULT", json.dumps([alone, profiled]))
"""


@needs_library
@pytest.mark.skipif(
    importlib.util.find_spec("test.test_generators") is None, reason="CPython's tests are not there"
)
@pytest.mark.parametrize("c_functions", [False, True])
@pytest.mark.parametrize("name", ["test_generators", "test_yield_from", "test_coroutines"])
def test_the_tests_of_cpython(name, c_functions):
    traced = run_traced(PROGRAM, name, c_functions, timeout=120)
    last = traced.stdout.splitlines()[-1]
    alone, profiled = json.loads(last.removeprefix("RESULT "))
    assert profiled == alone
    assert alone[0] > 20
    pushes = [event for event in traced.of_kind("push", "pop") if event["domain"] == "nvtx.py"]
    assert len(pushes) > 5000
    threads = {(event["pid"], event["tid"]) for event in pushes}
    for thread in threads:
        assert shown(event for event in pushes if (event["pid"], event["tid"]) == thread)
