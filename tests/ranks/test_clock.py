# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan clock``: offsets that are known lie in the stated intervals, by real processes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

import nvspan
from helpers.lines import next_line
from helpers.reported import run_nvspan
from helpers.traced import clean_environment
from helpers.written_ranks import MS, write_job
from nvspan.ranks.clock import system
from nvspan.ranks.clock.clocks import Clocks, load, rows
from nvspan.ranks.clock.local import this_host
from nvspan.ranks.clock.probe import ClockError, Interval, address_of, ask, offset_of

US = 1_000
COMMAND = [sys.executable, "-m", "nvspan", "clock"]


def start(*words, **variables):
    return subprocess.Popen(
        [*COMMAND, *map(str, words)], env={**clean_environment(), **variables}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@contextmanager
def serving(pretend):
    """A host that serves, and its port."""
    process = start("--serve", "--port", 0, "--pretend", pretend)
    try:
        port = re.search(r"on port (\d+)", next_line(process, process.stderr))
        yield int(port[1])
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        process.communicate()


@contextmanager
def relay(port, there, back):
    """A way to `port` that takes longer in one direction than in the other: seconds."""

    def pump(source, to, delay):
        with source, to:
            while data := source.recv(4096):
                time.sleep(delay)
                to.sendall(data)

    def accept():
        while True:
            try:
                asker, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", port))
            for way in ((asker, server, there), (server, asker, back)):
                source, to = (end.dup() for end in way[:2])
                for end in (source, to):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=pump, args=(source, to, way[2]), daemon=True).start()
            asker.close()
            server.close()

    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.mark.parametrize("offset", [0, 3_000_000_000, -7_000_000_000_000])
@pytest.mark.parametrize("ways", [None, (0.003, 0.0), (0.0, 0.003)])
def test_a_known_offset_lies_in_the_interval(tmp_path, offset, ways):
    file = tmp_path / "clocks.json"
    with serving(f"other:{offset}") as port:
        if ways is None:
            run_nvspan("clock", "--ask", f"127.0.0.1:{port}", "-o", file)
        else:
            with relay(port, *ways) as way:
                run_nvspan("clock", "--ask", f"127.0.0.1:{way}", "-o", file)
    (found,) = load(file).hosts["other"].measured
    assert found.low <= -offset <= found.high
    # As far as the way is long, and no further: half of 3 ms, or the network within a host.
    assert found.half >= (1.5 * MS if ways else 0)
    assert found.half < 50 * MS


def test_start_and_end_of_a_job_give_the_drift(tmp_path):
    file = tmp_path / "clocks.json"
    with serving("fast:1000000:100") as port:
        for _ in range(2):
            run_nvspan("clock", "--ask", f"127.0.0.1:{port}", "-o", file)
            time.sleep(0.5)
        done = run_nvspan("clock", "--json", "--ask", f"127.0.0.1:{port}", "-o", file)
    document = json.loads(done.stdout)
    assert document == json.loads(file.read_text())
    clocks = load(file)
    measured = clocks.hosts["fast"].measured
    assert len(measured) == 3
    for each in measured:
        true = -1_000_000 - round(each.at * 100e-6)
        assert each.low <= true <= each.high
    low, high = clocks.hosts["fast"].drift()
    assert low <= 100e-6 <= high
    (row,) = rows(clocks)
    assert abs(row["drift_ppm"] - 100) <= row["drift_half_ppm"] + 1e-3
    for (at, low, high), each in zip(
        clocks.priors(this_host().host)["fast"], measured, strict=True
    ):
        assert (low, high) == (each.low, each.high)
        assert at == each.at - each.middle


def run_job(folder, hosts, *words, **variables):
    """A process for each rank; the output of each, and its exit code."""
    processes = []
    for rank, host in enumerate(hosts):
        if host is not None:
            processes.append(start(
                "-o", folder / "clocks.json", "--pretend", host, *words,
                RANK=str(rank), WORLD_SIZE=str(len(hosts)), **variables,
            ))  # fmt: skip
    ended = [process.communicate(timeout=90) for process in processes]
    return [(p.returncode, *texts) for p, texts in zip(processes, ended, strict=True)]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@pytest.mark.parametrize("by", ["file", "address"])
def test_a_tree_of_hosts(tmp_path, by):
    # Two ranks of each host; the last host is two steps away from rank 0.
    offsets = [(host * 10**9, (-1) ** host * host * 10) for host in range(10)]
    pretend = [f"node{host}:{offset}:{ppm}" for host, (offset, ppm) in enumerate(offsets)]
    hosts = [pretend[0], *pretend]
    found = {"MASTER_ADDR": "127.0.0.1"} if by == "address" else {}
    words = ["--port", free_port()] if by == "address" else []
    for _ in range(1 if by == "address" else 2):
        ended = run_job(tmp_path, hosts, *words, **found)
        assert [code for code, *_ in ended] == [0] * len(hosts), ended
    assert "9 hosts" not in ended[0][1]
    assert [line.split()[-1] for line in ended[0][1].splitlines()[1:]] == [
        f"node{host}" for host in range(1, 10)
    ]
    assert all(out == "" for _, out, _ in ended[1:])
    clocks = load(tmp_path / "clocks.json")
    assert clocks.root == "node0"
    assert len(clocks.hosts) == 10
    for host in range(1, 10):
        offset, ppm = offsets[host]
        for each in clocks.hosts[f"node{host}"].measured:
            true = -offset - round(each.at * ppm * 1e-6)
            assert each.low <= true <= each.high, host
            assert each.half < 100 * MS
    assert not os.path.exists(tmp_path / "clocks.json.root")


def test_ranks_that_do_not_come_are_named(tmp_path):
    started = time.monotonic()
    ended = run_job(tmp_path, ["a:0", "b:5", None, None], "--timeout", "8")
    assert time.monotonic() - started < 60
    assert ended[0] == (1, "", "nvspan clock: 2 of 4 ranks came within 8 s: rank 2, 3 did not\n")
    assert ended[1][0] == 1
    assert ended[1][2].startswith("nvspan clock: rank 0: 2 of 4 ranks came within 8 s: rank 2, 3")
    assert not os.path.exists(tmp_path / "clocks.json")
    ((code, _, said),) = run_job(tmp_path, [None, "b:5"], "--timeout", "1")
    assert code == 1
    assert said.startswith("nvspan clock: rank 0 was not found within 1 s: ")
    assert "--root, MASTER_ADDR, or the file" in said


def test_garbage_harms_neither_rank_0_nor_a_server(tmp_path):
    port = free_port()
    stop = threading.Event()

    def disturb():
        while not stop.is_set():
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=1) as to:
                    to.sendall(b"GET / HTTP/1.1\r\n\r\n" + os.urandom(100) + b"\n")
            except OSError:
                pass
            time.sleep(0.02)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        ended = run_job(
            tmp_path, ["a:0", "b:5000"], "--port", port, "--root", "127.0.0.1"
        )  # fmt: skip
    finally:
        stop.set()
        thread.join()
    assert [code for code, *_ in ended] == [0, 0], ended
    (found,) = load(tmp_path / "clocks.json").hosts["b"].measured
    assert found.low <= -5000 <= found.high
    with serving("other:5000") as port:
        for garbage in (b"", b"x", os.urandom(1000), b"nvspan clock 1\nab"):
            with socket.create_connection(("127.0.0.1", port)) as to:
                to.sendall(garbage)
        found = ask(("127.0.0.1", port), this_host()).offset
    assert found.low <= -5000 <= found.high


@contextmanager
def answering(answer):
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        try:
            connection, _ = listener.accept()
            with connection:
                if answer is not None:
                    connection.sendall(answer)
                    connection.recv(1000)
                else:
                    connection.recv(1000)
                    connection.recv(1000)
        except OSError:
            pass

    thread = threading.Thread(target=accept)
    thread.start()
    yield listener.getsockname()[1]
    listener.close()
    thread.join()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "answers, but it is no 'nvspan clock'"),
        (b"nvspan clock 1\nno JSON\n", "answers, but it is no 'nvspan clock'"),
        (b'nvspan clock 1\n{"host": 3}\n', "answers, but it is no 'nvspan clock'"),
        (b'nvspan clock 1\n{"host": "a", "boot_id": "b"}\n' + b"\1" * 24, "another question than"),
        (None, "took longer than 0.5 s to answer"),
    ],
)
def test_what_is_no_clock_is_an_error(answer, said):
    with answering(answer) as port, pytest.raises(ClockError, match=said):
        ask(("127.0.0.1", port), this_host(), timeout=20 if answer else 0.5)


def test_the_command_says_what_is_wrong(tmp_path):
    done = run_nvspan("clock", "--timeout", "0.3", "--ask", f"127.0.0.1:{free_port()}", check=1)
    assert re.fullmatch(
        r"nvspan clock: 127.0.0.1:\d+: Connection refused within \d+\.\d s\n", done.stderr
    )
    assert "no launcher has said which rank this is" in run_nvspan("clock", check=1).stderr
    done = run_nvspan("clock", "--ask", "host:99999", check=2)
    assert "address must be HOST or HOST:PORT, not 'host:99999'" in done.stderr
    other = tmp_path / "clocks.json"
    other.write_text("{}")
    with serving("other:0") as port:
        words = ("clock", "--ask", f"127.0.0.1:{port}", "-o", other)
        assert "is no file of clocks" in run_nvspan(*words, check=1).stderr
        Clocks("elsewhere", "another boot").save(str(other))
        assert "is of the clock of 'elsewhere'" in run_nvspan(*words, check=1).stderr


def test_addresses():
    assert address_of("node3") == ("node3", 47113)
    assert address_of("10.0.0.1:80") == ("10.0.0.1", 80)
    assert address_of("[fe80::1]:80") == ("fe80::1", 80)
    assert address_of("fe80::1") == ("fe80::1", 47113)


def test_a_clock_that_was_set_is_no_interval():
    with pytest.raises(ClockError, match="contradict each other"):
        offset_of([(0, 50, 60, 100), (200, 5250, 5260, 300)], "x")
    assert offset_of([(0, 50, 60, 100)], "x") == Interval(50, -50, 40)


CHRONY = "C0248F97,192.36.143.151,2,1700000000.0,{ahead},0.000000200,0.000001,-4.2,0.0,0.1,{delay},{dispersion},64.0,{leap}\n"  # noqa: E501


def test_chrony_states_its_uncertainty():
    clock = this_host()
    line = CHRONY.format(ahead="-0.000002", delay="0.00001", dispersion="0.000003", leap="Normal")
    found = system.parse_tracking(line, clock)
    assert found.high - found.low == 2 * (2 * US + 3 * US + 5 * US + 1)
    assert found.low <= time.time_ns() - time.monotonic_ns() + 50 * US
    none = CHRONY.format(ahead="0", delay="0", dispersion="0", leap="Not synchronised")
    assert system.parse_tracking(none, clock) is None
    assert system.parse_tracking("506 Cannot talk to daemon\n", clock) is None


def test_a_clock_of_ptp_is_right_to_what_is_said_of_it(monkeypatch):
    ahead = 37 * 10**9
    monkeypatch.setattr(system.glob, "glob", lambda _: ["/dev/no-such-clock", os.devnull])
    monkeypatch.setattr(system.time, "clock_gettime_ns", lambda _: time.monotonic_ns() + ahead)
    found = system.of_ptp(this_host(), 500)
    assert found.low + 500 <= ahead <= found.high - 500
    assert found.source == "ptp null"
    monkeypatch.setattr(system.glob, "glob", lambda _: [])
    assert system.of_ptp(this_host(), 500) is None


def test_chrony_narrows_what_the_network_says(tmp_path):
    # chrony of both hosts is right to 101 ns, and the clocks are those of one machine.
    tool = tmp_path / "chronyc"
    line = CHRONY.format(ahead="0", delay="0", dispersion="0.0000001", leap="Normal")
    tool.write_text(f"#!/bin/sh\nprintf '{line.strip()}\\n'\n")
    tool.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    ended = run_job(tmp_path, ["a:0", "b:0"], PATH=path)
    assert [code for code, *_ in ended] == [0, 0], ended
    (found,) = load(tmp_path / "clocks.json").hosts["b"].measured
    assert found.half < 1 * MS


def test_a_clock_that_drifts_is_followed_from_the_start_to_the_end_of_a_job(tmp_path):
    # Collectives of which the CPU's request alone is known bound the clocks from one side.
    def shows(host, at):
        return at + (10**9 + round(at * 80e-6) if host else 0)

    paths = write_job(tmp_path, 4, hosts=2, clock=shows, steps=400)
    clocks = Clocks("host0", "boot of host0")
    for at in (10**9, 20 * 10**9):
        true = at - shows(1, at)
        clocks.add("host1", "boot of host1", Interval(at, true - 300, true + 500))
    low, high = clocks.hosts["host1"].drift()
    assert low <= 80e-6 <= high
    file = tmp_path / "clocks.json"
    clocks.save(str(file))
    found = nvspan.analyze_ranks(paths, priors=file)
    assert 0 < max(rank.uncertainty for rank in found.ranks) <= 700
    # A single measurement says little of what is seconds away, and nothing that is wrong.
    clocks = Clocks("host0", "boot of host0")
    clocks.add("host1", "boot of host1", Interval(10**9, 10**9 - shows(1, 10**9) - 300,
                                                  10**9 - shows(1, 10**9) + 500))  # fmt: skip
    clocks.save(str(file))
    wide = nvspan.analyze_ranks(paths, priors=file)
    assert wide.counts["contradictions"] == found.counts["contradictions"] == 0
    assert wide.verdict.kind == found.verdict.kind == "none"


def test_ranks_take_the_clocks(tmp_path):
    def shows(host, at):
        return at + (3_000_000_000 if host else 0)

    paths = write_job(tmp_path, 4, hosts=2, clock=shows, extra=lambda rank, _, name: (
        2 * MS if (rank, name) == (3, "forward") else 0))  # fmt: skip
    clocks = Clocks("host1", "boot of host1")  # whose root is not the first file's host
    for at in (0, 10**9):  # before and after the job
        offset = Interval(4 * 10**9 + at, 3 * 10**9 - 400, 3 * 10**9 + 400)
        clocks.add("host0", "boot of host0", offset)
    file = tmp_path / "clocks.json"
    clocks.save(str(file))
    plain = nvspan.analyze_ranks(paths)
    found = nvspan.analyze_ranks(paths, priors=file)
    assert nvspan.analyze_ranks(
        paths, priors={"host0": (0, 0), "host1": (-(3 * 10**9) - 400, -(3 * 10**9) + 400)}
    ).ranks[3].uncertainty == pytest.approx(found.ranks[3].uncertainty, abs=20)
    assert (found.verdict.rank, found.verdict.range) == (3, "forward")
    of_other = max(rank.uncertainty for rank in found.ranks)
    assert of_other <= 800
    assert max(rank.uncertainty for rank in plain.ranks) > of_other
    text = run_nvspan("ranks", "--clocks", file, *paths).stdout
    assert text.splitlines()[1].startswith("| rank 3's forward costs the job ")
    clocks = Clocks("host0", "a boot before")
    clocks.save(str(file))
    done = run_nvspan("ranks", "--clocks", file, *paths, check=1)
    assert "was measured in another boot of host 'host0'" in done.stderr
    done = run_nvspan("ranks", "--clocks", tmp_path / "none.json", *paths, check=1)
    assert f"cannot read '{tmp_path}/none.json'" in done.stderr
