# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A range that waits for the GPU begins under Nsight Compute before there is a CUDA context: it is
told once what to do, and nothing is made."""

from __future__ import annotations

import shutil

import pytest

from helpers.device import environment, only_fake
from helpers.events import plain
from helpers.traced import LIBRARY, needs_library, run_plain, run_traced

pytestmark = [needs_library, only_fake]

WARNED = """
import ctypes, os, warnings
import nvspan, nvspan.nsight
def warned(enter):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with enter: pass
        return [(each.category.__name__, str(each.message), os.path.basename(each.filename))
                for each in said]
def is_loaded():
    with open("/proc/self/maps") as maps:
        return os.path.basename(os.environ["NVSPAN_LIBCUDA"]) in maps.read()
"""
SAID = (
    "annotate('work', sync=True) starts before the process has a CUDA context: range replay of "
    "Nsight Compute cannot profile what makes one; run it once before "
    "(nvspan.torch.warmup(model, *inputs), or nvspan.nsight.profile_region(..., warmup=1))"
)


@pytest.fixture
def under_ncu(tmp_path):
    """The tracer, where Nsight Compute has its library and by its name."""
    folder = tmp_path / "nsight-compute/2025.3.1/target/linux-desktop-glibc_2_11_3-x64"
    folder.mkdir(parents=True)
    library = folder / "libcuda-injection.so"
    shutil.copy(LIBRARY, library)
    return {"NVTX_INJECTION64_PATH": str(library)}


def run(code, env=None):
    return run_traced(WARNED + code, env=environment(env))


ENTERED = {
    "annotate": "nvspan.annotate('work', sync=True)",
    "profile_region": "nvspan.nsight.profile_region('work')",
    "an int": "nvspan.annotate('work', sync=True, payload=1)",
}


@pytest.mark.parametrize("name", ENTERED)
def test_a_cold_context_is_told_once(under_ncu, name):
    done = run(
        f"""
said = warned({ENTERED[name]})
assert [each[:2] for each in said] == [("NvspanWarning", {SAID!r})], said
assert warned({ENTERED[name]}) == []
""",
        under_ncu,
    )
    assert [line.split()[0] for line in plain(done.events)] == ["push", "pop"] * 2


def test_neither_a_context_nor_a_driver_is_made(under_ncu):
    run(
        """
entered = nvspan.annotate("work", sync=True)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    entered.__enter__()
assert len(said) == 1 and not is_loaded()
entered.__exit__(None, None, None)
library = ctypes.CDLL(os.environ["NVSPAN_LIBCUDA"])
assert library.cuCtxGetCurrent(ctypes.byref(ctypes.c_void_p())) == 3  # not initialised
""",
        under_ncu,
    )


@pytest.mark.parametrize("thread", ["the same", "another"])
def test_a_warm_context_is_not_told(under_ncu, thread):
    run(
        f"""
from helpers.gpu import Cuda
cuda = Cuda()
if {thread == "another"}:  # which has used no CUDA yet
    cuda.call("cuCtxSetCurrent", None)
assert warned(nvspan.annotate("work", sync=True)) == []
cuda.call("cuCtxSetCurrent", cuda.context)
""",
        under_ncu,
    )


def test_an_initialised_driver_without_a_context_is_cold(under_ncu):
    run(
        """
assert ctypes.CDLL(os.environ["NVSPAN_LIBCUDA"]).cuInit(0) == 0
assert len(warned(nvspan.annotate("work", sync=True))) == 1
""",
        under_ncu,
    )


def test_nothing_is_told_without_ncu_or_sync(under_ncu):
    code = "assert warned(nvspan.annotate('work', sync=True)) == []"
    run(code)
    run_plain(WARNED + code, env=environment())
    run("assert warned(nvspan.annotate('work')) == []", under_ncu)


def test_a_warning_that_is_an_error_is_not_raised(under_ncu):
    run(
        """
import sys
seen = []
sys.unraisablehook = lambda about: seen.append(type(about.exc_value).__name__)
with warnings.catch_warnings():
    warnings.simplefilter("error")
    with nvspan.annotate("work", sync=True): pass
assert seen == ["NvspanWarning"], seen
""",
        under_ncu,
    )
