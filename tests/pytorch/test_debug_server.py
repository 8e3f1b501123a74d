# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The page of torch.distributed's debug server, asked for over HTTP from jobs of real ranks."""

from __future__ import annotations

import html
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import ExitStack

import pytest

from helpers.lines import expect_line
from helpers.live import wait_until
from helpers.traced import clean_environment, needs_library

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch.distributed.debug", reason="this torch has no debug server")
for package in ("jinja2", "tabulate"):
    pytest.importorskip(package, reason=f"the debug server needs {package}")

pytestmark = needs_library

RANK = """
import os, sys, time
import nvspan
import torch.distributed as dist
from nvspan.torch.debug_server import WherePage
from torch.distributed.debug import start_debug_server
from torch.distributed.debug._debug_handlers import default_handlers
dist.init_process_group("gloo")
rank = dist.get_rank()
start_debug_server(port=int(sys.argv[1]), handlers=[*default_handlers(), WherePage(*sys.argv[2:])],
                   dump_dir="dumps", dump_interval=0.5, enabled_dumps={"nvspan_where"})
for number in range(3):
    with nvspan.step(number):
        pass
with nvspan.annotate("load<er>" if rank == 1 else "all_reduce",
                     domain="data" if rank == 1 else "gloo"):
    print("ready", flush=True)
    time.sleep(600)
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def job(tmp_path):
    """Starts the ranks, with the page's targets, and returns how the page is asked for."""
    try:
        socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        pytest.skip("the name of this host, by which ranks are asked, does not resolve")
    ranks = []
    with ExitStack() as stack:

        def start(*targets, modes=("ring=1",) * 3):
            page, store = free_port(), free_port()
            for rank, mode in enumerate(modes):
                environment = clean_environment({
                    "RANK": str(rank), "WORLD_SIZE": str(len(modes)), "MASTER_ADDR": "127.0.0.1",
                    "MASTER_PORT": str(store), "GLOO_SOCKET_IFNAME": "lo",
                })  # fmt: skip
                command = [sys.executable, "-m", "nvspan", "record", "--no-report", "--mode", mode,
                           "-o", f"run-{rank}.nvspan", "-c", RANK, str(page), *targets]  # fmt: skip
                ranks.append(subprocess.Popen(command, cwd=tmp_path, env=environment, text=True,
                                              stdout=subprocess.PIPE,
                                              start_new_session=True))  # fmt: skip
                stack.callback(end, ranks[-1])
            for rank in ranks:
                expect_line(rank)

            def ask():
                url = f"http://localhost:{page}/nvspan_where"
                with urllib.request.urlopen(url, timeout=60) as answer:
                    return answer.read().decode()

            def listens():
                try:
                    socket.create_connection(("localhost", page), 10).close()
                except OSError:
                    return False
                return True

            wait_until(listens, "the debug server")

            return ask, ranks

        yield start


def end(process):
    """The rank, and the process that serves the pages."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()


def parts(page):
    """{title: its lines, without what differs from run to run}."""
    found = {}
    for title, body in re.findall(r"<h2>(.*?)</h2><pre>(.*?)</pre>", page, re.DOTALL):
        text = re.sub(r"(\d+(\.\d+)? (ns|us|ms|s|min))\b", "TIME", html.unescape(body))
        text = re.sub(r"process \d+ on \S+:", "process PID on HOST:", text)
        text = re.sub(r"^(\s+)(\S+) \d+: ", r"\1\2 TID: ", text, flags=re.MULTILINE)
        found[title] = text.splitlines()
    return found


def test_the_page_shows_each_rank_and_its_last_steps(job, tmp_path):
    ask, _ = job("run-*.nvspan")
    page = ask()
    assert '<a href="/nvspan_where">nvspan where</a>' in page
    assert "load<er>" not in page
    found = parts(page)
    assert list(found) == ["All ranks", "Rank 0", "Rank 1", "Rank 2"]
    assert found["All ranks"][0] == "rank 1 is in data:load<er>; ranks 0,2 wait in gloo:all_reduce"
    for rank, name in enumerate(["gloo:all_reduce", "data:load<er>", "gloo:all_reduce"]):
        lines = found[f"Rank {rank}"]
        assert any(f": {name} " in line for line in lines), lines
        at = lines.index("last steps")
        assert lines[at + 1 :] == [f"step {number}: TIME, TIME ago" for number in range(3)]
    wait_until(lambda: list(tmp_path.glob("dumps/nvspan_where_*.txt")), "a dump")
    (first, *_) = sorted(tmp_path.glob("dumps/nvspan_where_*.txt"))
    wait_until(lambda: "=== Rank 2 ===" in first.read_text(), "all of the dump")


def test_a_rank_that_is_stopped_is_in_the_verdict(job):
    ask, ranks = job("run-*.nvspan", modes=("armed",) * 3)
    os.killpg(ranks[1].pid, signal.SIGSTOP)
    found = parts(ask())
    assert found["All ranks"][0] == "rank 1 is stopped, in data:load<er>"
    assert found["Rank 0"][-1] == "mode armed keeps no single ranges"
    assert found["Rank 1"][0].startswith("rank 1 did not answer: ")


def test_without_targets_each_rank_answers_for_itself(job):
    ask, _ = job(modes=("ring=1",))
    assert list(parts(ask())) == ["Rank 0"]
