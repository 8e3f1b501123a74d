# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of a stage, whose failures are kept for a second run at the end of .ci/run.

    suite.py pytest PYTHON COMMAND...    COMMAND runs pytest; a failed test runs again by PYTHON
    suite.py ctest BUILD CTEST ...       ctest in the build directory

Exits with 0 where tests failed and nothing else did: the stage goes on.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict, dataclass
from pathlib import Path

_NEVER_RETRIED = {
    "a sanitizer's report": r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error: ",
    "its worker crashed, or hung and was ended": r"worker '\w+' crashed|node down",
    "a hang": r"\*\*\*Timeout",
    "a crash": r"Fatal Python error|Segmentation fault|SIG(SEGV|BUS|ILL|FPE|ABRT)\b"
    r"|assert -(4|6|7|8|11) == 0|\*\*\*\w",
}


def never_retried(text: str) -> str | None:
    """Why a test with this failure gets no second run, or None."""
    for reason, pattern in _NEVER_RETRIED.items():
        if re.search(pattern, text):
            return reason
    return None


@dataclass
class Failure:
    stage: str
    id: str
    text: str
    command: list[str]  # runs this test alone
    directory: str
    environment: dict[str, str]

    def run_again(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command,
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )


def load(work: Path) -> list[Failure]:
    """What the stages of this run have kept."""
    files = sorted((work / "failures").glob("*.json"), key=lambda file: file.stat().st_mtime)
    return [Failure(**entry) for file in files for entry in json.loads(file.read_text())]


def keep(
    failed: dict[str, str], command: list[str], directory: Path = Path(), form: str = "{}"
) -> None:
    """`failed` has the text of each failure by test id; `command` gets the id, in this form."""
    stage = os.environ["NVSPAN_CI_STAGE"]
    # The second run is made by another process, which has another directory.
    where = str(directory.absolute())
    failures = [
        Failure(stage, name, text, [*command, form.format(name)], where, dict(os.environ))
        for name, text in failed.items()
    ]
    kept = Path(os.environ["NVSPAN_CI_WORK"]) / "failures"
    handle, path = tempfile.mkstemp(suffix=".json", dir=kept)
    with open(handle, "w", encoding="utf-8") as file:
        json.dump([asdict(failure) for failure in failures], file)
    print(f"kept for a second run: {' '.join(failed)} ({path})", flush=True)


def run_pytest(python: str, command: list[str]) -> int:
    with tempfile.TemporaryDirectory() as directory:
        reports = Path(directory) / "failed"
        code = subprocess.call(command, env=os.environ | {"NVSPAN_FAILED_TO": str(reports)})
        failed: dict[str, str] = {}
        if reports.exists():
            for line in reports.read_text(encoding="utf-8").splitlines():
                report = json.loads(line)
                failed[report["id"]] = failed.get(report["id"], "") + report["text"]
    if failed:
        keep(failed, [python, "-m", "pytest"])
    return 0 if code == 1 and failed else code


def run_ctest(build: str, command: list[str]) -> int:
    results = Path(build).absolute() / "results.xml"
    code = subprocess.call([*command, "--output-junit", str(results)], cwd=build)
    failed = {}
    if code and results.exists():
        for case in ElementTree.parse(results).iter("testcase"):
            for failure in case.iter("failure"):
                how = failure.get("message", "")  # Failed, Timeout, SEGFAULT, Subprocess aborted
                text = "" if how == "Failed" else f"***{how}\n"
                failed[case.get("name", "")] = text + case.findtext("system-out", "")
    if failed:
        keep(failed, [*command, "-R"], Path(build), "^{}$")
    return 0 if failed else code


if __name__ == "__main__":
    run = {"pytest": run_pytest, "ctest": run_ctest}[sys.argv[1]]
    sys.exit(run(sys.argv[2], sys.argv[3:]))
