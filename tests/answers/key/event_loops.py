# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Event loops: coroutines that give the loop back, and some that hold it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import TypeAlias

from answers.key.program import MS, Program, Thread
from answers.key.truth import Truth, recording, says

# What a request does, one after the other: a range, its ms, and whether it holds the loop.
Work: TypeAlias = "list[tuple[str, float, bool]]"


class EventLoop:
    """A thread that runs coroutines; `held` are the times in which one does not give it back."""

    def __init__(self, program: Program, name: str = "request") -> None:
        self.thread: Thread = program.thread("MainThread", noise=0.08)
        self.name = name
        self.held: list[tuple[int, int, int]] = []
        self.requests: list[tuple[int, int]] = []
        self._ready: list[tuple[int, int, Iterator[int]]] = []
        self._begun = 0

    def start(self, at: int, work: Work, then: Callable[[int], None] | None = None) -> None:
        """A request that arrives at this time; `then` is called with the time of its end."""
        self._begun += 1
        heapq.heappush(self._ready, (at, self._begun, self._coroutine(self._begun, work, then)))

    def run(self) -> None:
        while self._ready:
            at, number, coroutine = heapq.heappop(self._ready)
            self.thread.now = max(self.thread.now, at) + 15_000
            wakes = next(coroutine, None)
            if wakes is not None:
                heapq.heappush(self._ready, (wakes, number, coroutine))

    def hold(self, name: str, ms: float, number: int = 0, nested: bool = False) -> None:
        """Work that does not give the loop back."""
        start = self.thread.now
        self.thread.spend(ms)
        if nested:
            self.thread.until(self.thread.now, name, start)
        else:
            self.thread.span(name, start, self.thread.now)
        self.held.append((start, self.thread.now, number))

    def held_share(self) -> float:
        """The percentage of the requests' time in which another one holds the loop."""
        whole = sum(end - start for start, end in self.requests)
        waiting = 0
        for number, (start, end) in enumerate(self.requests, 1):
            waiting += sum(
                max(0, min(end, until) - max(start, since))
                for since, until, owner in self.held
                if owner != number
            )
        return 100 * waiting / whole

    def _coroutine(self, number: int, work: Work, then) -> Iterator[int]:
        thread = self.thread
        begin = thread.now
        self.requests.append((begin, begin))
        place = len(self.requests) - 1
        thread.now += 3_000
        for name, ms, holds in work:
            if holds:
                self.hold(name, ms, place + 1)
            else:
                start = thread.now
                before = thread.now
                thread.spend(ms)
                wakes, thread.now = thread.now, before
                yield wakes
                thread.span(name, start, thread.now)
            thread.now += 2_000
        thread.span(self.name, begin, thread.now)
        self.requests[place] = (begin, thread.now)
        if then is not None:
            then(thread.now)


def clients(loop: EventLoop, count: int, each: int, work: Callable[[int, int], Work]) -> None:
    """Clients that send their next request when the one before is answered."""

    def send(client: int, number: int, at: int) -> None:
        if number < each:
            loop.start(
                at + 200_000, work(client, number), lambda end: send(client, number + 1, end)
            )

    for client in range(count):
        send(client, 0, client * 300_000)
    loop.run()


def arrivals(program: Program, loop: EventLoop, count: int, every: float, work: Work) -> None:
    """Requests that arrive whatever runs."""
    at = 0.0
    for _ in range(count):
        at += program.random.exponential(every * MS)
        loop.start(int(at), work)
    loop.run()


# ---- it is held ----
@recording
def reports_that_hash(program: Program) -> Truth:
    """One request in ten hashes for 30 ms, and seven others wait: their query takes 4 ms."""
    loop = EventLoop(program)

    def work(client: int, number: int) -> Work:
        render = 30.0 if (client + number) % 10 == 0 else 0.02
        return [("query", 4, False), ("render", render, True), ("send", 0.03, True)]

    clients(loop, 8, 60, work)
    share = loop.held_share()
    findings = (says("blocking", "render", "query", times=(4.0,), absent=("send",)),)
    return Truth("request", 480, findings, "slow", {"held up": share}, "request")


@recording
def orders_that_parse_without_a_pause(program: Program) -> Truth:
    """Each request parses for 6 ms; they arrive every 9 ms, and await 25 ms."""
    loop = EventLoop(program, "POST /orders")
    work: Work = [("redis.get", 10, False), ("parse_xml", 6, True), ("pg.insert", 15, False)]
    arrivals(program, loop, 400, 9, work)
    findings = (says("blocking", "parse_xml", absent=("redis.get holds",)),)
    share = loop.held_share()
    may = "slow levels jump trend"
    return Truth("POST /orders", 400, findings, may, {"held up": share}, "request")


@recording
def templates_in_two_loops(program: Program) -> Truth:
    """Each of two threads has a loop of its own."""
    loops = [EventLoop(program) for _ in range(2)]
    work: Work = [("fetch", 7, False), ("template", 11, True), ("send", 0.1, True)]
    for place, loop in enumerate(loops):
        loop.thread.now += place * 777_000
        clients(loop, 5, 60, lambda client, number: work)
    held = sum(program.durations("template")) / sum(thread_span(loop.thread) for loop in loops)
    finding = says("blocking", "template", "fetch", shares={"template": 100 * held})
    return Truth("request", 600, (finding,), "slow", unit="request")


def thread_span(thread: Thread) -> int:
    return max(row.end or 0 for row in thread.ranges) - min(row.start for row in thread.ranges)


@recording
def metrics_flushed_on_the_loop(program: Program) -> Truth:
    """A callback of no request, every tenth of a second."""
    loop = EventLoop(program, "handle")

    def flush(at: int) -> Iterator[int]:
        while at < 3_000 * MS:
            loop.hold("flush_metrics", 45, nested=True)
            at = loop.thread.now + 60 * MS
            yield at

    heapq.heappush(loop._ready, (20 * MS, -1, flush(0)))
    work: Work = [("cache.get", 3, False), ("db.fetch", 9, False), ("encode", 0.2, True)]
    arrivals(program, loop, 500, 5, work)
    finding = says("blocking", "flush_metrics", absent=("encode", "likely"))
    return Truth("handle", 500, (finding,), "slow dominant", unit="request")


# ---- it is not ----
@recording
def queries_that_only_await(program: Program) -> Truth:
    loop = EventLoop(program)
    work: Work = [("query", 22, False), ("fetch", 17, False), ("render", 0.3, True)]
    clients(loop, 8, 50, lambda client, number: work)
    share = program.share("query", "request")
    return Truth("request", 400, may="dominant", headline={"query": share}, unit="request")


@recording
def queries_of_two_clients(program: Program) -> Truth:
    """Few events are within a wait."""
    loop = EventLoop(program)
    work: Work = [("auth", 5, False), ("query", 30, False), ("render", 0.2, True)]
    clients(loop, 2, 120, lambda client, number: work)
    finding = says("dominant", "query", shares={"query": program.share("query", "request")})
    return Truth("request", 240, (finding,), unit="request")


@recording
def computing_for_one_client(program: Program) -> Truth:
    """It holds the loop for most of the time, and nobody waits."""
    loop = EventLoop(program)
    work: Work = [("query", 3, False), ("render", 12, True)]
    clients(loop, 1, 150, lambda client, number: work)
    finding = says("dominant", "render", shares={"render": program.share("render", "request")})
    return Truth("request", 150, (finding,), may="between")


@recording
def inference_in_batches(program: Program) -> Truth:
    """Eight requests wait for one batch of another process, and go on together."""
    thread = program.thread("MainThread")
    at = 1 * MS
    for _ in range(60):
        starts = sorted(at + int(program.random.uniform(0, 2) * MS) for _ in range(8))
        end = starts[-1] + int(28 * MS * (1 + 0.1 * program.random.random()))
        for place, start in enumerate(starts):
            until = end + 40_000 * place
            thread.span("predict", start, until + 25_000)
            thread.span("infer", start + 5_000, until)
        at = end + MS
    finding = says("dominant", "infer", shares={"infer": program.share("infer", "predict")})
    return Truth("predict", 480, (finding,), unit="request")


@recording
def writes_behind_an_async_lock(program: Program) -> Truth:
    """One request at a time holds a lock, and awaits meanwhile: the loop is free."""
    thread = program.thread("MainThread")
    free, ready = 0, [client * 400_000 for client in range(6)]
    for _ in range(240):
        client = min(range(6), key=ready.__getitem__)
        begin = ready[client]
        start = max(begin + 30_000, free + 20_000)
        end = start + int(8 * MS * (1 + 0.1 * program.random.random()))
        thread.span("write", begin, end + 20_000)
        thread.span("lock.acquire", begin + 10_000, start)
        thread.span("commit", start + 5_000, end)
        free, ready[client] = end, end + 300_000
    findings = (says("wait", "lock.acquire", "commit", "other requests"),)
    return Truth("write", 240, findings, unit="request")


@recording
def a_pool_of_one_connection(program: Program) -> Truth:
    """Nobody would know by its name that the first part is a wait; the loop is free."""
    thread = program.thread("MainThread")
    free, ready = 0, [client * 400_000 for client in range(6)]
    for _ in range(240):
        client = min(range(6), key=ready.__getitem__)
        begin = ready[client]
        start = max(begin + 30_000, free + 20_000)
        end = start + int(8 * MS * (1 + 0.1 * program.random.random()))
        thread.span("write", begin, end + 20_000)
        thread.span("get_connection", begin + 10_000, start)
        thread.span("sql", start + 5_000, end)
        free, ready[client] = end, end + 300_000
    shares = {"get_connection": program.share("get_connection", "write")}
    return Truth("write", 240, (says("dominant", shares=shares),), unit="request")
