# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the tables of a recording have in common: as data frames, and as a notebook shows them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

_MOST_SHOWN = 30


class Frame:
    """A table that becomes a data frame of another package, which must be installed."""

    __slots__ = ()

    def _records(self) -> list[dict[str, Any]]:
        """The rows, with the same keys and without values within values."""
        raise NotImplementedError

    def _preview(self) -> tuple[Sequence[str], Iterable[Sequence[str]], int]:
        """Headings, the first rows as texts, and how many rows there are."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``, times in ns.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        import pandas

        return pandas.DataFrame(_even(self._records()))

    def to_polars(self) -> Any:
        """The rows as a ``polars.DataFrame``, times in ns.

        Raises:
            ModuleNotFoundError: polars is not installed.
        """
        import polars

        return polars.DataFrame(_even(self._records()), infer_schema_length=None)

    def to_arrow(self) -> Any:
        """The rows as a ``pyarrow.Table``, times in ns.

        Raises:
            ModuleNotFoundError: pyarrow is not installed.
        """
        import pyarrow

        return pyarrow.Table.from_pylist(_even(self._records()))

    def _repr_html_(self) -> str:
        """What a notebook shows: the first rows, as a table."""
        headings, rows, count = self._preview()
        return html_table(headings, rows, count)


def _even(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with every key in every row, and in UTF-8."""
    keys = dict.fromkeys(key for record in records for key in record)
    return [{key: _valid(record.get(key)) for key in keys} for record in records]


def _valid(value: Any) -> Any:
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def html_table(headings: Sequence[str], rows: Iterable[Sequence[str]], count: int) -> str:
    """A table of the first 30 `rows`, and how many of the `count` there are it leaves out."""
    from html import escape
    from itertools import islice

    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    lines = []
    for row in islice(rows, _MOST_SHOWN):
        cells = "".join(f"<td>{escape(_valid(cell))}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    more = f"<div>... and {count - len(lines):,} more</div>" if count > len(lines) else ""
    body = "".join(lines)
    return (
        '<div style="overflow-x: auto"><table style="white-space: nowrap">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
    )


def flat(row: Mapping[str, object]) -> dict[str, object]:
    """A row whose dicts are columns of their own: ``cpu.forward``."""
    found: dict[str, object] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            found.update((f"{key}.{inner}", of) for inner, of in value.items())
        else:
            found[key] = value
    return found
