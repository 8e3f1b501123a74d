# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan clock`` as a job of torchrun, whose processes pretend to be hosts of their own."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from helpers.traced import clean_environment
from nvspan.ranks.clock.clocks import load

pytest.importorskip("torch", reason="PyTorch is not installed")

PROGRAM = """
import os, sys
from nvspan.cli.clock import main

rank = int(os.environ["RANK"])
sys.exit(main([*sys.argv[1:], "--pretend", f"node{rank}:{rank * 1_000_000_000}"]))
"""


def test_ranks_of_torchrun_measure_their_clocks(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3",
         "program.py", "-o", "clocks.json", "--port", str(port)],
        cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, timeout=200,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    clocks = load(tmp_path / "clocks.json")
    assert sorted(clocks.hosts) == ["node0", "node1", "node2"]
    for rank in (1, 2):
        (found,) = clocks.hosts[f"node{rank}"].measured
        assert found.low <= -rank * 1_000_000_000 <= found.high
