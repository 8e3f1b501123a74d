# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A build without NVTX (CMake's NVSPAN_NVTX=OFF): the whole API works, and nothing is emitted."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
import subprocess
import sys

import pytest

import nvspan
from helpers.tree import ROOT

if nvspan._core.have_nvtx:
    pytest.skip("built with NVTX", allow_module_level=True)


@nvspan.annotate("decorated", color="red", payload=1)
def decorated(x, *, y=2):
    """Adds."""
    return x + y


def test_nothing_listens():
    assert not nvspan._core.tool_attached()
    assert not nvspan._core.listening()


def test_attaching_a_tool_is_refused(tmp_path):
    with pytest.raises(RuntimeError):
        nvspan._core.attach(str(tmp_path / "tool.so"), "")
    nvspan._core.detach()


def test_no_injection_library_is_installed():
    from nvspan import launch

    with pytest.raises(RuntimeError):
        launch.injection_library()


def test_trace_says_why_it_cannot():
    done = subprocess.run(
        [sys.executable, "-m", "nvspan", "trace", str(ROOT / "examples" / "train_loop.py")],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "NVTX" in done.stderr
    assert "Traceback" not in done.stderr


def test_context_managers():
    with nvspan.annotate(
        "a", color="#123456", domain="d", category="c", payload=2**64 - 1
    ) as range_:
        assert range_ is not None
    kept = nvspan.annotate("kept", domain="d")
    with kept, kept:
        pass
    with pytest.raises(KeyError), nvspan.annotate("raises"):
        raise KeyError


def test_functions():
    assert nvspan.mark("m", payload=1.5) is None
    assert nvspan.push_range("p", domain="d") is None
    assert nvspan.pop_range(domain="d") is None
    assert nvspan.pop_range() is None
    nvspan.end_range(nvspan.start_range("s"))
    nvspan.end_range(None)


def test_decorated_functions():
    assert decorated(1, y=4) == 5
    assert decorated.__name__ == "decorated"
    assert decorated.__doc__ == "Adds."
    assert str(inspect.signature(decorated)) == "(x, *, y=2)"
    assert pickle.loads(pickle.dumps(decorated)) is decorated

    @nvspan.annotate
    def generator():
        received = yield 1
        yield received

    running = generator()
    assert [next(running), running.send("sent")] == [1, "sent"]

    @nvspan.annotate()
    async def coroutine():
        async with nvspan.annotate("inner"):
            await asyncio.sleep(0)
        return 3

    assert inspect.iscoroutinefunction(coroutine)
    assert asyncio.run(coroutine()) == 3


def test_domains():
    domain = nvspan.get_domain("d")
    assert domain is nvspan.get_domain("d")
    assert isinstance(domain, nvspan.Domain)
    assert domain.name == "d"
    attributes = domain.get_event_attributes(message="m", color="blue", category="c", payload=1)
    domain.push_range(attributes)
    domain.pop_range()
    domain.mark(attributes, payload=2)
    domain.end_range(domain.start_range(message="s"))
    with domain.annotate("a"):
        pass
    assert domain.get_category_id("c") == domain.get_category_id("c")
    assert domain.get_registered_string("text").string == "text"


def test_bad_values_raise_as_they_do_with_a_tool():
    with pytest.raises(OverflowError):
        nvspan.mark("x", payload=2**64)
    with pytest.raises(TypeError):
        nvspan.annotate("x", domain=1)


def test_callables_are_never_evaluated():
    def never():
        raise AssertionError("evaluated although nothing listens")

    with nvspan.annotate(message=never, payload=never):
        nvspan.mark(message=never, payload=never)


def test_annotate_objects_are_copied_and_pickled():
    kept = nvspan.annotate("kept", color="red", payload=1)
    for other in (copy.copy(kept), pickle.loads(pickle.dumps(kept))):
        with other:
            pass
