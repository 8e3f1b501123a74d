# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs many small programs against one NVTX package: fork_runner.py MODULE PROGRAMS RESULTS.

PROGRAMS is a JSON file {name: source}. Each program runs in a forked child of its own, before
which no NVTX call was made, with the package as the global `nvtx`; RESULTS gets {name: {pid,
status, stdout}}.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import traceback


def run_child(source: str, output: int) -> None:
    """Executes a program as `__main__` and leaves the process."""
    status = 0
    os.dup2(output, 1)
    try:
        exec(compile(source, "<program>", "exec"), sys.modules["__main__"].__dict__)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
        status = 99
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main() -> None:
    """Forks the programs one after the other."""
    module, programs, results = sys.argv[1:4]
    globals()["nvtx"] = importlib.import_module(module)
    with open(programs) as file:
        sources = json.load(file)
    outcome = {}
    for name, source in sources.items():
        with tempfile.TemporaryFile() as output:
            pid = os.fork()
            if pid == 0:
                run_child(source, output.fileno())
            _, status = os.waitpid(pid, 0)
            output.seek(0)
            text = output.read().decode(errors="replace")
        outcome[name] = {
            "pid": pid,
            "status": os.waitstatus_to_exitcode(status),
            "stdout": text,
        }
    with open(results, "w") as file:
        json.dump(outcome, file)


if __name__ == "__main__":
    main()
