# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What an annotation costs, beside nvtx and contextlib.nullcontext, with no tool and under one.

Each case runs in a process of its own per state; the subjects take turns inside it. This is done
ROUNDS times, and of each case and state the process whose empty loop ran fastest is kept: the one
that the rest of the machine disturbed least. Examples:

    python benchmarks/bench_annotate.py
    python benchmarks/bench_annotate.py --python env311/bin/python env312/bin/python --markdown
    python benchmarks/bench_annotate.py --only with kept --json out.json

The exit code is 1 when a required target was measured and missed, and 0 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import import_time
import null_tool
import report
from cases import CASES, Case

HERE = Path(__file__).resolve().parent
INJECTION_VARIABLES = ("NVTX_INJECTION64_PATH", "NVTX_INJECTION32_PATH", "NVSPAN_TRACE")


def run_case(
    python: str, case: Case, state: str, tool: Path, options: argparse.Namespace
) -> dict[str, Any]:
    """Runs one worker and returns its measurement."""
    environment = {key: text for key, text in os.environ.items() if key not in INJECTION_VARIABLES}
    environment["BENCH_NULL_INJECTION"] = str(tool)
    if state in ("tool", "asyncio"):
        environment["NVTX_INJECTION64_PATH"] = str(tool)
    command = [python, str(HERE / "worker.py"), case.name, state]
    command += [str(options.turn_ms), str(options.repeats)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{case.name}, {state}: worker failed\n{result.stderr}")
    measured: dict[str, Any] = json.loads(result.stdout)
    return measured


def run_python(python: str, tool: Path, options: argparse.Namespace) -> dict[str, Any]:
    """All cases and the import on one interpreter."""
    code = "import json, sys; print(json.dumps(list(sys.version_info[:3])))"
    version = json.loads(subprocess.check_output([python, "-c", code], text=True))
    kept: dict[tuple[str, str], dict[str, Any]] = {}
    for _ in range(options.rounds):
        for case in CASES:
            if options.only and case.name not in options.only:
                continue
            for state in case.states:
                measured = run_case(python, case, state, tool, options)
                shown = ", ".join(f"{name} {ns:.1f}" for name, ns in measured["ns"].items())
                print(f"{case.name:10} {state:8} {shown}", file=sys.stderr)
                best = kept.setdefault((case.name, state), measured)
                if measured["empty"] < best["empty"]:
                    kept[case.name, state] = measured
    run: dict[str, Any] = {"python": python, "version": version, "cases": list(kept.values())}
    if not options.only or "import" in options.only:
        run["import"] = import_time.measure(python, options.import_runs)
    return run


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="what to measure")
    parser.add_argument("--only", nargs="+", choices=[*(case.name for case in CASES), "import"])
    parser.add_argument("--turn-ms", type=float, default=2.0, help="one turn (default: 2 ms)")
    parser.add_argument("--repeats", type=int, default=25, help="turns per subject (default: 25)")
    parser.add_argument("--rounds", type=int, default=3, help="processes per case (default: 3)")
    parser.add_argument("--import-runs", type=int, default=30, help="starts (default: 30)")
    parser.add_argument("--nvtx-include", type=Path, help="folder that holds nvtx3/nvToolsExt.h")
    parser.add_argument("--json", type=Path, help="also write the measurements to this file")
    parser.add_argument("--from-json", type=Path, nargs="+", help="report on earlier measurements")
    parser.add_argument("--markdown", action="store_true", help="print nothing but the tables")
    return parser.parse_args()


def main() -> int:
    """Measures or reads the measurements, prints the tables."""
    options = parse_arguments()
    runs: list[dict[str, Any]] = []
    if options.from_json:
        runs = [run for path in options.from_json for run in json.loads(path.read_text())]
    else:
        with tempfile.TemporaryDirectory(prefix="nvspan-bench-") as folder:
            tool = null_tool.build(Path(folder), options.nvtx_include)
            runs = [run_python(python, tool, options) for python in options.python]
    if options.json:
        options.json.write_text(json.dumps(runs, indent=1) + "\n")
    print(report.markdown(runs))
    missed = report.misses(runs)
    if missed and not options.markdown:
        print("required targets missed:\n  " + "\n  ".join(missed), file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
