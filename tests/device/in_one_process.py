# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of this folder's tests one after the other in one process, for tools that need
seconds for each process they look into:

    NVSPAN_TEST_GPU=1 compute-sanitizer --target-processes all python tests/device/in_one_process.py

Programs that fork, exit, reset the device or want an environment of their own get a process of
their own. What the programs assert of a fresh process may fail here; that is counted, and the exit
code is that of the tool's findings, not of theirs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import nvspan  # noqa: E402
from helpers import device  # noqa: E402
from nvspan import launch  # noqa: E402

counted = nvspan.device_stats
ALONE = (
    "fork", "cuda.fail(", "LIBCUDA", "not initialised", "_exit", "sys.exit", "Reset", "CtxDestroy",
    "subprocess", "atexit", "import torch", "disable", "configure", "enable", "NVSPAN_",
)  # fmt: skip


class Programs:
    """Stands in for `run_device`: keeps the program, and skips the test."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, dict[str, str | None]]] = []

    def __call__(self, code: str, *args: object, **options: Any) -> None:
        preamble = options.get("preamble", device.PREAMBLE)
        if options.get("check", True) and not args:
            name = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[2].rpartition(" ")[0]
            self.found.append((name, preamble + code, dict(options.get("env") or {})))
        pytest.skip("its program was kept")


def run_here(name: str, code: str) -> bool:
    before = counted()
    nvspan.device_stats = lambda: {key: n - before[key] for key, n in counted().items()}
    try:
        exec(compile(code, name, "exec"), {"__name__": "__main__"})
    except BaseException:
        print(f"{name}: {traceback.format_exc().splitlines()[-1]}", flush=True)
        return False
    return True


def run_alone(name: str, code: str, env: dict[str, str | None]) -> bool:
    wanted = {**os.environ, **{k: v for k, v in env.items() if v is not None}}
    done = subprocess.run([sys.executable, "-c", code], env=wanted, check=False)
    if done.returncode != 0:
        print(f"{name}: exit code {done.returncode}", flush=True)
    return done.returncode == 0


def run_all(programs: list[tuple[str, str, dict[str, str | None]]]) -> None:
    began, fine, alone = time.monotonic(), 0, 0
    for name, code, env in sorted(programs, key=lambda each: bool(each[2] or _alone(each[1]))):
        if env or _alone(code):
            alone += 1
            fine += run_alone(name, code, env)
        else:
            fine += run_here(name, code)
    print(f"{len(programs)} programs, {alone} in processes of their own, {fine} ran to their end, "
          f"{time.monotonic() - began:.0f} s", flush=True)  # fmt: skip


def main() -> None:
    if len(sys.argv) > 1:
        return run_all(json.loads(Path(sys.argv[1]).read_text()))
    programs = Programs()
    device.run_device = programs  # type: ignore[assignment]
    pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header",
                 "--disable-warnings", "-W", "ignore", "-rN", str(HERE)])  # fmt: skip
    made = device.environment({"PYTHONPATH": str(HERE.parent)})
    environment = {**os.environ, **{k: v for k, v in made.items() if v is not None}}
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "programs.json"
        kept.write_text(json.dumps(programs.found))
        trace = Path(folder) / "trace"
        environment = launch.child_environment("jsonl", trace, None, environment=environment)
        subprocess.run([sys.executable, __file__, str(kept)], env=environment, check=True)


def _alone(code: str) -> bool:
    return any(word in code for word in ALONE)


if __name__ == "__main__":
    main()
