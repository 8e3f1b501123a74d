# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Requests: overlapping steps of coroutines, of start/end ranges, and of pools of threads."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from answers.key.program import MS, Parts, Program, Range, Thread
from answers.key.truth import Truth, recording, says

WEB = {"parse": 4.0, "db.query": 16.0, "render": 10.0}


def tasks(
    program: Program,
    count: int,
    parts: Mapping[str, float],
    every: float,
    *,
    name: str = "request",
    slow: Mapping[int, tuple[str, float]] | None = None,
    noise: float = 0.15,
) -> None:
    """Coroutines of one thread: a request begins about `every` so many ms, whatever runs.

    `slow` has for the number of a request which part takes how many ms more.
    """
    thread = program.thread("event loop")
    begin = 5_000.0
    for number in range(count):
        begin += program.random.exponential(every * MS)
        slow_part, extra = (slow or {}).get(number, ("", 0.0))
        at, rows = begin, []
        for part, ms in parts.items():
            duration = ms * MS * math.exp(noise * program.random.normal())
            duration += extra * MS if part == slow_part else 0
            if part and not part.startswith("("):
                rows.append((part, at + 300, at + duration))
            at += duration + 1500
        thread.span(name, begin, at)
        for row in rows:
            thread.span(*row)


def pool(
    program: Program,
    count: int,
    parts: Parts,
    *,
    name: str = "handle_request",
    workers: int = 6,
    every: float = 3.0,
    noise: float = 0.1,
    thread_name: str = "worker-{}",
) -> None:
    """Threads of a pool: the first that is free takes the next request."""
    threads = [program.thread(thread_name.format(number), noise=noise) for number in range(workers)]
    for number in range(count):
        thread = min(threads, key=lambda thread: thread.now)
        thread.now += int(program.random.exponential(every * MS))
        with thread.range(name.format(number)):
            thread.run(parts, number)


def in_some(numbers: Collection[int], ms: float, otherwise: float = 0.0):
    """A part that takes `ms` in the requests of these numbers."""
    return lambda number: ms if number in numbers else otherwise


def every_nth(count: int, first: int, distance: int, part: str, ms: float):
    return dict.fromkeys(range(first, count, distance), (part, ms))


@recording
def requests_of_coroutines(program: Program) -> Truth:
    tasks(program, 40, WEB, 6, noise=0.1)
    share = program.share("db[.]query", "request")
    return Truth("request", 40, may="dominant", unit="request", headline={"db.query": share})


@recording
def requests_that_one_part_makes_slow(program: Program) -> Truth:
    tasks(program, 100, WEB, 6, slow=every_nth(100, 7, 13, "db.query", 80), noise=0.1)
    finding = says("slow", "db.query", absent=("render",))
    return Truth("request", 100, (finding,), may="dominant", unit="request")


@recording
def requests_of_which_two_in_a_hundred_are_slow(program: Program) -> Truth:
    slow = dict.fromkeys(program.pick(4, 200), ("render", 120.0))
    tasks(program, 200, WEB, 6, slow=slow, noise=0.1)
    finding = says("slow", "render", figures=(4, 200), absent=("db.query",))
    return Truth("request", 200, (finding,), may="dominant", unit="request")


@recording
def requests_of_which_a_third_is_slow(program: Program) -> Truth:
    slow = dict.fromkeys(program.pick(60, 180), ("render", 60.0))
    tasks(program, 180, WEB, 6, slow=slow, noise=0.1)
    finding = says("slow", "render", figures=(60, 180), absent=("db.query",))
    return Truth("request", 180, (finding,), may="dominant", unit="request")


@recording
def nothing_in_requests_of_skewed_length(program: Program) -> Truth:
    """The slowest tenth takes twice the median, and none stands apart."""
    tasks(program, 200, {"compute": 20}, 6, noise=0.4)
    return Truth("request", 200, may="dominant", unit="request")


@recording
def requests_that_a_cache_makes_slow(program: Program) -> Truth:
    slow = dict.fromkeys(program.pick(12, 150), ("redis.get", 60.0))
    tasks(
        program,
        150,
        {"redis.get": 5, "template.render": 6, "socket.send": 4},
        4,
        name="handle",
        slow=slow,
    )
    return Truth("handle", 150, (says("slow", "redis.get"),), unit="request")


@recording
def requests_with_awaits_that_have_no_range(program: Program) -> Truth:
    slow = dict.fromkeys(program.pick(10, 120), ("pg.fetch", 90.0))
    parts = {"parse": 2, "(one)": 6, "pg.fetch": 8, "(two)": 5, "render": 3}
    tasks(program, 120, parts, 5, name="http_request", slow=slow)
    return Truth(
        "http_request", 120, (says("slow", "pg.fetch"),), may="unnamed dominant", unit="request"
    )


@recording
def requests_of_a_language_model(program: Program) -> Truth:
    tasks(program, 80, {"prefill": 12, "decode": 60}, 10, name="generate_request")
    share = program.share("decode", "generate_request")
    return Truth(
        "generate_request",
        80,
        (says("dominant", "decode", shares={"decode": share}),),
        unit="request",
        headline={"decode": share},
    )


@recording
def nothing_between_equal_requests(program: Program) -> Truth:
    tasks(program, 90, {"a.read": 4, "b.compute": 5, "c.write": 4}, 5, name="http_request")
    return Truth("http_request", 90, unit="request")


@recording
def nothing_in_many_requests_at_once(program: Program) -> Truth:
    """Thirty at once."""
    tasks(program, 300, {"read": 20, "compute": 24, "write": 20}, 2, name="http_request")
    return Truth("http_request", 300, unit="request")


@recording
def requests_that_queue_up(program: Program) -> Truth:
    thread = program.thread("event loop")
    at = 0.0
    for number in range(160):
        at += program.random.exponential(5 * MS)
        queued = (2 + 0.25 * number) * math.exp(0.1 * program.random.normal())
        work = 9 * math.exp(0.1 * program.random.normal())
        thread.span("request", at, at + (queued + work) * MS)
        thread.span("in queue", at + 200, at + queued * MS)
        thread.span("work", at + queued * MS + 500, at + (queued + work) * MS - 300)
    return Truth("request", 160, (says("trend", "in queue"),), may="dominant slow", unit="request")


@recording
def requests_that_end_in_another_thread(program: Program) -> Truth:
    """Accepted in one thread, answered by another."""
    accept, answer = program.thread("acceptor"), program.thread("responder", noise=0.1)
    for _ in range(80):
        accept.now += int(program.random.exponential(6 * MS))
        answer.now = max(answer.now, accept.now)
        for part, ms in (("parse", 1.2), ("lookup", 1.5), ("send", 1.3)):
            answer.leaf(part, ms)
        accept.span("request", accept.now - 30_000, answer.now + 20_000, ends_in=1)
    return Truth("request", 80, may="dominant unnamed slow trend levels", unit="request")


@recording
def requests_worked_on_in_other_threads(program: Program) -> Truth:
    accept = program.thread("acceptor")
    workers = [program.thread(f"worker {number}", noise=0.1) for number in range(3)]
    at = 0.0
    for _ in range(90):
        at += program.random.exponential(6 * MS)
        worker = min(workers, key=lambda worker: worker.now)
        worker.now = int(max(worker.now, at + 20_000))
        worker.leaf("inference", 9)
        accept.span("request", at, worker.now + 30_000)
    return Truth(
        "request",
        90,
        may="dominant unnamed slow jump trend levels",
        unit="request",
        headline={"inference": program.share("inference", "request")},
    )


@recording
def coroutines_with_plain_ranges(program: Program) -> Truth:
    thread = program.thread("asyncio")
    at = 0.0
    for _ in range(60):
        at += program.random.exponential(8 * MS)
        wait = 25 * MS * math.exp(0.2 * program.random.normal())
        begin = thread.now = int(max(at, thread.now))
        thread.leaf("parse", 0.4)
        end = thread.now + wait
        thread.span("request", begin - 300, end + 2 * MS)
        thread.span("fetch upstream", thread.now + 200, end)
    share = program.share("fetch upstream", "request")
    finding = says("dominant", "fetch upstream", shares={"fetch upstream": share})
    return Truth("request", 60, (finding,), unit="request")


@recording
def requests_of_a_pool(program: Program) -> Truth:
    pool(program, 300, {"auth": 3, "query": 8, "serialize": 6})
    return Truth("handle_request", 300, unit="request")


@recording
def requests_of_a_pool_that_wait_for_a_lock(program: Program) -> Truth:
    slow = range(5, 300, 17)
    parts = {"auth": 3, "lock.acquire": in_some(slow, 60), "query": 8, "serialize": 6}
    pool(program, 300, parts)
    finding = says("slow", "lock.acquire", absent=("serialize",))
    return Truth("handle_request", 300, (finding,), unit="request")


@recording
def tasks_of_a_pool(program: Program) -> Truth:
    pool(program, 120, {"auth": 3, "query": 8, "serialize": 6}, name="task", workers=4)
    return Truth("task", 120, unit="request")


@recording
def numbered_urls(program: Program) -> Truth:
    parts = {"authenticate": 2, "SELECT users": 3, "to_json": 2.5}
    pool(
        program,
        400,
        parts,
        name="GET /users/{}",
        workers=8,
        every=2,
        noise=0.2,
        thread_name="waitress-{}",
    )
    return Truth("GET /users", 400, unit="request")


@recording
def requests_slow_in_no_range(program: Program) -> Truth:
    parts = {"deserialize": 3, "": in_some(range(5, 200, 13), 40), "lookup": 5, "serialize": 4}
    pool(program, 200, parts, name="rpc.request", workers=5, every=2, thread_name="grpc-{}")
    return Truth(
        "rpc.request",
        200,
        (says("slow", absent=("'lookup' makes",)),),
        may="unnamed",
        unit="request",
    )


@recording
def requests_that_two_parts_make_slow(program: Program) -> Truth:
    big = range(3, 200, 11)
    parts = {"read": in_some(big, 20, 2), "crunch": in_some(big, 24, 2.4), "store": 2}
    pool(program, 200, parts, name="job", workers=4, every=2, thread_name="w{}")
    return Truth(
        "job", 200, (says("slow", "crunch", absent=("store",)),), may="dominant", unit="request"
    )


@recording
def requests_one_after_the_other(program: Program) -> Truth:
    """A server of one thread: they do not overlap."""
    thread = program.thread(noise=0.1)
    for number in range(250):
        thread.spend(1.0, 0.8)
        with thread.range("handle_request"):
            slow = number in (20, 99, 180, 181)
            thread.run({"auth": 1, "db": 70 if slow else 2, "json": 1.5})
    return Truth(
        "handle_request", 250, (says("rare", "db", figures=(4, 250)),), may="between dominant"
    )


def handed(
    program: Program,
    count: int,
    parts: Sequence[Mapping[str, float]],
    *,
    pause: float = 0.02,
    at_once: bool = False,
) -> list[Thread]:
    """Jobs that go from thread to thread, each with its own parts; `pause` in ms is between two.

    `at_once`: a thread begins the next job while the others are not yet done with this one.
    """
    threads = [program.thread(f"stage-{place}", noise=0.05) for place in range(len(parts))]
    last = threads[-1]
    for _ in range(count):
        first = threads[0]
        begin = first.now = (first.now if at_once else last.now) + 40_000
        at = begin
        for thread, work in zip(threads, parts, strict=True):
            thread.now = max(thread.now, at)
            thread.run(work)
            at = thread.now + int(pause * MS)
        first.span("tile", begin, last.now + 5_000, ends_in=len(threads) - 1)
        last.now += 10_000
    return threads


@recording
def tiles_of_three_threads(program: Program) -> Truth:
    """The one in the middle neither begins nor ends a tile."""
    handed(program, 150, [{"read": 2.1, "crop": 2.2}, {"warp": 2.4}, {"encode": 2.3, "put": 1.9}])
    return Truth("tile", 150)


@recording
def tiles_in_a_pipeline(program: Program) -> Truth:
    """Each thread begins the next tile while the others are not yet done with this one."""
    parts = [{"read": 2.1, "crop": 1.7}, {"warp": 2.6, "encode": 1.5, "put": 1.2}]
    handed(program, 30, parts, at_once=True)
    shares = {name: program.share(name, "tile") for name in ("warp", "read")}
    return Truth("tile", 30, may="unnamed trend", unit="request", headline=shares)


@recording
def tiles_that_lie_between_threads(program: Program) -> Truth:
    """Between the two threads is time in no range; a third thread has nothing to do with it."""
    threads = handed(program, 200, [{"read": 2.1}, {"warp": 2.4, "put": 1.6}], pause=4)
    heartbeat = program.thread("heartbeat", noise=0.2)
    while heartbeat.now < threads[-1].now:
        heartbeat.leaf("send_metrics", 3)
        heartbeat.spend(4)
    inside = sum(program.share(name, "tile") for name in ("read", "warp", "put"))
    finding = says("unnamed", "read", "warp", shares={"": 100 - inside}, absent=("send_metrics",))
    return Truth("tile", 200, (finding,))


@recording
def start_and_end_in_turn_over_two_threads(program: Program) -> Truth:
    """Each job is started here and ended there, and none overlaps another."""
    first, second = program.thread("submit"), program.thread("reap", noise=0.1)
    for _ in range(60):
        begin = first.now = max(first.now, second.now) + 50_000
        second.now = begin + 100_000
        second.run({"unpack": 1.1, "apply": 1.3, "log": 1.0})
        first.ranges.append(Range("job", begin, second.now + 10_000, nested=False, ends_in=1))
        second.now += 20_000
    return Truth("job", 60, may="dominant unnamed")
