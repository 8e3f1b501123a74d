# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reading what `nvspan.record` and ``nvspan record`` wrote."""

from __future__ import annotations

import os

from nvspan._lazy import lazy_attributes
from nvspan.recording.label import printable
from nvspan.recording.opened import OpenedFiles, Source
from nvspan.recording.regular_file import check_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from nvspan.recording.kernels import Kernels
    from nvspan.recording.lines import Lines
    from nvspan.recording.modules import Modules
    from nvspan.recording.projection import Projection
    from nvspan.recording.stats import Stats
    from nvspan.recording.steps import Steps
    from nvspan.recording.table import Table

__all__ = [
    "Kernels",
    "Lines",
    "Modules",
    "Projection",
    "Recording",
    "Source",
    "Stats",
    "Steps",
    "Table",
    "read",
]


__getattr__ = lazy_attributes(
    __name__,
    Kernels="nvspan.recording.kernels:Kernels",
    Lines="nvspan.recording.lines:Lines",
    Modules="nvspan.recording.modules:Modules",
    Projection="nvspan.recording.projection:Projection",
    Stats="nvspan.recording.stats:Stats",
    Steps="nvspan.recording.steps:Steps",
    Table="nvspan.recording.table:Table",
)


class Recording(OpenedFiles):
    """What was recorded, of one file or of several. Made by `nvspan.read`.

    `ranges`, `marks`, `counters`, `threads`, `domains` and `losses` are tables, see `Table`. Times
    are ns of CLOCK_MONOTONIC of the first file's machine; `unix_offset` added to one gives ns since
    1970. Reading needs no other package.

    Any number of threads may use a recording, its tables and parts at once. A process that was
    forked while another thread used it reads the files again.
    """

    def _table(self, name: str) -> Table:
        from nvspan.recording.table import Table

        return Table(self, name)

    @property
    def ranges(self) -> Table:
        """Every range, in each thread in the order of their start."""
        return self._table("ranges")

    @property
    def marks(self) -> Table:
        """Every mark."""
        return self._table("marks")

    @property
    def counters(self) -> Table:
        """Every sample of a counter."""
        return self._table("counters")

    @property
    def threads(self) -> Table:
        """The threads that made a call."""
        return self._table("threads")

    @property
    def domains(self) -> Table:
        """The NVTX domains; the default domain has no name."""
        return self._table("domains")

    @property
    def losses(self) -> Table:
        """What could not be recorded: how much, of which thread, from when to when, and why."""
        return self._table("losses")

    @property
    def events(self) -> list[dict[str, Any]]:
        """Every other NVTX call, in its order: registrations, names, schemas, resources, ..."""
        import json

        events = []
        for process, text in self._reader.events():
            try:
                event = json.loads(text)
            except ValueError:
                continue
            if isinstance(event, dict):
                events.append({"process": process, **event})
        return events

    def payload(self, row: int, table: str = "ranges") -> list[tuple[int, int, bytes]]:
        """The pieces of a row's extended payload: (schema id, size as passed, the bytes kept).

        A piece that could not be copied has fewer bytes than its size. Empty where there is none.
        """
        from nvspan.recording.payload import pieces

        reader = self._reader
        size = memoryview(reader.column(table, "payload_bytes"))[row]
        if size == 0:
            return []
        offset = memoryview(reader.column(table, "payload"))[row]
        return pieces(reader.payload_bytes(offset, size))

    def payload_fields(self, row: int, table: str = "ranges") -> dict[str, Any] | None:
        """The fields of a row's extended payload by their names, lists and structs as such.

        Enumerations, registered strings, categories and scopes are what they are called, bytes are
        in hex. Of an event that was submitted with its times only what is no attribute of the
        event. None where there is no payload, or none whose schema is known and fits.

        Args:
            row: of the table.
            table: "ranges" or "marks".

        Raises:
            IndexError: there is no such row.
            KeyError: the table has no payloads.

        >>> recording.payload_fields(0)                                  # doctest: +SKIP
        {'step': 3, 'loss': 0.25, 'shape': [8, 128]}
        """
        import json

        found = self._reader.row_json(table, row)
        return None if found is None else dict(json.loads(found))

    def calls(self) -> Iterator[dict[str, Any]]:
        """Every range and mark call, in the order of their times, as ``--format jsonl`` names it.

        Keys: kind ("push", "pop", "start", "end", "mark"), process, thread, pid, tid, ts, domain,
        message, message_type; those that open also color, category, category_name, payload_type,
        payload and, when it is extended, payload_data and, if its schema is known, payload_fields;
        push and pop depth, start and end id.
        Threads are one time line here: for millions of ranges use the tables.
        """
        from nvspan.recording.calls import calls_of

        return calls_of(self)

    def stats(
        self,
        by: str = "name",
        *,
        domains: Iterable[str | None] | None = None,
        names: Iterable[str | None] | None = None,
        match: Iterable[str] | None = None,
        threads: Iterable[int] | None = None,
        start: int | None = None,
        stop: int | None = None,
        min_duration: int | None = None,
    ) -> Stats:
        """Calls, total, self time, mean, deviation, extremes and quantiles of each range.

        One pass over the recording, with memory for the names alone. Unclosed ranges are counted
        and in no other number; percentiles are the nearest rank, from a histogram: within 0.4%.
        `Stats` says what each figure is.

        Args:
            by: "name" (domain, name and kind), or these and "thread", "process", "category",
                "payload", or "payload.FIELD", a field of payloads, whose value is `field`.

        The others are those of `filter`.

        Raises:
            ValueError: an unknown `by`.

        >>> for row in nvspan.read("run.nvspan").stats().rows:           # doctest: +SKIP
        ...     print(row.name, row.calls, row.p50)
        """
        from nvspan.recording.stats import Stats

        part = self.filter(domains=domains, names=names, match=match, threads=threads, start=start,
                           stop=stop, min_duration=min_duration)  # fmt: skip
        return part._reader.stats(by).into(Stats)

    def lines(
        self,
        by: str = "line",
        *,
        show_stdlib: bool = False,
        idle: bool = False,
        domains: Iterable[str | None] | None = None,
        names: Iterable[str | None] | None = None,
        match: Iterable[str] | None = None,
        threads: Iterable[int] | None = None,
        start: int | None = None,
        stop: int | None = None,
        min_duration: int | None = None,
    ) -> Lines:
        """The lines and functions in which Python's threads were, from samples. See `Lines`.

        With names, the samples within ranges of these names. Without samples there are no rows.

        Args:
            by: "line", "function", or "expression": the part of a line that ran, from CPython 3.11
                on.
            show_stdlib: show the standard library's frames. Else their time is their caller's.
            idle: show threads that only waited.

        The others are those of `filter`.

        Raises:
            ValueError: an unknown `by`.

        >>> for row in nvspan.read("run.nvspan").lines(match=["load"]).rows:  # doctest: +SKIP
        ...     print(row.file, row.line, row.share, row.margin)
        """
        from nvspan.recording.lines import Lines

        part = self.filter(domains=domains, names=names, match=match, threads=threads, start=start,
                           stop=stop, min_duration=min_duration)  # fmt: skip
        return Lines(part, by, show_stdlib=show_stdlib, idle=idle)

    def kernels(
        self,
        by: str = "name",
        *,
        within: Iterable[str] | None = None,
        domain: str = "torch",
        names: Iterable[str | None] | None = None,
        match: Iterable[str] | None = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> Kernels:
        """Each kernel, copy and set with its calls and times, and what launched it. See `Kernels`.

        Args:
            by: "name", a row for each kernel; "range" or "module", one for each kernel of each
                innermost range, or of each module's forward and backward pass.
            within: patterns (``*``, ``?``) of ranges: work that was launched in one of them, at any
                depth.
            domain: of the ranges that `nvspan.torch.annotate_module` made.

        The others are those of `filter`, for kernels.

        Raises:
            ValueError: an unknown `by`, no range is like `within`, or the recording is of
                ``--mode stats``.

        >>> for row in nvspan.read("run.nvspan").kernels("range").rows:  # doctest: +SKIP
        ...     print(row.range, row.name, row.count, row.total)
        """
        from nvspan.recording.kernels import Kernels

        part = self.filter(names=names, match=match, start=start, stop=stop)
        return Kernels(part, by, within=within, domain=domain)

    def projection(self) -> Projection:
        """What the GPU did for each range of the CPU: the work that was launched within it.

        Kernels, copies and sets, of a report of Nsight Systems, belong to every range of the thread
        that launched them during which their launching call lay. A recording without them has the
        device ranges that were asked for within the range. See `Projection`.

        >>> for row in nvspan.read("run.nsys-rep").projection().rows:    # doctest: +SKIP
        ...     print(row.name, row.ops, row.busy)
        """
        from nvspan.recording.projection import Projection

        return Projection(self)

    def steps(self, step: str | None = None, phases: Sequence[str] | None = None) -> Steps:
        """Where the time of each step went, on the CPU and on the GPU. See `Steps`.

        Of a part by `filter`, the steps of its threads that begin within its times; its names do
        not matter. The steps of every process are together.

        Args:
            step: the range that is a step, its name or "domain:name", with ``*`` and ``?``. None:
                what `nvspan.step` and `nvspan.torch.auto` mark, or else numbered or usual names,
                the innermost range that repeats and holds different parts, or ranges that follow
                each other in turn: ``steps().choice`` says which.
            phases: such names of the ranges that a step's time is shared out to. None: those of
                `nvspan.torch.auto`, or else the ranges directly within a step, the 12 largest.

        Raises:
            ValueError: no range has such a name, or none repeats as the body of a loop, or the
                recording is of ``--mode stats``.

        >>> nvspan.read("run.nvspan").steps().typical.cpu                # doctest: +SKIP
        {'data wait': 1200000.0, 'forward': 5100000.0, 'other': 300000.0}
        """
        from nvspan.recording.steps import Steps

        return Steps(self, step, phases)

    def modules(self, domain: str = "torch", step: str | None = None) -> Modules:
        """What each module of a model costs, forward and backward, CPU and GPU. See `Modules`.

        Args:
            domain: of the ranges that `nvspan.torch.annotate_module` made.
            step: as for `steps`. None: where no steps are found, the whole recording counts.

        Raises:
            ValueError: no range is called as `step` says, or the recording is of ``--mode stats``.

        >>> for row in nvspan.read("run.nvspan").modules().rows():       # doctest: +SKIP
        ...     print(row["path"], row["count"], row["forward_gpu"])
        """
        from nvspan.recording.modules import Modules

        return Modules(self, domain, step)

    # What makes recordings of other tools' reports: put here by `nvspan` itself.
    _import: Callable[[str], tuple[str, Source] | None] | None = None
    # What makes the HTML: reports are above recordings, and are put here by `nvspan` itself.
    _html: Callable[[Recording], str] | None = None

    def _repr_html_(self) -> str:
        """What a notebook shows: the page of `nvspan report`, in an iframe."""
        html = type(self)._html
        assert html is not None
        return html(self)

    def __repr__(self) -> str:
        paths = ", ".join(dict.fromkeys(process.path for process in self.processes))
        return f"<nvspan Recording of {printable(paths)}>"


def _files_of(path: str) -> list[str]:
    """The recordings in a folder that holds some, such as a bundle of the black box; else it."""
    if not os.path.isdir(path):
        return [path]
    names = sorted(name for name in os.listdir(path) if name.endswith(".nvspan"))
    return [os.path.join(path, name) for name in names] or [path]


def split_repeated(
    paths: Iterable[str | os.PathLike[str]],
) -> tuple[list[str], list[str]]:
    """The files that `read` reads of these paths, and those that are named again.

    Raises:
        OSError: there is no such file.
    """
    files: list[str] = []
    repeated: list[str] = []
    known = set()
    for name in (each for path in paths for each in _files_of(os.fspath(path))):
        status = os.stat(name)
        file = (status.st_dev, status.st_ino)
        (repeated if file in known else files).append(name)
        known.add(file)
    return files, repeated


def read(*paths: str | os.PathLike[str]) -> Recording:
    """Reads recordings, those of one job together, folders of them, and files of other tools.

    A report of Nsight Systems is an ``.nsys-rep``, which the installed nsys exports, or the SQLite
    file that ``nsys export`` makes of one: see `docs/nsight-systems.md`. A Chrome trace
    (torch.profiler, JAX) is a ``.json`` or ``.json.gz``: see `docs/external.md`.

    A file that is damaged, or whose process was killed, gives what is intact; `Recording.problems`
    says what is not. A file that is named twice is read once.

    Raises:
        OSError: a file cannot be opened.
        ValueError: a file is none of these, is damaged beyond reading, or no file is named.

    >>> recording = nvspan.read("run.nvspan")                            # doctest: +SKIP
    >>> len(recording.ranges)                                            # doctest: +SKIP
    1000000
    """
    from nvspan import _reader

    if not paths:
        raise ValueError("read() needs the path of a recording")
    names = []
    sources = {}
    for name in split_repeated(paths)[0]:
        made = None if Recording._import is None else Recording._import(name)
        if made is not None:
            name = made[0]
            sources[name] = made[1]
        check_regular(name)
        names.append(name)
    reader = _reader.Reader([os.fsencode(name) for name in names])
    if reader.unreadable():
        raise ValueError("; ".join(reader.problems()))
    return Recording(reader, sources)
