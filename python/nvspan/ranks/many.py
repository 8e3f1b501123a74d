# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Many recordings as one: `ManyRecordings`, and how it is made."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable

from nvspan import _reader
from nvspan._results import MarkRow
from nvspan._results.jobs import Collective, JobProcess, RankCollective
from nvspan._results.kernels import GpuGap
from nvspan.ranks import mapping, paths, pool
from nvspan.ranks.modules import ManyModules
from nvspan.ranks.steps import ManySteps
from nvspan.recording import Recording, read
from nvspan.recording.label import matches
from nvspan.recording.stats import Stats

_GROUPS = ("name", "rank")
_SUMMARIES = ("use", "write", "ignore")
_RANK_WORDS = "slowest:K or a rank"
_REMOVED_WORDS = ("medoid", "outliers")
_KINDS_OF_LOSS = ("lost", "gaps", "overwritten", "orphans", "others")


class ManyRecordings:
    """The recordings of one job, reduced to one summary. Made by `nvspan.read_many`.

    All figures are integers that were added: they are the same for any order of the files, any
    executor and number of workers. Percentiles are of the merged histogram, within 0.4% of a
    value that was measured. Times of several machines are by their wall clocks.

    Attributes:
        files: the paths, sorted.
        unread: a dict from the path of each file that could not be read to the reason.
        problems: what is damaged in files that were read: pairs of path and sentence.
        notes: what else went wrong, such pairs: a summary that could not be written.
    """

    __module__ = "nvspan.ranks"

    def __init__(
        self,
        files: list[str],
        summary: _reader.RankSummary,
        wanted: mapping.Job,
        unread: dict[str, str],
        problems: list[tuple[str, str]],
        notes: list[tuple[str, str]],
    ) -> None:
        self.files = files
        self.unread = unread
        self.problems = problems
        self.notes = notes
        self._summary = summary
        self._by_rank = wanted.by_rank
        self._has_modules = wanted.modules is not None

    def to_bytes(self) -> bytes:
        """The summary: the same bytes for the same files."""
        return self._summary.bytes()

    @functools.cached_property
    def processes(self) -> list[JobProcess]:
        """The processes by rank: file, host, pid, times in ns, what was lost."""
        table = self._summary.table("processes")
        files = self._summary.table("files")
        path_of = dict(zip(files.get("process", ()), files.get("path", ()), strict=True))
        rows = []
        for values in zip(*table.values(), strict=True):
            row = dict(zip(table, values, strict=True))
            for key in ("rank", "local_rank", "world_size"):
                row[key] = None if row[key] < 0 else row[key]
            row["path"] = path_of[row["process"]]
            row["closed"] = bool(row["closed"])
            row["mode"] = ("full", "ring", "stats", "armed")[row["mode"]]
            row["event_cost"] /= 1000
            rows.append(JobProcess(**row))
        rows.sort(key=lambda row: (row.rank is None, row.rank or 0, row.path, row.pid))
        return rows

    @functools.cached_property
    def gpu_gaps(self) -> list[GpuGap]:
        """When the work of GPUs was not recorded: as `Recording.gpu_gaps`, in ns since 1970.

        `process` is a row of `processes`.
        """
        places = {process.process: place for place, process in enumerate(self.processes)}
        table = self._summary.table("gpu_gaps")
        rows = zip(*(table.get(name, ()) for name in ("process", "start", "end", "reason")),
                   strict=True)  # fmt: skip
        gaps = [GpuGap(places[process], start, end, reason) for process, start, end, reason in rows]
        return sorted(gaps, key=lambda gap: (gap.process, gap.start))

    def stats(self, by: str = "name", *, match: Iterable[str] | None = None) -> Stats:
        """As `Recording.stats`: each range of all files, or of each rank.

        Rows are `JobRow`. `warmup` is 0. By rank each row has `rank`, None for a process that has
        none, and `process`, a row of `processes`.

        Args:
            by: "name" or "rank".
            match: patterns with ``*`` and ``?``, one of which the name, or "domain:name", is like.

        Raises:
            ValueError: another `by`, or "rank" where the files were read without ``by_rank=True``.
        """
        summary = self._of_groups(by)
        rows = summary.rows()
        if match is not None:
            patterns = tuple(match)
            rows = [row for row in rows if matches(patterns, row.domain, row.name)]
        owners = {row.group: at for at, row in reversed(list(enumerate(self.processes)))}
        if by == "rank":
            rows = [
                row.replace(
                    process=owners.get(row.group, 0), rank=row.group if row.group >= 0 else None
                )
                for row in rows
            ]
        rows.sort(key=lambda row: -row.total)
        lost = {key: sum(getattr(p, key) for p in self.processes) for key in _KINDS_OF_LOSS}
        first, last = self._span()
        return Stats(
            by=by, rows=[*rows], losses=[], marks=_marks(summary.marks()), first=first, last=last,
            whole=last - first, **lost,
        )  # fmt: skip

    def _of_groups(self, by: str) -> _reader.RankSummary:
        if by not in _GROUPS:
            raise ValueError(f"by must be one of {', '.join(_GROUPS)}, not {by!r}")
        if by == "rank" and not self._by_rank:
            raise ValueError("by='rank' needs read_many(..., by_rank=True)")
        if by == "rank" or not self._by_rank:
            return self._summary
        whole = _reader.RankSummary.read(self._summary.bytes())
        whole.collapse()
        return whole

    def matching(self, patterns: Iterable[str] | None) -> Matching:
        """What has `stats()` alone, of the ranges that the patterns take; None: of all."""
        return Matching(self, patterns)

    def _span(self) -> tuple[int, int]:
        """The first and the last moment, in ns since 1970: on one machine by one clock."""
        offsets: dict[str, int] = {}
        for row in self.processes:
            offsets[row.boot_id] = min(offsets.get(row.boot_id, row.unix_offset), row.unix_offset)
        seen = [row for row in self.processes if row.ranges and row.first <= row.last]
        if not seen:
            return 0, 0
        return (
            min(row.first + offsets[row.boot_id] for row in seen),
            max(row.last + offsets[row.boot_id] for row in seen),
        )

    def steps(self) -> ManySteps:
        """The steps of every rank side by side. See `ManySteps`.

        Raises:
            ValueError: the files were read without ``steps=True``, or have no steps.
        """
        return ManySteps(self._summary, self.processes)

    def modules(self) -> ManyModules:
        """What each module of the job's models costs, all ranks together. See `ManyModules`.

        Raises:
            ValueError: the files were read without ``modules=True``.
        """
        if not self._has_modules:
            raise ValueError("no modules are known: read_many(..., modules=True) looks for them")
        return ManyModules(self._of_groups("name"))

    def collectives(self, by: str = "name") -> list[Collective]:
        """The collectives of each communicator, or of each rank as well, the most time first.

        Each is a `Collective` with `name`, `communicator`, `ranks`, `count`, `timed`, `bytes`, and
        in ns `total`, `mean`, `min`, `p50`, `p90`, `p99` and `max`; by rank a `RankCollective`,
        which has `rank` as well. Fields may be read by key, too: ``row["p99"]``.

        Args:
            by: "name" or "rank".

        Raises:
            ValueError: another `by`, or "rank" where the files were read without ``by_rank=True``.
        """
        rows: list[Collective] = []
        for row in self._of_groups(by).collectives():
            communicator, _, ranks = (row.domain or "").partition(":")
            about = row.into(
                Collective,
                communicator=communicator or None,
                ranks=int(ranks) if ranks else None,
                count=row.calls + row.unclosed,
                timed=row.calls,
                total=row.sum,
            )
            if by == "rank":
                about = about.into(RankCollective, rank=row.group if row.group >= 0 else None)
            rows.append(about)
        return sorted(rows, key=lambda row: (-row.total, -row.count))

    def choose(self, which: str) -> list[int]:
        """The ranks that words stand for, such as ``"slowest:3,7"``.

        slowest:K   those with the most time in steps; without steps, in ranges
        7           rank 7

        Raises:
            ValueError: another word, or a rank that is not there.
        """
        return _choose(which, self._rank_times())

    def _rank_times(self) -> dict[int, float]:
        """The time of each rank: of its typical step, or from its first range to its last."""
        try:
            found = {row.rank: float(row.median) for row in self.steps().ranks}
        except ValueError:
            found = {}
            for row in self.processes:
                found[row.rank] = max(found.get(row.rank, 0.0), float(row.last - row.first))
        return {rank: time for rank, time in found.items() if rank is not None}

    def paths_of(self, ranks: Iterable[int]) -> list[str]:
        """The files of these ranks.

        Raises:
            ValueError: no file is of one of them.
        """
        wanted = set(ranks)
        found = {row.rank for row in self.processes}
        if missing := sorted(wanted - found):
            raise ValueError(f"no file is of rank {', '.join(map(str, missing))}")
        return sorted({row.path for row in self.processes if row.rank in wanted})

    def read(self, ranks: Iterable[int]) -> Recording:
        """The recordings of these ranks, as `nvspan.read` gives them: with timelines.

        Raises:
            ValueError: no file is of one of them.
            OSError: a file is gone, or lies on another machine.
        """
        return read(*self.paths_of(ranks))

    def __repr__(self) -> str:
        return f"<nvspan ManyRecordings of {len(self.files)} files>"


class Matching:
    """The statistics of some ranges of a job, where a recording is asked for its own."""

    def __init__(self, job: ManyRecordings, patterns: Iterable[str] | None) -> None:
        self._job = job
        self._patterns = None if patterns is None else tuple(patterns)

    def stats(self) -> Stats:
        """As `ManyRecordings.stats`."""
        return self._job.stats(match=self._patterns)


def _marks(marks: list[MarkRow]) -> list[MarkRow]:
    """The marks of all ranks together."""
    counts: dict[tuple[str | None, str | None], int] = {}
    for row in marks:
        key = row.domain, row.name
        counts[key] = counts.get(key, 0) + row.calls
    return [MarkRow(domain, name, calls) for (domain, name), calls in counts.items()]


def _choose(which: str, times: dict[int, float]) -> list[int]:
    """The ranks that `which` names, each once, in its order; `times`: how long each rank took."""
    if not times:
        raise ValueError("no file says which rank it is of")
    chosen: list[int] = []
    for word in filter(None, (word.strip() for word in which.split(","))):
        chosen += _of_word(word, times)
    if not chosen:
        raise ValueError(f"ranks must be {_RANK_WORDS}, not {which!r}")
    return list(dict.fromkeys(chosen))


def _of_word(word: str, times: dict[int, float]) -> list[int]:
    name, _, count = word.partition(":")
    if name == "slowest" and (not count or (count.isdigit() and int(count) > 0)):
        slowest = sorted(times, key=lambda rank: (-times[rank], rank))
        return slowest[: int(count or 1)]
    if word in _REMOVED_WORDS:
        raise ValueError(
            f"ranks {word!r} is not supported: give ranks by number, as 3,7, or slowest:K "
            "('nvspan steps DIRECTORY' lists them)"
        )
    if word.isdigit():
        if int(word) not in times:
            raise ValueError(f"no file is of rank {word}; there are {min(times)} to {max(times)}")
        return [int(word)]
    raise ValueError(f"ranks must be {_RANK_WORDS}, not {word!r}")


def reduce(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    executor: object,
    job: mapping.Job,
    progress: Callable[[float], object] | None,
) -> ManyRecordings:
    """What `nvspan.ranks.read_many` does, which says what its arguments are."""
    if job.summaries not in _SUMMARIES:
        raise ValueError(f"summaries must be one of {', '.join(_SUMMARIES)}, not {job.summaries!r}")
    names = paths.expand(files)
    whole = _reader.RankSummary()
    unread: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    notes: list[tuple[str, str]] = []
    work = functools.partial(mapping.summarize, job=job)
    for part in pool.run_all(executor, work, names, unread.__setitem__, progress):
        whole.merge(_reader.RankSummary.read(part.summary))
        unread.update(part.unread)
        problems += part.problems
        notes += part.notes
    if len(unread) == len(names):
        some = "; ".join(f"{path}: {why}" for path, why in sorted(unread.items())[:3])
        raise ValueError(f"none of {len(names)} files can be read: {some}")
    return ManyRecordings(
        names, whole, job, dict(sorted(unread.items())), sorted(problems), sorted(notes)
    )
