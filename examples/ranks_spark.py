# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The recordings of a job reduced by Spark: ``spark-submit ranks_spark.py 's3://b/run-*.nvspan'``.

`read_many` takes whatever has `submit`: here a thread asks Spark for each task and waits for it.
"""

import sys
from concurrent.futures import Future, ThreadPoolExecutor

from pyspark.sql import SparkSession

import nvspan


class SparkExecutor(ThreadPoolExecutor):
    """Each task as a Spark job of one partition; Spark runs it again where a worker dies."""

    def __init__(self, session: SparkSession) -> None:
        self._context = session.sparkContext
        self.num_workers = self._context.defaultParallelism
        super().__init__(2 * self.num_workers)

    def submit(self, work, /, *args, **kwargs) -> Future:
        def run():
            return self._context.parallelize([0], 1).map(lambda _: work(*args, **kwargs)).first()

        return super().submit(run)


if __name__ == "__main__":
    with SparkExecutor(SparkSession.builder.getOrCreate()) as executor:
        for row in nvspan.read_many(sys.argv[1:], executor).stats().rows[:10]:
            print(f"{row.calls:12,} calls  p50 {row.p50:12,.0f} ns  {row.name}")
