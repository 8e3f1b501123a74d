# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How far another host's clock is from this one's: many short questions over TCP.

A question that leaves at a and whose answer comes back at d, by this clock, was answered from b to
c by the other one. So b + offset is no earlier than a, and c + offset no later than d, however long
the ways were, and however they differ: each question bounds the offset from both sides, and all of
them hold. Nothing is assumed but that a clock drifts by no more than `STEEPEST`.
"""

from __future__ import annotations

import errno
import json
import socket
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nvspan.ranks.clock.local import LocalClock

PORT = 47113
STEEPEST = 200e-6  # the largest drift of one clock against another that is believed
QUESTIONS = 200
_HELLO = b"nvspan clock 1\n"
_QUESTION = struct.Struct("<q")
_ANSWER = struct.Struct("<qqq")  # the question's number, ns when it came, ns when this left
_MOST_LINE = 65536


class ClockError(Exception):
    """What keeps a clock from being measured, in words."""


@dataclass(frozen=True)
class Interval:
    """ns to add to another clock to get this one, at the time `at` of this one."""

    at: int
    low: int
    high: int

    @property
    def middle(self) -> int:
        return (self.low + self.high) // 2

    @property
    def half(self) -> int:
        return (self.high - self.low + 1) // 2

    def at_time(self, at: int) -> Interval:
        """The same at another time: wider by what the clock may have drifted since."""
        more = round(abs(at - self.at) * STEEPEST) + 1
        return self if at == self.at else Interval(at, self.low - more, self.high + more)

    def inverse(self) -> Interval:
        """What to add to this clock to get the other one, at the other's time."""
        return Interval(self.at - self.middle, -self.high, -self.low)


def address_of(text: str) -> tuple[str, int]:
    """``HOST`` or ``HOST:PORT``; an IPv6 address with a port stands in ``[]``.

    Raises:
        ValueError: the port is none.
    """
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    else:
        host, port = text, ""
    if not host or (port and not (port.isdigit() and 0 < int(port) < 65536)):
        raise ValueError(f"address must be HOST or HOST:PORT, not {text!r}")
    return host, int(port or PORT)


def shown(address: tuple[str, int]) -> str:
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def send_line(to: socket.socket, what: Any) -> None:
    to.sendall(json.dumps(what).encode() + b"\n")


def read_line(stream: Any, who: str) -> Any:
    """A line of JSON. ClockError where there is none."""
    line = stream.readline(_MOST_LINE)
    if not line.endswith(b"\n"):
        raise ClockError(f"{who} closed the connection, or is no 'nvspan clock'")
    try:
        return json.loads(line)
    except ValueError:
        raise ClockError(f"{who} answers, but it is no 'nvspan clock'") from None


def listening(port: int) -> socket.socket:
    """A socket that others can connect to, by IPv4 and, where the system has it, IPv6; 0: any port.

    Raises:
        ClockError: the port is taken.
    """
    try:
        if socket.has_dualstack_ipv6():
            try:
                return socket.create_server(
                    ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=1024
                )
            except OSError as error:
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
        return socket.create_server(("", port), backlog=1024)
    except OSError as error:
        raise ClockError(f"cannot listen on port {port}: {error.strerror}") from None


class Server:
    """Answers questions in threads of its own, until `close`. Whoever says something else is
    dropped, and `refused` counts it."""

    def __init__(self, clock: LocalClock, port: int = 0) -> None:
        self._clock = clock
        self.refused = 0
        self._socket = listening(port)
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, name="nvspan clock", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # closed
            threading.Thread(
                target=self._answer, args=(connection,), name="nvspan clock", daemon=True
            ).start()

    def _answer(self, connection: socket.socket) -> None:
        clock = self._clock
        try:
            with connection, connection.makefile("rb") as stream:
                connection.settimeout(30)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if stream.read(len(_HELLO)) != _HELLO:
                    self.refused += 1
                    return
                connection.sendall(_HELLO)
                send_line(connection, {"host": clock.host, "boot_id": clock.boot_id})
                while question := stream.read(_QUESTION.size):
                    came = clock.now()
                    (number,) = _QUESTION.unpack(question)
                    connection.sendall(_ANSWER.pack(number, came, clock.now()))
        except (OSError, struct.error):
            self.refused += 1

    def close(self) -> None:
        # A thread that waits in accept() is woken by this alone.
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()


@dataclass(frozen=True)
class Asked:
    """What a host answered.

    Attributes:
        host, boot_id: whose clock it is.
        offset: ns to add to its clock to get this one.
        round_trip: ns that the shortest question took.
        questions: how many were answered.
    """

    host: str
    boot_id: str
    offset: Interval
    round_trip: int
    questions: int


def ask(
    address: tuple[str, int],
    clock: LocalClock,
    *,
    questions: int = QUESTIONS,
    timeout: float = 10.0,
) -> Asked:
    """Measures the clock of the host that serves at `address`; until it does so, waits for it.

    Raises:
        ClockError: nobody answers within `timeout` seconds, or it is something else that does.
    """
    until = time.monotonic() + timeout
    where = shown(address)
    with connected(address, until) as connection, connection.makefile("rb") as stream:
        try:
            connection.sendall(_HELLO)
            if stream.read(len(_HELLO)) != _HELLO:
                raise ClockError(f"{where} answers, but it is no 'nvspan clock'")
            about = read_line(stream, where)
            host, boot_id = str(about["host"]), str(about["boot_id"])
            exchanges = []
            for number in range(questions):
                connection.settimeout(max(until - time.monotonic(), 0.001))
                left = clock.now()
                connection.sendall(_QUESTION.pack(number))
                answer = stream.read(_ANSWER.size)
                back = clock.now()
                same, came, gone = _ANSWER.unpack(answer)
                if same != number:
                    raise ClockError(f"{where} answers another question than it was asked")
                exchanges.append((left, came, gone, back))
        except TimeoutError:
            raise ClockError(f"{where} took longer than {timeout:g} s to answer") from None
        except (OSError, struct.error):
            raise ClockError(f"{where} closed the connection") from None
        except (KeyError, TypeError):
            raise ClockError(f"{where} answers, but it is no 'nvspan clock'") from None
    round_trip = min(back - left - (gone - came) for left, came, gone, back in exchanges)
    return Asked(host, boot_id, offset_of(exchanges, where), round_trip, len(exchanges))


def connected(address: tuple[str, int], until: float) -> socket.socket:
    """A connection to `address`, which may begin to listen only later. `until` is of
    time.monotonic()."""
    why = "nobody answers"
    begin = time.monotonic()
    while True:
        left = until - time.monotonic()
        try:
            connection = socket.create_connection(address, timeout=max(left, 0.001))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except socket.gaierror as error:
            raise ClockError(f"{shown(address)}: {error.strerror}") from None
        except OSError as error:
            why = error.strerror or "nobody answers"
        if time.monotonic() + 0.1 >= until:
            waited = time.monotonic() - begin
            raise ClockError(f"{shown(address)}: {why} within {waited:.1f} s")
        time.sleep(0.1)


def offset_of(exchanges: Sequence[tuple[int, int, int, int]], where: str) -> Interval:
    """What the times of questions (left, came, answered, back) leave of the offset.

    Raises:
        ClockError: they contradict each other: a clock was set, or drifts too fast.
    """
    at = (exchanges[0][0] + exchanges[-1][3]) // 2
    bounds = [
        Interval((left + back) // 2, left - came, back - gone).at_time(at)
        for left, came, gone, back in exchanges
    ]
    found = Interval(at, max(each.low for each in bounds), min(each.high for each in bounds))
    if found.low > found.high:
        raise ClockError(f"{where}: its answers contradict each other: a clock was set meanwhile")
    return found
