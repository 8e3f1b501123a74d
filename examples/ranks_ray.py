# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The recordings of a job reduced by Ray: ``python ranks_ray.py 's3://bucket/run-*.nvspan'``.

`read_many` takes whatever has `submit`: here it is a remote function.
"""

import sys
from concurrent.futures import Executor, Future

import ray

import nvspan


class RayExecutor(Executor):
    """Each task on a worker of the cluster; Ray starts one again whose worker dies."""

    def __init__(self) -> None:
        if not ray.is_initialized():
            ray.init()
        self.num_workers = int(ray.cluster_resources().get("CPU", 1))

    def submit(self, work, /, *args, **kwargs) -> Future:
        return ray.remote(lambda: work(*args, **kwargs)).remote().future()


if __name__ == "__main__":
    for row in nvspan.read_many(sys.argv[1:], RayExecutor()).stats().rows[:10]:
        print(f"{row.calls:12,} calls  p50 {row.p50:12,.0f} ns  {row.name}")
