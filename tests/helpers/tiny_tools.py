# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Builds variants of tiny_tool.cpp and runs programs under them."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from helpers import compile as compiling

SOURCE = Path(__file__).with_name("tiny_tool.cpp")
OURS = ("NVTX_INJECTION64_PATH", "NVTX_INJECTION32_PATH", "NVSPAN_TRACE", "TINY_TOOL_LOG")


@dataclass
class TinyRun:
    """What a program did under a tiny tool."""

    log: list[str]
    stdout: str
    stderr: str


@functools.cache
def build(*defines: str) -> str:
    """The path of the tool compiled with these macros; skips the test without a compiler."""
    macros = (f"-D{define}" for define in defines)
    return str(compiling.built("tiny_tool.so", [SOURCE], "-O1", "-fPIC", "-shared", *macros))


def run_under(
    library: str, code: str, tmp_path: Path, env: dict[str, str] | None = None
) -> TinyRun:
    """Runs `code` in a process whose NVTX tool is `library`; it must succeed."""
    log = tmp_path / "tiny.log"
    log.unlink(missing_ok=True)
    environment = {key: value for key, value in os.environ.items() if key not in OURS}
    environment |= {"NVTX_INJECTION64_PATH": library, "TINY_TOOL_LOG": str(log), **(env or {})}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    text = log.read_text() if log.exists() else ""
    return TinyRun(text.splitlines(), done.stdout, done.stderr)
