# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""One table of a recording: its columns, its rows, and itself by the Arrow C data interface."""

from __future__ import annotations

from nvspan.recording.frame import Frame
from nvspan.recording.time_text import counted, plain_cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from nvspan.recording.opened import OpenedFiles


class Table(Frame):
    """The columns of one kind of thing in a recording: ranges, marks, counters, threads, ...

    ``table["start"]`` is a memoryview of the column, without a copy. A column of text holds
    indices into `Recording.strings`, -1 for none; `text` decodes one. pyarrow, polars, pandas and
    duckdb take a table as it is, through the Arrow C data interface:

    >>> import pyarrow                                                   # doctest: +SKIP
    >>> pyarrow.table(recording.ranges)                                  # doctest: +SKIP
    """

    __module__ = "nvspan.recording"

    def __init__(self, recording: OpenedFiles, name: str) -> None:
        self._recording = recording
        self._reader = recording._reader
        self._name = name

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return self._reader.names(self._name)

    def __len__(self) -> int:
        return self._reader.rows(self._name)

    def __getitem__(self, column: str) -> memoryview:
        return memoryview(self._reader.column(self._name, column))

    def text(self, column: str) -> list[str | None]:
        """A column of text, decoded. Bytes that are not UTF-8 are surrogates.

        Raises:
            KeyError: there is no such column.
            TypeError: it holds no text.
        """
        found = self._reader.column(self._name, column)
        if not found.is_text:
            raise TypeError(f"{self._name}.{column} is not a column of text")
        strings = self._recording.strings
        return [None if index < 0 else strings[index] for index in memoryview(found)]

    def nulls(self, column: str) -> int:
        """How many rows have no value in a column."""
        return self._reader.column(self._name, column).null_count

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each row as a dict, None where it has no value."""
        columns = []
        for name in self.names:
            column = self._reader.column(self._name, name)
            columns.append((name, column, memoryview(column)))
        strings = self._recording.strings
        for row in range(len(self)):
            found: dict[str, Any] = {}
            for name, column, values in columns:
                if column.is_null(row):
                    found[name] = None
                else:
                    found[name] = strings[values[row]] if column.is_text else values[row]
            yield found

    def _records(self) -> list[dict[str, Any]]:
        return list(self.rows())

    def to_arrow(self) -> Any:
        """The columns as a ``pyarrow.Table``, numbers without a copy.

        Raises:
            ModuleNotFoundError: pyarrow is not installed.
        """
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """The columns as a ``polars.DataFrame``.

        Raises:
            ModuleNotFoundError: polars is not installed.
        """
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """The columns as a ``pandas.DataFrame``, texts as categories.

        Raises:
            ModuleNotFoundError: pandas or pyarrow is not installed.
        """
        import pandas  # noqa: F401  # named by the error before pyarrow is

        return self.to_arrow().to_pandas()

    def _preview(self) -> tuple[Sequence[str], Iterable[Sequence[str]], int]:
        rows = (tuple(map(plain_cell, row.values())) for row in self.rows())
        return self.names, rows, len(self)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._reader.arrow_array(self._name)

    def __arrow_c_schema__(self) -> object:
        return self._reader.arrow_schema(self._name)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._reader.arrow_stream(self._name)

    def __repr__(self) -> str:
        return (
            f"<nvspan Table {self._name}: {counted(len(self), 'row')} of {', '.join(self.names)}>"
        )
