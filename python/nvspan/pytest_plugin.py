# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: assertions on ranges, and a table of the slowest ranges after the tests.

The fixture ``recording`` is a `nvspan.testing.LiveRecording` of the test:

    def test_step(recording):
        train()
        assert recording.range("fwd").calls == 3

``@pytest.mark.nvspan("fwd", calls=3, max_ms=5)`` checks the same after the test. ``--nvspan``
records the whole session, each test as a range, and prints the slowest ranges; ``--nvspan-output``
keeps that recording.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from nvspan.testing import LiveRecording

_DOMAIN = "pytest"
_session: list[LiveRecording] = []  # that of --nvspan, while it runs


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options ``--nvspan``, ``--nvspan-output`` and ``--nvspan-top``."""
    group = parser.getgroup("nvspan", "NVTX ranges")
    group.addoption(
        "--nvspan", action="store_true", help="record the NVTX ranges of all tests, and show them"
    )
    group.addoption(
        "--nvspan-output", metavar="FILE", help="with --nvspan: keep the recording as FILE"
    )
    group.addoption(
        "--nvspan-top", metavar="N", type=int, default=20, help="with --nvspan: show N ranges"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marker, and with ``--nvspan`` starts the session's recording."""
    config.addinivalue_line(
        "markers",
        "nvspan(name, domain=None, calls=None, **budgets): the test's calls of a range, and the "
        "most milliseconds: max_ms, mean_ms, total_ms, p50_ms, p90_ms, p99_ms",
    )
    if config.getoption("--nvspan"):
        from nvspan.testing import LiveRecording

        recording = LiveRecording(config.getoption("--nvspan-output"))
        try:
            recording.__enter__()
        except RuntimeError as error:
            raise pytest.UsageError(f"--nvspan: {error}") from None
        _session.append(recording)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Ends the session's recording."""
    while _session:
        _session.pop().__exit__(None, None, None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Puts a range around each test of a recorded session."""
    if not _session:
        return (yield)
    import nvspan

    with nvspan.annotate(item.nodeid, domain=_DOMAIN):
        return (yield)


@pytest.fixture
def recording() -> Iterator[LiveRecording]:
    """The NVTX ranges of this test, a `nvspan.testing.LiveRecording`."""
    if _session:
        part = _session[-1].part_from_now()
        yield part
        part.end_part()
        return
    from nvspan import launch, testing

    try:
        launch.injection_library()
    except RuntimeError as error:
        pytest.skip(str(error))
    with testing.LiveRecording() as found:
        yield found


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives tests with the marker the fixture `recording`."""
    for item in items:
        names = getattr(item, "fixturenames", None)
        if names is not None and item.get_closest_marker("nvspan") and "recording" not in names:
            names.append("recording")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Checks the budgets of a test's markers after it has passed."""
    result = yield
    for mark in item.iter_markers("nvspan"):
        live = item.funcargs["recording"]  # type: ignore[attr-defined]
        budgets = dict(mark.kwargs)
        domain = budgets.pop("domain", None)
        live.range(*mark.args, domain=domain).check(**budgets)
    return result


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Prints the slowest ranges of a recorded session."""
    if not _session:
        return
    from nvspan.report.render import plain
    from nvspan.report.summary import Summary

    recording = _session[-1].read()
    top = config.getoption("--nvspan-top")
    summary = Summary(recording, live=True, most=top)
    terminalreporter.section("nvspan")
    terminalreporter.write_line(plain(summary, top))
    output = config.getoption("--nvspan-output")
    if output:
        terminalreporter.write_line(f"recorded into {', '.join(_session[-1].paths)}")
