# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""nvspan.nsight.ncu and kernel on a real GPU: which kernels they measure, for which parameters."""

from __future__ import annotations

import importlib.util
import sys
import threading

import pytest

from helpers import ncu as real
from helpers.device import TESTS, only_real
from helpers.traced import needs_library
from nvspan.nsight import NcuError, kernel, ncu

pytestmark = [needs_library, only_real]

TIME = "gpu__time_duration.sum"
FAST = {"clock_control": "none", "timeout": 150}
needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="needs torch")
_state = {}


@pytest.fixture(autouse=True)
def by_value(monkeypatch, tmp_path):
    """Functions of this file go to the other process as those of a script do."""
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setenv("NVSPAN_NCU", real.find())
    monkeypatch.setenv("NVSPAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(TESTS))
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def launch(n, times=1):
    """Kernels of n and n + 1 blocks in nested ranges, one of n + 2 in another thread."""
    import nvspan
    from helpers.gpu import Cuda

    cuda = _state.setdefault("cuda", None) or Cuda()
    _state["cuda"] = cuda
    cuda.call("cuCtxSetCurrent", cuda.context)

    def other():
        cuda.call("cuCtxSetCurrent", cuda.context)
        cuda.launch(0, grid=n + 2)

    for _ in range(times):
        with nvspan.annotate("outer", domain="app"):
            cuda.launch(0, grid=n)
            with nvspan.annotate("inner", domain="app"):
                cuda.launch(0, grid=n + 1)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    cuda.synchronize()


def grids(result):
    return [each.grid[0] for each in result.results]


def test_a_call_with_the_kernels_of_all_threads():
    result = ncu(launch, 10, kwargs={"times": 2}, **FAST)
    assert grids(result) == [10, 11, 12] * 2
    rows = {row["name"]: row["results"] for row in result.ranges()}
    assert rows == {"call": 6, "outer": 4, "inner": 2}


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [("inner", [11]), ("outer; inner", [10, 11]), ("app@outer/", [10, 11])],
)
def test_ranges_of_a_call(ranges, expected):
    assert grids(ncu(launch, 10, ranges=ranges, metrics=["time"], **FAST)) == expected


def test_a_report_is_kept(tmp_path):
    ncu(launch, 10, output=tmp_path / "kept", **FAST)
    assert (tmp_path / "kept.ncu-rep").stat().st_size > 1000


def test_a_sweep_in_one_process():
    bench = kernel(launch, sweep={"n": [10, 20], "times": [1, 2]}, runs=2,
                   metrics=["time", "launch__grid_size"], **FAST)  # fmt: skip
    found = bench.profile()
    shape = [(row["n"], row["times"], row["range"], row["runs"], row["kernels"])
             for row in found.rows]  # fmt: skip
    assert shape == [
        (n, times, name, 2, count * times)
        for n in (10, 20) for times in (1, 2)
        for name, count in (("outer", 2), ("inner", 1))
    ]  # fmt: skip
    assert grids(found.result) == [n + i for n in (10, 20) for times in (1, 2) for _ in range(2)
                                   for _ in range(times) for i in range(3)]  # fmt: skip
    sizes = {(row["n"], row["range"]): row["launch__grid_size"] for row in found.rows}
    assert (sizes[10, "inner"], sizes[20, "outer"]) == (11, 20.5)


def fails(n):
    raise ValueError(f"of {n}")


def nothing(n):
    pass


def test_what_goes_wrong_is_told():
    with pytest.raises(NcuError, match="ValueError: of 3"):
        ncu(fails, 3, **FAST)
    with pytest.raises(NcuError, match="no process of the program used CUDA"):
        ncu(nothing, 3, **FAST)
    with pytest.raises(ValueError, match="no range 'iner' in the recording; the nearest"):
        ncu(launch, 3, ranges="iner", **FAST)


# What nsight-python's examples do, with nvspan.


def matrices(n, dtype="float32"):
    import torch

    kind = getattr(torch, dtype)
    return (torch.randn(n, n, device="cuda", dtype=kind) for _ in range(2))


def multiply(n):
    import nvspan

    a, b = matrices(n)
    with nvspan.annotate("matmul"):
        _ = a @ b


def compare(n):
    """The same by two ways."""
    import torch

    import nvspan

    a, b = matrices(n)
    with nvspan.annotate("@"):
        _ = a @ b
    with nvspan.annotate("einsum"):
        _ = torch.einsum("ij,jk->ik", a, b)


def several(n, dtype):
    """Several kernels in a range, and a range within."""
    import nvspan

    a, b = matrices(n, dtype)
    with nvspan.annotate("block"):
        c = a @ b
        with nvspan.annotate("activation"):
            c.relu_().add_(1)


@needs_torch
def test_example_minimal():
    found = kernel(multiply, sweep={"n": [512]}, **FAST).profile()
    (row,) = found.rows
    assert (row["range"], row["kernels"] >= 1, row[TIME] > 0) == ("matmul", True, True)


@needs_torch
def test_example_compare_and_throughput():
    found = kernel(
        compare, sweep={"n": [256, 512]},
        derive={"TFLOPS": lambda n, time: 2 * n**3 / time / 1e3}, **FAST,
    ).profile()  # fmt: skip
    assert [(row["n"], row["range"]) for row in found.rows] == [
        (256, "@"), (256, "einsum"), (512, "@"), (512, "einsum"),
    ]  # fmt: skip
    assert all(0 < row["TFLOPS"] < 2000 for row in found.rows)
    assert [row[TIME] for row in found.relative_to("@") if row["range"] == "@"] == [1, 1]


@needs_torch
def test_example_several_metrics_parameters_and_a_plot(tmp_path):
    pytest.importorskip("matplotlib")
    names = [TIME, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "smsp__inst_executed.sum"]
    found = kernel(
        several, sweep={"n": [256, 512], "dtype": ["float32", "float16"]}, metrics=names, **FAST
    ).profile()
    assert [(row["n"], row["dtype"], row["range"]) for row in found.rows] == [
        (n, dtype, name) for n in (256, 512) for dtype in ("float32", "float16")
        for name in ("block", "activation")
    ]  # fmt: skip
    for block, inner in zip(found.rows[::2], found.rows[1::2], strict=True):
        assert block["kernels"] > inner["kernels"] == 2
        assert all(block[name] > 0 for name in names)
        assert block["smsp__inst_executed.sum"] > inner["smsp__inst_executed.sum"]
    found.plot(tmp_path / "plot.png", metric=names[0], x="n")
    assert (tmp_path / "plot.png").stat().st_size > 5000


@needs_torch
def test_example_combined_kernels():
    found = kernel(several, sweep=[{"n": 256, "dtype": "float32"}], combine=max, **FAST).profile()
    added = kernel(several, sweep=[{"n": 256, "dtype": "float32"}], **FAST).profile()
    assert found.rows[0][TIME] < added.rows[0][TIME]


@needs_torch
def test_example_range_replay():
    result = ncu(several, 256, "float32", ranges="block", replay="range", **FAST)
    (one,) = result.results
    assert one.kind == "range"
    assert "block" in [each.name for each in one.ranges]
