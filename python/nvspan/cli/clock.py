# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan clock``: how far the clocks of a job's hosts are apart."""

from __future__ import annotations

import argparse
import json
import os
import threading
from collections.abc import Sequence

from nvspan.cli.common.parser import parser_of
from nvspan.cli.common.reading import emit, note
from nvspan.ranks.clock.clocks import Clocks, begun, rows
from nvspan.ranks.clock.local import LocalClock, pretended, this_host
from nvspan.ranks.clock.probe import PORT, ClockError, Server, address_of, ask
from nvspan.ranks.clock.system import Statement, of_chrony, of_ptp
from nvspan.ranks.clock.tree import Place, launched, measure
from nvspan.recording.time_text import duration
from nvspan.report.text import aligned, printable

_DESCRIPTION = """\
Measures how far the clocks of a job's hosts are apart, for 'nvspan ranks
--clocks FILE'. Run it as a job of its own with the launcher of the job, before
it and again behind it: 'torchrun ... --no-python nvspan clock', 'srun nvspan
clock', 'mpirun nvspan clock'. The second run adds to the file, which then
says how the clocks drift. By hand: 'nvspan clock --serve' on each host but
one, and there 'nvspan clock --ask HOST ...'."""


def _address(text: str) -> tuple[str, int]:
    try:
        return address_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("clock", _DESCRIPTION)
    parser.add_argument(
        "-o", "--output", default="clocks.json", metavar="FILE",
        help="the file of clocks (clocks.json); what it has of the same job is kept",
    )  # fmt: skip
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--serve", action="store_true", help="answer questions until Ctrl-C")
    how.add_argument(
        "--ask", nargs="+", metavar="HOST[:PORT]", type=_address,
        help="compare the clocks of hosts that serve with this one's",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=int, default=PORT,
        help=f"where --serve, and rank 0 with --root or MASTER_ADDR, listen ({PORT})",
    )  # fmt: skip
    parser.add_argument(
        "--root", metavar="HOST",
        help="where rank 0 runs, if the launcher does not set MASTER_ADDR and the folder of FILE "
        "is not one that all hosts have",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=float, default=30.0, metavar="SECONDS",
        help="within which all have to answer (30)",
    )  # fmt: skip
    parser.add_argument(
        "--ptp-error", type=int, metavar="NS",
        help="take the first clock of /dev/ptp* for right to NS on every host, which it does not "
        "say itself; without it, chrony is asked where it runs",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="the clocks as JSON, times in ns")
    parser.add_argument("--pretend", type=pretended, help=argparse.SUPPRESS)  # of tests
    return parser


def _serve(clock: LocalClock, port: int) -> int:
    server = Server(clock, port)
    note([f"answering on port {server.port} for {clock.host}; Ctrl-C ends it"])
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
    return 0


def _ask(options: argparse.Namespace, clock: LocalClock) -> Clocks:
    clocks = begun(options.output, clock)
    for address in options.ask:
        found = ask(address, clock, timeout=options.timeout)
        if found.boot_id == clock.boot_id:
            note([f"{found.host} has this host's clock"])
            continue
        clocks.add(found.host, found.boot_id, found.offset)
    return clocks


def _of_job(options: argparse.Namespace, clock: LocalClock) -> Clocks | None:
    ranks = launched(os.environ)
    if ranks is None:
        raise ClockError(
            "no launcher has said which rank this is (RANK and WORLD_SIZE, or those of srun and "
            "mpirun): see --serve and --ask"
        )
    host = options.root or os.environ.get("MASTER_ADDR")
    root = (host, options.port) if host else None
    place = Place(*ranks, root, options.output, options.timeout)
    statement: Statement | None = (
        of_chrony(clock) if options.ptp_error is None else of_ptp(clock, options.ptp_error)
    )
    return measure(place, clock, statement)


def _table(clocks: Clocks) -> str:
    cells = [
        [
            duration(row["offset"]), duration(row["half_width"]),
            "-" if row["drift_ppm"] is None
            else f"{row['drift_ppm']:.3f} +- {row['drift_half_ppm']:.3f}",
            printable(row["host"]),
        ]
        for row in rows(clocks)
    ]  # fmt: skip
    if not cells:
        return f"all ranks have the clock of {printable(clocks.root)}"
    columns = [f"to {printable(clocks.root)}", "+-", "drift, ppm", "host"]
    return aligned(columns, cells, ("host",))


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan clock`` with the arguments `argv`."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.timeout <= 0:
        parser.error(f"argument --timeout: must be above 0, not {options.timeout:g}")
    if not 0 <= options.port < 65536:
        parser.error(f"argument --port: must be from 0 to 65535, not {options.port}")
    try:
        clock = options.pretend or this_host()
        if options.serve:
            return _serve(clock, options.port)
        clocks = _ask(options, clock) if options.ask else _of_job(options, clock)
        if clocks is None:
            return 0
        clocks.save(options.output)
    except ClockError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    except OSError as error:
        parser.exit(1, f"{parser.prog}: {error.filename!r}: {error.strerror}\n")
    note([f"written: {options.output}"])
    return emit(json.dumps(clocks.as_dict(), indent=1) if options.json else _table(clocks))
