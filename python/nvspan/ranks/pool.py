# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Work on an executor that may lose its workers."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from typing import Any, TypeVar

Result = TypeVar("Result")
Work = Callable[[Sequence[str]], Result]

_MOST_FILES = 32  # of one task
_TASKS_EACH = 4  # of a worker, so that none is long without work at the end


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Pool:
    """An executor, or what makes one, and how many tasks it takes at once.

    Args:
        given: None or "threads", "processes", any executor of `concurrent.futures`, or a client of
            Dask, whose executor is taken.

    Raises:
        TypeError: it is none of these.
        ValueError: another word.
    """

    def __init__(self, given: Any = None) -> None:
        self.own: Callable[[], futures.Executor] | None = None
        self.workers = processors()
        if given is None or given == "threads":
            self.own = lambda: futures.ThreadPoolExecutor(self.workers)
        elif given == "processes":
            self.own = lambda: _processes(self.workers)
        elif isinstance(given, str):
            raise ValueError(f"executor must be 'threads', 'processes' or an object, not {given!r}")
        elif hasattr(given, "get_executor"):  # of Dask
            self.workers = max(len(given.scheduler_info()["workers"]), 1)
            given = given.get_executor()
        elif not hasattr(given, "submit"):
            raise TypeError(
                "executor must be an executor of concurrent.futures or a client of Dask, not "
                f"{type(given).__name__}"
            )
        else:
            count = getattr(given, "num_workers", None) or getattr(given, "_max_workers", None)
            self.workers = count if isinstance(count, int) and count > 0 else self.workers
        self._executor = self.own() if self.own else given
        if isinstance(given, futures.ProcessPoolExecutor):
            self.own = lambda: _processes(self.workers)  # where it breaks
        self._made = self.own is not None and self._executor is not given

    def submit(self, work: Work[Result], files: Sequence[str]) -> futures.Future[Result]:
        """Gives work to a worker; where all have died, to a new one."""
        try:
            return self._executor.submit(work, files)
        except futures.BrokenExecutor:
            self.renew()
            return self._executor.submit(work, files)

    def renew(self) -> None:
        """Puts new workers in the place of those that died."""
        if self.own is None:
            return
        if self._made:
            self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor, self._made = self.own(), True

    def close(self) -> None:
        """Waits for the workers that were made here, and ends them."""
        if self._made:
            self._executor.shutdown(wait=True, cancel_futures=True)


def _processes(workers: int) -> futures.Executor:
    import multiprocessing

    # A fork would copy locks that threads of the caller hold.
    return futures.ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))


def run(
    pool: Pool,
    work: Work[Result],
    files: Sequence[str],
    lost: Callable[[str, str], None],
    done: Callable[[int], None],
) -> Iterator[Result]:
    """What `work` makes of the files, a few at a time, in no order.

    Files whose worker died, or whose task failed otherwise, are given to a worker once more, each
    alone: `lost` is called with the path of one that fails again, and why. `done` is called with
    the number of files after each task.
    """
    size = max(1, min(_MOST_FILES, len(files) // (pool.workers * _TASKS_EACH)))
    tasks = deque(files[at : at + size] for at in range(0, len(files), size))
    running: dict[futures.Future[Result], Sequence[str]] = {}
    again: list[str] = []
    while tasks or running:
        while tasks and len(running) < 2 * pool.workers:
            task = tasks.popleft()
            running[pool.submit(work, task)] = task
        finished, _ = _wait(running)
        for future in finished:
            task = running.pop(future)
            try:
                result = future.result()
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException:  # a cancelled future's error is no Exception
                again += task
                continue
            yield result
            done(len(task))
    for path in again:
        try:
            result = pool.submit(work, [path]).result()
        except futures.BrokenExecutor:
            pool.renew()
            lost(path, "the worker that read it died, twice")
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            lost(path, f"{type(error).__name__}: {error}")
        else:
            yield result
        done(1)


def run_all(
    executor: object,
    work: Work[Result],
    files: Sequence[str],
    lost: Callable[[str, str], None],
    progress: Callable[[float], object] | None,
) -> Iterator[Result]:
    """As `run`, on a pool that is closed at the end; `progress` gets the part that is done."""
    finished = 0

    def done(count: int) -> None:
        nonlocal finished
        finished += count
        if progress is not None:
            progress(finished / len(files))

    workers = Pool(executor)
    try:
        yield from run(workers, work, files, lost, done)
    finally:
        workers.close()


def _wait(running: dict[futures.Future[Result], Sequence[str]]) -> tuple[Any, Any]:
    """The futures that are done; those of Dask's and MPI's executors are of the same class."""
    return futures.wait(running, return_when=futures.FIRST_COMPLETED)
