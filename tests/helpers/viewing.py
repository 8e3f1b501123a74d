# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A running ``nvspan view``, and what it serves."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import urllib.request

from helpers.like_python import default_signals
from helpers.lines import next_line
from helpers.traced import clean_environment


@contextlib.contextmanager
def viewing(*arguments):
    """A running ``nvspan view``, and the address that it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nvspan", "view", "--no-browser", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment(),
        preexec_fn=default_signals,
    )  # fmt: skip
    try:
        yield process, next_line(process).strip()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        assert process.returncode == 0, errors


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as reply:
        return reply.read()
