# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Opened files: their processes, their texts, and the selected part of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from typing_extensions import Self

    from nvspan import _reader
    from nvspan._results import RecordedProcess
    from nvspan._results.kernels import Gpu, GpuGap, LaunchShape

_FIRST, _LAST = -(2**63), 2**63 - 1
# The domains of the GPU's work as tools saw it: nsys, and torch's own profiler.
WORK_DOMAINS = ("CUDA", "kernel", "gpu_memcpy", "gpu_memset")


class Source:
    """The report of another tool that a recording was made of.

    `path` is the report's, `tool` the program that wrote it, with its version; `end` is when its
    collection ended, in ns of the recording's times, None where it does not say; `notes` say what
    the recording has otherwise than the report, a sentence each.
    """

    __slots__ = ("end", "notes", "path", "tool")

    def __init__(self, path: str, tool: str, end: int | None, notes: Sequence[str] = ()) -> None:
        self.path = path
        self.tool = tool
        self.end = end
        self.notes = notes


class OpenedFiles:
    """What the parts of a `Recording` read of its files."""

    def __init__(self, reader: _reader.Reader, sources: dict[str, Source] | None = None) -> None:
        self._reader = reader
        self._sources = sources or {}
        self._strings: list[str] | None = None

    @property
    def strings(self) -> list[str]:
        """What the columns of text index."""
        strings = self._strings
        if strings is None or len(strings) != self._reader.string_count():
            # Another thread may assign a list that was read before this one.
            strings = self._strings = self._reader.strings()
        return strings

    @property
    def processes(self) -> list[RecordedProcess]:
        """The processes that were recorded: host, rank, command line, clock, overhead, ..."""
        processes = self._reader.processes()
        sources = [self._sources.get(process.path) for process in processes]
        return [
            process if source is None else process.replace(path=source.path, tool=source.tool)
            for process, source in zip(processes, sources, strict=True)
        ]

    @property
    def launch_shapes(self) -> list[LaunchShape]:
        """The shapes of kernels: what the column `launch_shape` of `ranges` numbers.

        >>> shape = recording.launch_shapes[row["launch_shape"]]          # doctest: +SKIP
        >>> shape.grid, shape.block, shape.registers                      # doctest: +SKIP
        ((16, 4, 1), (256, 1, 1), 40)
        """
        return self._reader.launch_shapes()

    @property
    def gpus(self) -> list[Gpu]:
        """The GPUs of the processes whose kernels were recorded."""
        return self._reader.gpus()

    @property
    def gpu_gaps(self) -> list[GpuGap]:
        """When the work of GPUs was not recorded, or not all of it, though it was asked for.

        A process's work in such a time is unknown: the GPU need not have been idle.
        """
        return self._reader.gpu_gaps()

    def sites(self) -> Iterator[tuple[str | None, str | None, str | None]]:
        """Domain, name and category of each site, by which ranges are known."""
        from itertools import count

        for index in count():
            try:
                domain, name, _, _, _, category, _ = self._reader.site(index)
            except IndexError:
                return
            yield domain, name, category

    def has_gpu(self) -> bool:
        """Whether a GPU was used: by a context of CUDA, a device range, a kernel, copy or set.

        Of the whole files, also for a part by `filter`. A file that does not say whether CUDA was
        in its process (`RecordedProcess.cuda` is None) counts by its events alone.
        """
        return (
            self._reader.has_device_ranges()
            or any(process.cuda == "context" for process in self.processes)
            or not set(WORK_DOMAINS).isdisjoint(self._reader.domains())
        )

    @property
    def problems(self) -> list[str]:
        """What was damaged and left out, or could not be read at all."""
        return self._reader.problems()

    @property
    def orphan_ends(self) -> int:
        """How many ends and pops had nothing to close."""
        return self._reader.orphan_ends()

    @property
    def unix_offset(self) -> int:
        """What turns a time into nanoseconds since 1970."""
        return self.processes[0].unix_offset

    def filter(
        self,
        *,
        domains: Iterable[str | None] | None = None,
        names: Iterable[str | None] | None = None,
        match: Iterable[str] | None = None,
        threads: Iterable[int] | None = None,
        start: int | None = None,
        stop: int | None = None,
        min_duration: int | None = None,
    ) -> Self:
        """The same recording, of which `stats`, `ranges`, `marks` and `counters` hold a part.

        Reports, pages, timelines and exports of it show that part. The other tables, `events` and
        `calls` are whole. Ranges nest as they do without those that are left out: a row's `parent`
        is the innermost range around it that is left. `self`, and the columns `depth` and `level`,
        are those of the whole recording. A filter of a filter takes what both take.

        Args:
            domains: names of domains; None or "NVTX" in it is the default domain.
            names: messages of ranges and marks, names of counters.
            match: patterns with ``*`` and ``?``, one of which the name, or "domain:name", is like;
                the default domain is "NVTX".
            threads: rows of `threads`.
            start: what begins at this time or later, in ns.
            stop: what begins before this time, in ns.
            min_duration: ranges that take so many ns or more; those that did not end stay.

        >>> recording.filter(domains=["train"]).stats()                  # doctest: +SKIP
        """
        pairs = None
        if domains is not None or names is not None or match is not None:
            pairs = self._pairs(domains, names, match)
        part = type(self)(self._reader.filtered(
            pairs, None if threads is None else set(threads), _FIRST if start is None else start,
            _LAST if stop is None else stop, min_duration or 0,
        ), self._sources)  # fmt: skip
        part._strings = self._strings
        return part

    def _pairs(
        self,
        domains: Iterable[str | None] | None,
        names: Iterable[str | None] | None,
        match: Iterable[str] | None,
    ) -> set[tuple[int, int]]:
        """The domains and names, by their numbers, that all of these take."""
        chosen = None if domains is None else {None if d == "NVTX" else d for d in domains}
        wanted = None if names is None else set(names)
        patterns = None if match is None else tuple(match)

        def takes(domain: str | None, name: str | None) -> bool:
            if (chosen is not None and domain not in chosen) or (
                wanted is not None and name not in wanted
            ):
                return False
            if patterns is None:
                return True
            from nvspan.recording.label import matches

            return matches(patterns, domain, name)

        of, strings = self._reader.domains(), self.strings
        return {
            (domain, name)
            for domain, name in self._reader.pairs()
            if takes(of[domain], strings[name] if name >= 0 else None)
        }
