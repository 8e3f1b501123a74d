# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of nvtx's own suite that nvspan is expected to fail, and why.

Each entry names a test ("*": any), the states in which it fails, the values of its parameters for
which it does (none: for all), the exception, and the reason.
"""

_NO_DUMMY = (
    "without a tool nvtx gives one dummy for every domain or counter; nvspan gives the domain "
    "itself, with its name, because a tool may attach later"
)
_DECORATED = (
    "without a tool nvtx returns the decorated function itself; nvspan returns one that costs the "
    "same and starts to emit when a tool attaches"
)
_PROFILE = (
    "nvtx sets Profile._profile with sys.setprofile; nvspan has a profile function for each "
    "thread, and sys.monitoring from CPython 3.12 on"
)

DIFFERENCES = [
    ("test_annotate_context_manager", ["no tool"], {}, AssertionError, _NO_DUMMY),
    ("test_annotate_context_manager_with_exception", ["no tool"], {}, AssertionError, _NO_DUMMY),
    ("test_annotate_decorator", ["no tool"], {}, AssertionError, _DECORATED),
    ("test_pickle_annotate", ["no tool"], {}, AssertionError, _DECORATED),
    ("test_start_end", ["no tool"], {}, AssertionError, _NO_DUMMY),
    ("test_push_pop", ["no tool"], {}, AssertionError, _NO_DUMMY),
    ("test_mark", ["no tool"], {}, AssertionError, _NO_DUMMY),
    ("test_set_event_attributes", ["no tool"], {}, AssertionError, _NO_DUMMY),
    ("test_get_counter_duplicate_same_params", ["no tool"], {}, AssertionError, _NO_DUMMY),
    ("test_profiler", ["tool"], {}, AttributeError, _PROFILE),
]

# Files of tests, what they import that nvspan has not, and why.
MODULES: list[tuple[str, str, str]] = []
