# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The clocks of all hosts of a job: each asks the one above it in a tree, and rank 0 adds up.

Every process of the job comes to rank 0; one of each boot takes part, so that 10,000 ranks are a
tree of their hosts, in which none answers more than `CHILDREN` others.
"""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nvspan.ranks.clock.clocks import Clocks, begun, within
from nvspan.ranks.clock.local import LocalClock
from nvspan.ranks.clock.probe import (
    ClockError,
    Interval,
    Server,
    ask,
    connected,
    listening,
    read_line,
    send_line,
    shown,
)
from nvspan.ranks.clock.system import Statement

CHILDREN = 8
_GRACE = 10.0  # seconds
_HELLO = "nvspan clocks of a job 1"
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_SIZES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


@dataclass(frozen=True)
class Place:
    """A process of the job, and where rank 0 is.

    Attributes:
        rank, size: of the job.
        root: where rank 0 listens; None: a file beside the output says it.
        output: the file of clocks, which rank 0 writes.
        timeout: seconds within which all have to come, and to be done.
    """

    rank: int
    size: int
    root: tuple[str, int] | None
    output: str
    timeout: float


def launched(environment: Mapping[str, str]) -> tuple[int, int] | None:
    """The rank and the number of ranks, by the variables of torchrun, srun and mpirun; None: no
    launcher has set any."""
    rank = _first(environment, _RANKS)
    size = _first(environment, _SIZES)
    return None if rank is None or size is None else (rank, size)


def _first(environment: Mapping[str, str], names: Sequence[str]) -> int | None:
    for name in names:
        value = environment.get(name, "")
        if value.isdigit():
            return int(value)
    return None


def measure(place: Place, clock: LocalClock, statement: Statement | None) -> Clocks | None:
    """Takes part in the measurement; rank 0 gets the clocks of all, which it has not saved.

    Raises:
        ClockError: a rank did not come, or could not be asked.
    """
    if place.rank == 0:
        return _Root(place, clock, statement).run()
    _take_part(place, clock, statement)
    return None


def _marker(place: Place) -> str:
    return f"{place.output}.root"


def _statement(of: Statement | None) -> Any:
    return None if of is None else [of.at, of.low, of.high, of.source]


class _Member:
    """A process as rank 0 sees it."""

    def __init__(self, about: dict[str, Any], connection: socket.socket, stream: Any) -> None:
        self.rank = int(about["rank"])
        self.host, self.boot_id = str(about["host"]), str(about["boot_id"])
        self.port = int(about["port"])
        given = about["statement"]
        self.statement = None if given is None else Statement(*given)
        self.address: str | None = connection.getpeername()[0]
        self.connection, self.stream = connection, stream


class _Root:
    def __init__(self, place: Place, clock: LocalClock, statement: Statement | None) -> None:
        self._place, self._clock, self._statement = place, clock, statement
        self._until = time.monotonic() + place.timeout
        self._strangers = 0
        self._found: dict[int, _Member] = {}
        self._nodes: list[_Member] = []  # one of each boot but this one's

    def run(self) -> Clocks:
        clocks = begun(self._place.output, self._clock)
        port = self._place.root[1] if self._place.root else 0
        listener = listening(port)
        _allow_files(self._place.size)
        server = Server(self._clock)
        marker = None
        try:
            with listener:
                if self._place.root is None:
                    marker = _marker(self._place)
                    port = listener.getsockname()[1]
                    _write(marker, shown((socket.gethostname(), port)))
                self._gather(listener)
            self._measure(server.port, clocks)
        except ClockError as error:
            self._tell({"error": str(error)})
            raise
        finally:
            for member in self._found.values():
                member.connection.close()
            server.close()
            if marker is not None and os.path.exists(marker):
                os.unlink(marker)
        return clocks

    def _left(self) -> float:
        return max(self._until - time.monotonic(), 0.001)

    def _tell(self, what: dict[str, Any], only: _Member | None = None) -> None:
        for member in [only] if only is not None else self._nodes:
            try:
                send_line(member.connection, what)
            except OSError:
                pass  # it has gone, which its launcher says

    def _gather(self, listener: socket.socket) -> None:
        """Waits for all ranks; the first of each boot stays, and the others may go."""
        found = self._found
        boots = {self._clock.boot_id}
        while len(found) < self._place.size - 1:
            listener.settimeout(self._left())
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                raise ClockError(self._missing(found)) from None
            stream = connection.makefile("rb")
            try:
                connection.settimeout(min(self._left(), 5.0))
                about = read_line(stream, "a stranger")
                if about["hello"] != _HELLO:
                    raise ClockError("a stranger")
                member = _Member(about, connection, stream)
            except (ClockError, OSError, KeyError, TypeError, ValueError):
                self._strangers += 1
                connection.close()
                continue
            if member.rank in found or not 0 < member.rank < self._place.size:
                raise ClockError(f"two processes are rank {member.rank}, or it is not in the job")
            found[member.rank] = member
            if member.boot_id in boots:
                self._tell({"done": True}, member)
                member.connection.close()
            else:
                boots.add(member.boot_id)
                self._nodes.append(member)

    def _missing(self, found: dict[int, _Member]) -> str:
        lacking = [str(rank) for rank in range(1, self._place.size) if rank not in found]
        more = f" and {len(lacking) - 10} more" if len(lacking) > 10 else ""
        text = (
            f"{len(found) + 1} of {self._place.size} ranks came within {self._place.timeout:g} s: "
            f"rank {', '.join(lacking[:10])}{more} did not"
        )
        if self._strangers:
            text += f"; {self._strangers} connections were no 'nvspan clock'"
        return text

    def _measure(self, port: int, clocks: Clocks) -> None:
        nodes = self._nodes
        above: dict[int, int] = {}  # of `nodes`; -1: the root
        for at, member in enumerate(nodes):
            above[at] = at // CHILDREN - 1
            parent = nodes[above[at]] if above[at] >= 0 else None
            # None: the host by which rank 0 was found.
            send_line(member.connection, {
                "ask": [None, port] if parent is None else [parent.address, parent.port]
            })  # fmt: skip
        offsets: list[Interval] = []
        for at, member in enumerate(nodes):
            offset = self._answer(member)
            base = Interval(offset.at, 0, 0) if above[at] < 0 else offsets[above[at]]
            # `at` is of the clock above; all are taken to the root's.
            when = offset.at + (0 if above[at] < 0 else base.middle)
            base = base.at_time(when)
            offsets.append(Interval(when, base.low + offset.low, base.high + offset.high))
        for member, offset in zip(nodes, offsets, strict=True):
            clocks.add(member.host, member.boot_id, self._stated(member, offset))
        others = [m for m in self._found.values() if m.host not in clocks.hosts]
        for member in others:  # a container with a name of its own
            known = next((n for n in nodes if n.boot_id == member.boot_id), None)
            now = Interval(self._clock.now(), 0, 0)
            same = clocks.hosts[known.host].measured[-1] if known else now
            clocks.add(member.host, member.boot_id, same)
        self._tell({"done": True})

    def _answer(self, member: _Member) -> Interval:
        try:
            member.connection.settimeout(self._left())
            answer = read_line(member.stream, f"rank {member.rank} on {member.host}")
            if "error" in answer:
                raise ClockError(f"rank {member.rank} on {member.host}: {answer['error']}")
            return Interval(*answer["offset"])
        except (OSError, KeyError, TypeError) as error:
            why = "took too long" if isinstance(error, TimeoutError) else "has gone"
            raise ClockError(f"rank {member.rank} on {member.host} {why}") from None

    def _stated(self, member: _Member, offset: Interval) -> Interval:
        """With what both hosts' services say, where that does not contradict the measurement."""
        mine, its = self._statement, member.statement
        if mine is None or its is None or mine.source.split()[0] != its.source.split()[0]:
            return offset
        stated = Interval(mine.at, its.low - mine.high, its.high - mine.low)
        return within([offset, stated]) or offset


def _allow_files(count: int) -> None:
    """Room for a connection of each rank, as far as the system grants it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + 256
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _write(path: str, text: str) -> None:
    name = f"{path}.{os.getpid()}"
    try:
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except OSError as error:
        raise ClockError(f"cannot write {path!r}: {error.strerror}") from None


def _take_part(place: Place, clock: LocalClock, statement: Statement | None) -> None:
    until = time.monotonic() + place.timeout
    connection, root = _to_root(place, until)
    server = Server(clock)
    try:
        with connection, connection.makefile("rb") as stream:
            # Rank 0, which may have begun later, says what went wrong.
            connection.settimeout(max(until - time.monotonic(), 0.001) + _GRACE)
            send_line(connection, {
                "hello": _HELLO, "rank": place.rank, "host": clock.host, "boot_id": clock.boot_id,
                "port": server.port, "statement": _statement(statement),
            })  # fmt: skip
            told = _told(stream)
            if "ask" in told:
                host, port = told["ask"]
                try:
                    left = max(until - time.monotonic(), 0.001)
                    # To the clock above, by its time.
                    offset = ask((host or root, port), clock, timeout=left).offset.inverse()
                except ClockError as error:
                    send_line(connection, {"error": str(error)})
                    raise
                send_line(connection, {"offset": [offset.at, offset.low, offset.high]})
                told = _told(stream)
            if "done" not in told:
                raise ClockError("rank 0 said something else than it should")
    except TimeoutError:
        raise ClockError(f"rank 0 did not answer within {place.timeout:g} s") from None
    except OSError:
        raise ClockError("rank 0 has gone") from None
    except (KeyError, TypeError, ValueError):
        raise ClockError("rank 0 said something else than it should") from None
    finally:
        server.close()


def _told(stream: Any) -> Any:
    told = read_line(stream, "rank 0")
    if "error" in told:
        raise ClockError(f"rank 0: {told['error']}")
    return told


def _to_root(place: Place, until: float) -> tuple[socket.socket, str]:
    """A connection to rank 0, and by which host it was found."""
    if place.root is not None:
        try:
            return connected(place.root, until), place.root[0]
        except ClockError as error:
            raise ClockError(f"rank 0 was not found: {error}") from None
    marker = _marker(place)
    while True:
        try:
            with open(marker, encoding="utf-8") as file:
                host, _, port = file.read().rpartition(":")
            soon = min(until, time.monotonic() + 1)  # the file may be an old one
            return connected((host, int(port)), soon), host
        except (OSError, ValueError, ClockError) as error:
            if time.monotonic() + 0.2 >= until:
                raise ClockError(
                    f"rank 0 was not found within {place.timeout:g} s: {error}; it is known by "
                    f"--root, MASTER_ADDR, or the file {marker!r} in a folder that all hosts have"
                ) from None
            time.sleep(0.2)
