# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The same bytes by Dask and by MPI, where they are installed."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import nvspan
from helpers.job import write_job
from helpers.traced import clean_environment
from helpers.tree import ROOT
from nvspan.ranks import pool

# Open MPI starts no more processes than there are processors, and none for root.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
BY_MPI = """
import sys
from mpi4py.futures import MPIPoolExecutor
import nvspan

if __name__ == "__main__":
    with MPIPoolExecutor(2) as executor:
        job = nvspan.read_many(sys.argv[1], executor, by_rank=True, steps=True)
    sys.stdout.buffer.write(job.to_bytes())
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    return write_job(tmp_path_factory.mktemp("job"), 24)


@pytest.fixture(scope="module")
def wanted(job):
    return nvspan.read_many(job, by_rank=True, steps=True).to_bytes()


def die_once(files, flag):
    if not os.path.exists(flag):
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return list(files)


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_dask_gives_the_same_bytes(client, job, wanted):
    assert nvspan.read_many(job, client, by_rank=True, steps=True).to_bytes() == wanted
    executor = client.get_executor()
    assert nvspan.read_many(job, executor, by_rank=True, steps=True).to_bytes() == wanted


def test_a_worker_of_dask_that_dies_is_repeated(client, tmp_path):
    names = [f"{at:02}" for at in range(20)]
    lost, done = {}, []
    work = functools.partial(die_once, flag=str(tmp_path / "died"))
    found = list(pool.run(pool.Pool(client), work, names, lost.__setitem__, done.append))
    assert sorted(name for part in found for name in part) == names
    assert (lost, sum(done)) == ({}, 20)


def test_mpi_gives_the_same_bytes(job, wanted, tmp_path):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    mpiexec = shutil.which("mpiexec") or shutil.which("mpiexec", path=Path(sys.executable).parent)
    if mpiexec is None:
        pytest.skip("no mpiexec on PATH")
    program = tmp_path / "reduce.py"
    program.write_text(BY_MPI)
    done = subprocess.run(
        [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", program, job[0].parent],
        capture_output=True, timeout=300, check=False,
        env={**clean_environment(), **OPEN_MPI},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == wanted


@pytest.mark.parametrize(
    ("package", "example"), [("ray", "ranks_ray.py"), ("pyspark", "ranks_spark.py")]
)
def test_an_example_gives_the_same_rows(package, example, job):
    pytest.importorskip(package, reason=f"{package} is not installed")
    if package == "pyspark" and shutil.which("java") is None:
        pytest.skip("Spark needs java")
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / example, job[0].parent], capture_output=True,
        text=True, timeout=400, check=False,
        env={**clean_environment(), "PYSPARK_PYTHON": sys.executable},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = nvspan.read_many(job).stats().rows
    assert [line for line in done.stdout.splitlines() if " calls  p50 " in line] == [
        f"{row.calls:12,} calls  p50 {row.p50:12,.0f} ns  {row.name}" for row in rows
    ]
