# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reads reports of Nsight Compute through ``ncu --import --csv --page raw``."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping

from nvspan._doctor.tools import captured
from nvspan.nsight.results.profiled import (
    GRAPH,
    KERNEL,
    PUSH_POP,
    RANGE,
    START_END,
    OpenRange,
    Profiled,
    domain_of,
)
from nvspan.nsight.results.rows import DetailRow, KernelRow

_UNITS = {"nsecond": "ns", "usecond": "us", "msecond": "ms", "second": "s"}  # before 2024.2
# Types and values of payload, color and message follow a range's domain and name. None of them has
# quotes around it, and the name may have any character, but the message is the name again.
_MESSAGE = re.compile(r"(?=:(?:ASCII|UNICODE|REGISTERED):)")
_NO_MESSAGE = (":none:none", "::invalid handle")
_DETAILS = {
    "section": "Section Name",
    "metric": "Metric Name",
    "value": "Metric Value",
    "unit": "Metric Unit",
    "rule": "Rule Name",
    "message": "Rule Description",
    "speedup": "Estimated Speedup",
}


def read(path: str, ncu: str, *options: str) -> list[Profiled]:
    """The results in a report, of which `options` of ncu may choose some.

    Raises:
        ValueError: ncu cannot read the file; the message has what it says.
        OSError: ncu cannot be run.
    """
    return parse(_page(path, ncu, "raw", "--print-units", "base", *options), path)


def read_details(
    path: str, ncu: str, kernels: Mapping[int, KernelRow], *options: str
) -> list[DetailRow]:
    """The page "details" of the `kernels` in a report, which are given by their numbers: a row for
    each metric of a section and for each rule. `options` are those of `read`.

    Raises:
        ValueError, OSError: as `read`.
    """
    names, rows = _table(_page(path, ncu, "details", *options))
    found = []
    for row in rows:
        cells = dict(zip(names, row, strict=False))  # rows may lack the last columns
        number = _whole(cells, "ID")
        if number is not None and number in kernels:
            values = {key: _value(cells.get(column, "")) for key, column in _DETAILS.items()}
            found.append(kernels[number].into(DetailRow, **values))
    return found


def _page(path: str, ncu: str, page: str, *options: str) -> str:
    return printed(path, ncu, "--csv", "--page", page, "--print-kernel-base", "function", *options)


def printed(path: str, ncu: str, *options: str) -> str:
    """What ncu prints of a report.

    Raises:
        ValueError, OSError: as `read`.
    """
    done = captured(ncu, "--import", path, *options)
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("==")]
    if done.returncode and not any("were profiled" in line for line in said):
        reason = (
            " ".join(line.partition("== ")[2] for line in said)
            or f"it ended with {done.returncode}"
        )
        raise ValueError(f"ncu cannot read {path!r}: {reason}")
    return done.stdout


def _table(text: str) -> tuple[list[str], list[list[str]]]:
    """The header and the rows in what ncu prints; lines before the table are left out."""
    lines = text.splitlines(keepends=True)
    begin = next((at for at, line in enumerate(lines) if line.startswith('"ID",')), len(lines))
    try:
        rows = list(csv.reader(line for line in lines[begin:] if not line.startswith("==")))
    except csv.Error as error:
        raise ValueError(f"what ncu prints is no table: {error}") from None
    return (rows[0], rows[1:]) if rows else ([], [])


def parse(text: str, report: str = "") -> list[Profiled]:
    """The results in what ncu prints with ``--csv --page raw``."""
    names, rows = _table(text)
    first = next((at for at, name in enumerate(names) if "__" in name), len(names))
    # The first row has the units, and nothing else.
    units = dict(zip(names[first:], rows[0][first:], strict=False)) if rows else {}
    return [
        _profiled(dict(zip(names, row, strict=True)), units, report, number)
        for number, row in enumerate(row for row in rows[1:] if len(row) == len(names))
    ]


def _profiled(row: dict[str, str], units: dict[str, str], report: str, number: int) -> Profiled:
    metrics = {name: value for name in units if (value := _value(row[name])) is not None}
    return Profiled(
        report=report,
        number=number if (own := _whole(row, "ID")) is None else own,
        name=row.get("Kernel Name", ""),
        kind=_kind(row),
        process=_whole(row, "Process ID"),
        device=_whole(row, "Device"),
        stream=_whole(row, "Stream"),
        grid=_size(row, "Grid Size"),
        block=_size(row, "Block Size"),
        ranges=tuple(_ranges(row)),
        metrics=metrics,
        units={name: _UNITS.get(units[name], units[name]) for name in metrics if units[name]},
    )


def _kind(row: dict[str, str]) -> str:
    if "launch__graph_contains_device_launch" in row:
        return GRAPH
    return KERNEL if "Grid Size" in row else RANGE


def _value(text: str) -> float | str | None:
    """A number, with or without commas between its thousands; else the text."""
    if not text:
        return None
    plain = text.replace(",", "") if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text) else text
    try:
        return float(plain) if re.search(r"[.eE]", plain) else int(plain)
    except ValueError:
        return text


def _whole(row: dict[str, str], name: str) -> int | None:
    value = _value(row.get(name, ""))
    return int(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def _size(row: dict[str, str], name: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d{1,18}", row.get(name, ""))))


def _ranges(row: dict[str, str]) -> Iterator[OpenRange]:
    for column, text in row.items():
        if "Push/Pop_Range" in column:
            depths: dict[str | None, int] = {}
            for domain, name in _texts(text, has_number=False):
                depth = depths[domain] = depths.get(domain, -1) + 1
                yield OpenRange(domain, name, PUSH_POP, depth)
        elif "Start/Stop_Range" in column:
            for domain, name in _texts(text, has_number=True):
                yield OpenRange(domain, name, START_END)


def _texts(cell: str, *, has_number: bool) -> Iterator[tuple[str | None, str]]:
    """Domain and name of each range in a cell: in quotes, two spaces between them."""
    first, last = cell.find('"'), cell.rfind('"')
    if first == last:
        return
    for cited in re.split(r'"  "', cell[first + 1 : last]):
        text = cited.partition(":")[2] if has_number else cited
        domain, name = _split(text)
        yield domain_of(domain), name


def _split(text: str) -> tuple[str, str]:
    """Domain and name of a range. In time that grows with the text, whatever stands in it: a name
    may be nothing but colons."""
    for found in _MESSAGE.finditer(text):
        name = text[text.index(":", found.start() + 1) + 1 :]
        before = _without_values(text[: found.start()])
        if before is not None and before.endswith(f":{name}"):
            return before[: -len(name) - 1], name
    for end in _NO_MESSAGE:
        if text.endswith(end) and (before := _without_values(text.removesuffix(end))) is not None:
            return before.partition(":")[::2]
    return text.partition(":")[::2]


def _without_values(text: str) -> str | None:
    """What precedes the type and value of a payload and those of a color; None: they do not end
    the text."""
    before, *values = text.rsplit(":", 4)
    if len(values) < 4 or not all(re.fullmatch(r"\w+", values[at]) for at in (0, 2, 3)):
        return None
    return before
