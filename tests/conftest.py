# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every test starts without an NVTX tool, whatever the environment of the test run says.

A test may take NVSPAN_TEST_LIMIT seconds (300). A suite may run in two parts: NVSPAN_PASSED_TO
names a file that gets the node id of each test that passes, and NVSPAN_PASSED_IN one whose tests
are left out. NVSPAN_FAILED_TO names a file that gets a line of JSON, {"id": ..., "text": ...}, for
each failure.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers import shared
from helpers.hangs import Watched
from helpers.imported import import_tests
from helpers.packages import skip_without
from helpers.turns import is_timed, turn

for _name in ("NVTX_INJECTION64_PATH", "NVTX_INJECTION32_PATH", "NVSPAN_TRACE", "NVTX_DISABLE"):
    os.environ.pop(_name, None)

# The library of NumPy starts a thread for each core, in each process, which costs more than the
# import and multiplies no matrix.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What a script of a shell starts in the background ignores SIGINT, and so would the programs that
# tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Not for the workers of a run: what they report comes here.
_passed_to = os.environ.pop("NVSPAN_PASSED_TO", "")
_failed_to = os.environ.pop("NVSPAN_FAILED_TO", "")
_passed_in = os.environ.get("NVSPAN_PASSED_IN", "")

_limit = float(os.environ.get("NVSPAN_TEST_LIMIT", "300"))
_watched = pytest.StashKey[Watched]()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """More than there are processors, as half of the suite's time is waiting for programs."""
    if config.option.numprocesses == "logical" or os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(3 * cores, cores + 4)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with turn(item):
        if sys.platform != "linux":
            yield
            return
        if _watched not in item.config.stash:
            item.config.stash[_watched] = Watched(_limit)
        with item.config.stash[_watched].test(item.nodeid):
            yield


def pytest_unconfigure(config: pytest.Config) -> None:
    if watched := config.stash.get(_watched, None):
        watched.close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    skip_without(item)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if _passed_to and report.when == "call" and report.passed:
        with open(_passed_to, "a", encoding="utf-8") as file:
            file.write(report.nodeid + "\n")
    if _failed_to and report.failed:
        sections = "".join(f"\n--- {title}\n{text}" for title, text in report.sections)
        with open(_failed_to, "a", encoding="utf-8") as file:
            file.write(
                json.dumps({"id": report.nodeid, "text": report.longreprtext + sections}) + "\n"
            )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=is_timed)
    if not _passed_in:
        return
    passed = set(Path(_passed_in).read_text(encoding="utf-8").splitlines())
    left_out = [item for item in items if item.nodeid in passed]
    items[:] = [item for item in items if item.nodeid not in passed]
    config.hook.pytest_deselected(items=left_out)


def pytest_configure(config: pytest.Config) -> None:
    shared.begin(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    gc.disable()
    import_tests(session.config)


def pytest_collection_finish(session: pytest.Session) -> None:
    # What is collected stays to the end: looking through it takes 80 ms each time.
    gc.freeze()
    gc.enable()
