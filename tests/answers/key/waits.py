# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Waits, and what the thread that is waited for does meanwhile."""

from __future__ import annotations

from answers.key.program import MS, TRAIN, Program
from answers.key.truth import Truth, recording, says


def waiting(
    program: Program,
    wait: str,
    work: str,
    thread_name: str,
    *,
    rounds: int = 50,
    decoy: bool = False,
) -> Truth:
    """A loop that waits in each round for another thread's work; a decoy is busy all the time."""
    thread, worker = program.thread(), program.thread(thread_name, noise=0.1)
    other = program.thread("heartbeat", noise=0.3) if decoy else None
    for _ in range(rounds):
        with thread.range("step"):
            thread.leaf("forward", 2)
            worker.now = thread.now + 20_000
            worker.leaf(work, 6)
            thread.until(worker.now + 5_000, wait)
            thread.leaf("backward", 2.5)
        thread.spend(0.02)
    while other and other.now < thread.now:
        other.leaf("send_metrics", 40)
    share = program.share(wait.replace(".", "[.]"), "step")
    finding = says("wait", wait, thread_name, work, shares={wait: share}, absent=("send_metrics",))
    return Truth("step", rounds, (finding,), may="dominant")


@recording
def wait_for_a_queue(program: Program) -> Truth:
    return waiting(program, "queue.get", "decode_jpeg", "loader")


@recording
def wait_for_a_lock_beside_a_decoy(program: Program) -> Truth:
    return waiting(program, "lock.acquire", "flush_to_disk", "writer", decoy=True)


@recording
def wait_for_a_database_lock_beside_a_decoy(program: Program) -> Truth:
    return waiting(program, "waiting for db lock", "vacuum", "autovacuum", rounds=40, decoy=True)


@recording
def wait_for_a_future(program: Program) -> Truth:
    return waiting(program, "future.result", "resize", "ThreadPoolExecutor-0_0", rounds=20)


@recording
def wait_for_a_condition(program: Program) -> Truth:
    return waiting(program, "condition.wait", "fill buffer", "producer", rounds=40)


@recording
def wait_for_a_semaphore(program: Program) -> Truth:
    return waiting(program, "semaphore", "drain", "consumer", rounds=40, decoy=True)


@recording
def wait_for_an_event_whose_range_has_parts(program: Program) -> Truth:
    thread, sensor = program.thread(noise=0.05), program.thread("sensor", noise=0.05)
    for _ in range(100):
        with thread.range("cycle"):
            begin = thread.now
            sensor.now = begin + 100_000
            with sensor.range("acquire frame data"):
                sensor.run({"expose": 4, "readout": 1.5})
            thread.until(sensor.now + 500, "Event.wait", begin)
            thread.run({"detect": 3, "track": 1.5})
    shares = {"Event.wait": program.share("Event[.]wait", "cycle")}
    finding = says("wait", "sensor", "expose", shares=shares)
    return Truth("cycle", 100, (finding,), may="dominant")


@recording
def barrier_of_threads(program: Program) -> Truth:
    """One of three is late."""
    thread = program.thread()
    others = [program.thread(f"shard-{number}", noise=0.05) for number in range(3)]
    for _ in range(40):
        with thread.range("iteration"):
            thread.leaf("scatter", 2)
            for number, worker in enumerate(others):
                worker.now = thread.now
                worker.leaf("reduce_part", [3, 3, 9][number])
            thread.until(max(worker.now for worker in others) + 3000, "barrier.wait")
            thread.leaf("gather", 3)
    finding = says("wait", "barrier.wait", "shard-2", "reduce_part")
    return Truth("iteration", 40, (finding,), may="dominant")


@recording
def compaction_that_holds_the_lock(program: Program) -> Truth:
    thread, worker = program.thread(), program.thread("compactor", noise=0.1)
    for number in range(60):
        with thread.range("transaction"):
            thread.leaf("read set", 1)
            if number % 3 == 1:
                worker.now = thread.now - 500_000
                worker.leaf("compact", 9)
                thread.until(worker.now + 2000, "mutex.lock")
            thread.run({"write set": 1.5, "commit": 1.5})
    findings = (says("wait", "mutex.lock", "compact"), says("period", "3rd", "mutex.lock"))
    return Truth("transaction", 60, findings, may="dominant")


@recording
def prefetch_by_two_threads(program: Program) -> Truth:
    thread = program.thread(noise=0.05)
    loaders = [program.thread(f"prefetch_{number}", noise=0.1) for number in range(2)]
    for number in range(60):
        with thread.range("train_batch"):
            worker = loaders[number % 2]
            worker.now = max(worker.now, thread.now - 3 * MS)
            worker.leaf("read_shard", 8)
            thread.until(worker.now + 1000, "wait_for_batch")
            thread.leaf("update", 3)
    return Truth("train_batch", 60, (says("wait", "wait_for_batch", "read_shard"),), may="dominant")


@recording
def join_in_a_program_without_steps(program: Program) -> Truth:
    thread, worker = program.thread(), program.thread("crunch")
    with thread.range("main"):
        thread.leaf("read", 20)
        worker.now = thread.now
        worker.leaf("compress", 300)
        thread.until(worker.now + 2000, "thread.join")
        thread.leaf("write", 30)
    shares = {"thread.join": program.share("thread[.]join")}
    finding = says("wait", "crunch", "compress", shares=shares)
    return Truth(None, None, (finding,), may="dominant self")


@recording
def pool_that_is_mapped(program: Program) -> Truth:
    """Each image is cut into tiles for three workers."""
    thread = program.thread()
    workers = [program.thread(f"ForkPoolWorker-{number}", noise=0.05) for number in range(3)]
    for number in range(40):
        with thread.range(f"image {number}"):
            thread.leaf("split", 2)
            for worker in workers:
                worker.now = thread.now + 50_000
                worker.leaf("transform_tile", 8)
            thread.until(max(worker.now for worker in workers) + 10_000, "pool.map")
            thread.leaf("merge", 2.5)
    shares = {"pool.map": program.share("pool[.]map", r"image \d+")}
    finding = says("wait", "transform_tile", "ForkPoolWorker", shares=shares)
    return Truth("image", 40, (finding,), may="dominant")


@recording
def wait_for_what_no_range_shows(program: Program) -> Truth:
    """No other thread has a range: that is said, and no thread is named."""
    thread, worker = program.thread(), program.thread("loader")
    worker.leaf("start", 1)
    for _ in range(50):
        with thread.range("step"):
            thread.run({"forward": 2, "queue.get": 6, "backward": 2.5})
    finding = says("wait", "queue.get", absent=("loader", "start"))
    return Truth("step", 50, (finding,), may="dominant")


@recording
def joins_of_strings_and_tables(program: Program) -> Truth:
    """No waits."""
    parts = {"hash_join": 2.4, "os.path.join": 2.6, "select_action": 2.8, "merge": 2.2}
    program.loop("step", 60, parts, noise=0.03)
    return Truth("step", 60)


@recording
def short_waits(program: Program) -> Truth:
    program.loop("step", 60, TRAIN | {"queue.get": 0.4}, noise=0.03)
    return Truth("step", 60)


@recording
def worker_that_waits_for_the_loop(program: Program) -> Truth:
    """The other way round: the loop waits for nobody."""
    thread, worker = program.thread(noise=0.03), program.thread("writer")
    for _ in range(50):
        begin = thread.now
        with thread.range("step"):
            thread.run(TRAIN)
        worker.now = begin
        worker.until(thread.now, "queue.get")
        worker.leaf("write", 0.5)
    return Truth("step", 50)


def locked(
    program: Program,
    holds: list[tuple[int, int]],
    *,
    count: int = 240,
    inside: float = 0,
    step: str = "post_entry",
) -> None:
    """Four workers that need a lock: it is held in `holds`, and by each for `inside` ms."""
    workers = [program.thread(f"worker-{number}", noise=0.1) for number in range(4)]
    free = 0
    for number, worker in enumerate(workers):
        worker.now += number * 3 * MS
    for _ in range(4 * count):
        worker = min(workers, key=lambda one: one.now)
        with worker.range(step):
            worker.leaf("parse", 4)
            held = [end for begin, end in holds if begin <= worker.now < end]
            worker.until(max([worker.now, free, *held]) + 8_000, "rows.lock")
            if inside:
                worker.leaf("update_rows", inside)
                free = worker.now
            worker.run({"index": 9, "reply": 5.5})
        worker.spend(0.2)


def held_by(program: Program, thread: str, work: str, every: float, ms: float, until: float):
    """Times in which another thread holds a lock, in which it does this work."""
    holder, holds = program.thread(thread, noise=0.02), []
    for number in range(1, int(until / every) + 1):
        holder.now = begin = int(number * every * MS)
        holder.leaf(work, ms)
        holds.append((begin, holder.now))
    return holds


@recording
def requests_behind_a_rare_lock(program: Program) -> Truth:
    """Few wait for it, and these for most of their time."""
    locked(program, held_by(program, "autovacuum", "vacuum_table", 1500, 60, 4400))
    slow = says("slow", "rows.lock", "autovacuum", "vacuum_table", absent=("reply",))
    return Truth("post_entry", 960, (slow,), unit="request")


@recording
def requests_that_hold_a_lock_in_turn(program: Program) -> Truth:
    """Nobody but the other requests holds it."""
    locked(program, [], inside=10)
    finding = says("wait", "rows.lock", "other requests", "update_rows", absent=("'index'",))
    return Truth("post_entry", 960, (finding,), may="dominant slow", unit="request")


@recording
def requests_behind_a_lock_of_another_process(program: Program) -> Truth:
    """The other requests work meanwhile, and have nothing to do with it."""
    holds = [(int(at * MS), int((at + 90) * MS)) for at in range(200, 5200, 400)]
    locked(program, holds)
    names = ("'index'", "'parse'", "'reply'")
    findings = (
        says("slow", "rows.lock", absent=names),
        says("wait|slow", "rows.lock", absent=names),
    )
    return Truth("post_entry", 960, findings, unit="request")


@recording
def steps_behind_a_rare_lock(program: Program) -> Truth:
    """Four of 200 steps wait for what another thread does."""
    thread, saver = program.thread(noise=0.04), program.thread("snapshot", noise=0.05)
    slow = program.pick(4, 200)
    for number in range(200):
        with thread.range("step"):
            thread.leaf("forward", 4)
            if number in slow:
                saver.now = thread.now - 200_000
                saver.leaf("copy_weights", 55)
                thread.until(saver.now + 3_000, "weights.lock")
            thread.run({"gradient": 5, "apply": 3.5})
        thread.spend(0.02)
    finding = says("rare", "weights.lock", "snapshot", "copy_weights", figures=(4, 200))
    return Truth("step", 200, (finding,))


@recording
def requests_beside_a_thread_that_is_merely_busy(program: Program) -> Truth:
    """Twenty of 600 requests wait for another host; a thread exports metrics all the time."""
    workers = [program.thread(f"api-{number}", noise=0.1) for number in range(4)]
    metrics = program.thread("metrics", noise=0.1)
    slow = program.pick(20, 600)
    for number in range(600):
        worker = min(workers, key=lambda worker: worker.now)
        with worker.range("request"):
            worker.run({"auth": 4, "redis.wait": 80 if number in slow else 0.4, "render": 5})
    while metrics.now < worker.now:
        metrics.leaf("export", 7)
        metrics.spend(3)
    finding = says("slow", "redis.wait", figures=(20, 600), absent=("metrics", "export"))
    return Truth("request", 600, (finding,), may="dominant", unit="request")
