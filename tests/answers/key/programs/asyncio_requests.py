# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Requests of coroutines, which wait for a database most of the time."""

import asyncio
import random

from measured import phase, work

random.seed(1)


async def handle() -> None:
    with phase("request", is_annotated=False):
        async with annotated("request"):
            with phase("parse"):
                work(3)
            with phase("db.query", is_annotated=False):
                async with annotated("db.query"):
                    await asyncio.sleep(0.012)
            with phase("render"):
                work(4)


def annotated(name: str):
    import nvspan

    return nvspan.annotate(name, kind="span")


async def main() -> None:
    tasks = []
    for _ in range(80):
        tasks.append(asyncio.create_task(handle()))
        await asyncio.sleep(random.expovariate(250))
    await asyncio.gather(*tasks)


asyncio.run(main())
