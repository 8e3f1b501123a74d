# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Many recordings as one summary: as `nvspan.read` has it, the same bytes however it is made."""

from __future__ import annotations

import functools
import os
import random
import sys
import threading
from concurrent import futures
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

import nvspan
from helpers.dying import die_of, die_once
from helpers.job import RANGES_OF_A_STEP, write_job, write_rank
from helpers.packages import needs
from helpers.traced import python
from nvspan import _reader
from nvspan.ranks import beside, mapping, paths, pool

EXACT = ("calls", "unclosed", "total", "self", "sum", "min", "max", "threads", "overhead",
         "typical", "p50", "p90", "p99", "p999", "outliers", "outlier_total", "warmup")  # fmt: skip


def key(row):
    return row.domain, row.name, row.kind, row.backward


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    return write_job(folder, 12, slow={3: 1.5})


def test_the_figures_are_those_of_reading_the_files_together(job):
    found = nvspan.read_many(job).stats()
    wanted = nvspan.read(*job).stats()
    assert {key(row) for row in found.rows} == {key(row) for row in wanted.rows}
    others = {key(row): row for row in wanted.rows}
    for row in found.rows:
        other = others[key(row)]
        assert {name: getattr(row, name) for name in EXACT} == {
            name: getattr(other, name) for name in EXACT
        }
        assert row.std == pytest.approx(other.std, rel=1e-9)
        assert row.mean == pytest.approx(other.mean, rel=1e-12)
    assert found.wall == wanted.wall
    assert [row.total for row in found.rows] == [row.total for row in wanted.rows]


def test_each_rank_has_its_rows(job):
    many = nvspan.read_many(job, by_rank=True)
    rows = many.stats("rank").rows
    assert len(rows) == len(job) * RANGES_OF_A_STEP
    of_three = {row.name: row for row in rows if row.rank == 3}
    wanted = {row.name: row for row in nvspan.read(job[3]).stats().rows}
    for name, row in wanted.items():
        assert {k: getattr(of_three[name], k) for k in EXACT} == {k: getattr(row, k) for k in EXACT}
    assert {row.process for row in rows if row.rank == 3} == {3}
    assert many.processes[3].path == str(job[3])
    # And rows of names are those without ranks.
    assert many.stats().rows == nvspan.read_many(job).stats().rows


def test_any_order_and_executor_gives_the_same_bytes(job):
    wanted = nvspan.read_many(job, by_rank=True, steps=True).to_bytes()
    shuffled = list(job)
    random.Random(1).shuffle(shuffled)
    for workers in (1, 3, 12):
        with futures.ThreadPoolExecutor(workers) as executor:
            found = nvspan.read_many(shuffled, executor, by_rank=True, steps=True)
        assert found.to_bytes() == wanted
    found = nvspan.read_many(job[0].parent, "processes", by_rank=True, steps=True)
    assert found.to_bytes() == wanted


def test_parts_that_are_merged_in_any_order_are_the_same(job):
    names = [str(path) for path in job]
    task = mapping.Job(by_rank=True)
    parts = [mapping.summarize(names[at : at + 5], task).summary for at in range(0, len(names), 5)]
    results = set()
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        whole = _reader.RankSummary()
        for at in order:
            whole.merge(_reader.RankSummary.read(parts[at]))
        results.add(whole.bytes())
    assert results == {nvspan.read_many(job, by_rank=True).to_bytes()}


def test_damaged_and_missing_files_are_named_and_the_rest_goes_on(job, tmp_path):
    no_recording = tmp_path / "text.nvspan"
    no_recording.write_text("no recording")
    missing = tmp_path / "missing.nvspan"
    hurt = write_rank(tmp_path / "hurt.nvspan", 99, steps=2000)
    whole = hurt.read_bytes()
    hurt.write_bytes(whole[: len(whole) // 2])
    found = nvspan.read_many([*job, no_recording, missing, hurt])
    assert found.unread == {
        str(missing): "No such file or directory",
        str(no_recording): "not an nvspan recording",
    }
    assert {path for path, _ in found.problems} == {str(hurt)}
    steps = next(row for row in found.stats().rows if row.name == "step")
    assert steps.calls >= 10 * len(job)


def test_a_job_of_which_nothing_can_be_read_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"none of 1 files can be read: .*missing.nvspan: No such"):
        nvspan.read_many(tmp_path / "missing.nvspan")
    with pytest.raises(ValueError, match=r"no file is like '.*\*.nvspan'"):
        nvspan.read_many(tmp_path / "*.nvspan")
    with pytest.raises(ValueError, match="needs the path of a recording"):
        nvspan.read_many([])
    with pytest.raises(ValueError, match="summaries must be one of use, write, ignore, not 'no'"):
        nvspan.read_many(tmp_path, summaries="no")


def test_an_executor_is_one(job):
    with pytest.raises(TypeError, match="executor must be an executor of concurrent"):
        nvspan.read_many(job, 3)
    with pytest.raises(ValueError, match="executor must be 'threads', 'processes' or an object"):
        nvspan.read_many(job, "fibers")


def run_all(work, names):
    workers = pool.Pool("processes")
    lost, done = {}, []
    try:
        found = list(pool.run(workers, work, names, lost.__setitem__, done.append))
    finally:
        workers.close()
    return sorted(name for part in found for name in part), lost, sum(done)


def test_the_files_of_a_worker_that_dies_are_read_again(tmp_path):
    names = [f"{at:02}" for at in range(40)]
    work = functools.partial(die_once, flag=str(tmp_path / "died"))
    assert run_all(work, names) == (names, {}, 40)


def test_a_file_that_kills_its_worker_twice_is_named():
    names = [f"{at:02}" for at in range(40)]
    found, lost, done = run_all(functools.partial(die_of, bad="17"), names)
    assert lost == {"17": "the worker that read it died, twice"}
    assert found == [name for name in names if name != "17"]
    assert done == 40


def test_summaries_beside_files_are_used_and_renewed(job, tmp_path):
    path = write_rank(tmp_path / "one.nvspan", 5)
    asked = mapping.Job().asked()
    wanted = nvspan.read_many(path).to_bytes()
    assert beside.load(str(path), asked) is None
    assert nvspan.read_many(path, summaries="write").to_bytes() == wanted
    kept = tmp_path / "one.nvspan.summary"
    assert beside.load(str(path), asked) is not None
    assert beside.load(str(path), "steps None") is None
    assert nvspan.read_many(path).to_bytes() == wanted

    # That they are used: one of another file, with the key of this one.
    other = write_rank(tmp_path / "other.nvspan", 6, steps=3)
    summary = _reader.RankSummary()
    summary.add(nvspan.read(other)._reader.handle())
    beside.store(str(path), asked, summary)
    rows = nvspan.read_many(path).stats().rows
    assert {row.calls for row in rows} == {3}
    assert {row.calls for row in nvspan.read_many(path, summaries="ignore").stats().rows} == {10}

    # Damaged, cut, stale: made again.
    whole = kept.read_bytes()
    for bad in (whole[:-1], whole[:20], b"", whole[:-4] + b"\0\0\0\1", b"X" + whole[1:]):
        kept.write_bytes(bad)
        assert nvspan.read_many(path).to_bytes() == wanted
    # Of another version.
    old = _reader.RankSummary.read(summary.bytes())
    beside.store(str(path), asked, SimpleNamespace(bytes=lambda: b"NVSPSUM1" + old.bytes()[8:]))
    assert beside.load(str(path), asked) is None
    assert nvspan.read_many(path).to_bytes() == wanted
    kept.write_bytes(whole)
    os.utime(path, ns=(1, 1))
    assert nvspan.read_many(path).to_bytes() == wanted
    nvspan.read_many(path, summaries="write")
    assert beside.load(str(path), asked) is not None


def test_a_file_that_is_cut_while_it_is_read_harms_nobody(tmp_path):
    path = write_rank(tmp_path / "one.nvspan", 5, steps=2000)
    whole = path.read_bytes()
    stop = threading.Event()

    def cut():
        with open(path, "r+b") as file:
            while not stop.is_set():
                file.truncate(len(whole) // 3)
                file.seek(0)
                file.write(whole)
                file.flush()

    thread = threading.Thread(target=cut)
    thread.start()
    try:
        for _ in range(50):
            calls = {row.calls for row in nvspan.read_many(path).stats().rows}
            assert max(calls, default=0) <= 2000
    finally:
        stop.set()
        thread.join()
    assert {row.calls for row in nvspan.read_many(path).stats().rows} == {2000}


def test_a_folder_and_a_pattern_stand_for_their_recordings(job):
    folder = job[0].parent
    everything = sorted(map(str, job))
    assert paths.expand(folder) == everything
    assert paths.expand(folder / "rank000?.nvspan") == everything[:10]
    assert paths.expand([job[2], str(job[2]), folder / "none.nvspan"]) == [
        str(folder / "none.nvspan"), str(job[2]),
    ]  # fmt: skip


@needs("fsspec")
def test_files_of_fsspec_are_read(job):
    import fsspec

    memory = fsspec.filesystem("memory")
    for path in job:
        memory.pipe(f"/job/{path.name}", path.read_bytes())
    memory.pipe("/job/zero.nvspan", b"zero")
    found = nvspan.read_many("memory://job/*.nvspan")
    assert found.stats().rows == nvspan.read_many(job).stats().rows
    assert found.unread == {"memory:///job/zero.nvspan": "not an nvspan recording"}
    names = ["memory://job/none.nvspan", "memory://job/rank0001.nvspan"]
    assert list(nvspan.read_many(names).unread) == names[:1]


def test_without_fsspec_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ModuleNotFoundError, match=r"URLs need fsspec: pip install 'nvspan\[remote"):
        nvspan.read_many("s3://bucket/*.nvspan")
    with pytest.raises(ValueError, match="none of 1 files can be read: s3://bucket/a: URLs need"):
        nvspan.read_many("s3://bucket/a")


@needs("fsspec")
@pytest.mark.parametrize(
    ("scheme", "package"), [("s3", "s3fs"), ("gs", "gcsfs"), ("https", "aiohttp")]
)
def test_without_the_package_of_a_file_system_it_is_named(scheme, package):
    # A process of its own: fsspec keeps what it has imported.
    program = (
        "import sys\n"
        f"sys.modules[{package!r}] = None\n"
        "import nvspan\n"
        "for end in ('*.nvspan', 'a.nvspan'):\n"
        "    try:\n"
        f"        nvspan.read_many('{scheme}://bucket/' + end)\n"
        "    except (ImportError, ValueError) as error:\n"
        "        print(type(error).__name__, error)\n"
    )
    done = python("-c", program, check=True)
    lacks = f"{scheme}:// needs {package}: pip install 'nvspan[remote]' {package}"
    assert done.stdout.splitlines() == [
        f"ModuleNotFoundError {lacks}",
        f"ValueError none of 1 files can be read: {scheme}://bucket/a.nvspan: {lacks}",
    ]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@needs("fsspec", "aiohttp")
def test_files_of_a_web_server_are_read(job):
    handler = functools.partial(Quiet, directory=job[0].parent)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        folder = f"http://127.0.0.1:{server.server_port}"
        found = nvspan.read_many(f"{folder}/*.nvspan")
        assert found.files == [f"{folder}/{path.name}" for path in job]
        assert found.stats().rows == nvspan.read_many(job).stats().rows
        names = [f"{folder}/{job[0].name}", f"{folder}/none.nvspan"]
        assert list(nvspan.read_many(names).unread) == names[1:]
        server.shutdown()


def test_steps_of_ranks_stand_side_by_side(job):
    steps = nvspan.read_many(job, steps=True).steps()
    assert len(steps) == 10 * len(job)
    assert [row["rank"] for row in steps.ranks] == list(range(12))
    assert set(steps.phases) == {"data wait", "forward", "backward", "optimizer", "other"}
    for rank in (0, 3):
        wanted = nvspan.read(job[rank]).steps()
        row = steps.ranks[rank]
        assert row["mean"] == pytest.approx(wanted.typical["duration"])
        assert row["cpu"] == pytest.approx(wanted.typical["cpu"])
    with pytest.raises(ValueError, match=r"read_many\(..., steps=True\) looks for them"):
        nvspan.read_many(job).steps()


def test_ranks_are_chosen(tmp_path):
    job = write_job(tmp_path, 12, slow={3: 1.5, 9: 1.2})
    for options in ({}, {"steps": True}, {"by_rank": True}):
        many = nvspan.read_many(job, **options)
        assert many.choose("slowest:2") == [3, 9]
        assert many.choose("7, slowest,7") == [7, 3]
    with pytest.raises(ValueError, match="no file is of rank 12; there are 0 to 11"):
        many.choose("12")
    with pytest.raises(ValueError, match="ranks must be slowest:K or a rank, not 'fastest'"):
        many.choose("fastest")
    for word in ("medoid", "outliers"):
        with pytest.raises(ValueError, match=f"'{word}' is not supported: give ranks by number"):
            many.choose(word)
    recording = many.read([3, 9])
    assert sorted(p.rank for p in recording.processes) == [3, 9]
    with pytest.raises(ValueError, match="no file is of rank 40"):
        many.read([40])


def test_by_is_name_or_rank(job):
    many = nvspan.read_many(job)
    with pytest.raises(ValueError, match="by must be one of name, rank, not 'thread'"):
        many.stats("thread")
    with pytest.raises(ValueError, match="needs read_many"):
        many.stats("rank")


def test_the_progress_reaches_the_end(job):
    seen = []
    nvspan.read_many(job, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1
