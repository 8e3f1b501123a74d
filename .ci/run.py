#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Check this tree as CI does.

    .ci/run [--resume] [gate | full | STAGE ...]

`gate`, the default, is what every landing passes; `full` is everything; a stage is a file
.ci/STAGE.sh. The stages run in a copy of the tree, two at a time. Each prints its output, time and
CPU time when it ends, and a failed one does not stop the others. Tests that fail run again at the
end, alone: one that passes then is flaky, which is printed and does not fail the run. A sanitizer's
report, a crash and a hang never get a second run.

--resume leaves out what has passed on this very tree. Each stage that passes on a clean checkout is
a line of .git/ci-passed/TREE, where TREE is `git rev-parse HEAD^{tree}`; `full` adds `:full`.

Needs Debian 12 or newer with git, g++, Python 3.11 and the CPythons of NVSPAN_CI_PYTHONS; installs
all else. Environment variables:
  NVSPAN_CI_PYTHONS      versions to test, oldest first; default "3.10 3.11 3.12 3.13"
  NVSPAN_CI_WORK         directory to work in; default: a temporary one
  NVSPAN_CI_LANES        stages at a time; default 2
  NVSPAN_CI_CCACHE       directory that keeps compiled objects, and the sources that passed
                         clang-tidy, between runs; default: one of this run
  NVSPAN_NSYS_INSTALLER  script that installs Nsight Systems into the directory that it is given;
                         default: tools/install-nsys.sh of a directory beside the checkout. Without
                         it the tests of nsys skip.
"""

from __future__ import annotations

import collections
import contextlib
import datetime
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import suite
import tomllib

ROOT = Path(__file__).resolve().parent.parent
# What the other stages use; the lanes then take the longest first.
PREPARING = ["setup", "build", "nsys"]
GATE = [*PREPARING, "readme", "torch", "sanitize", "lint", "oldest", "extras"]
FULL = [
    *PREPARING,
    "sanitize",
    "readme",
    "torch",
    "newest",
    "engines",
    "pythons",
    "peers",
    "lint",
    "noop",
    "extras",
    "fuzz",
    "docs",
    "browser",
    "wheels",
]
MAX_FLAKY = 10
MAX_FLAKY_DAYS = 5
# More failed tests than this are no accident, and are not run again.
MAX_RETRIES = 10

output_lock = threading.Lock()
running: set[int] = set()  # the process groups of stages
stopping = threading.Event()


def say(text: str) -> None:
    with output_lock:
        print(text, flush=True)


def git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip("\n") if done.returncode == 0 else ""


class Passed:
    """The stages that passed on this tree: a file in the repository's git directory."""

    def __init__(self, full: bool) -> None:
        self._suffix = ":full" if full else ""
        tree = git("rev-parse", "HEAD^{tree}")
        clean = tree and not git("status", "--porcelain", "--untracked-files=normal")
        self._file = (
            (ROOT / git("rev-parse", "--git-common-dir") / "ci-passed" / tree) if clean else None
        )

    def has(self, stage: str) -> bool:
        lines = self._file.read_text().split() if self._file and self._file.exists() else []
        return f"{stage}:full" in lines or stage + self._suffix in lines

    def add(self, stage: str) -> None:
        if self._file and not self.has(stage):
            self._file.parent.mkdir(exist_ok=True)
            with self._file.open("a") as file:
                file.write(f"{stage}{self._suffix}\n")


def end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def interrupted(number: int, frame: object) -> None:
    """Ends the stages, which are sessions of their own, and this process."""
    stopping.set()
    for group in list(running):
        end(group)
    sys.exit(128 + number)


class Stage:
    def __init__(self, name: str, work: Path) -> None:
        self.name = name
        self.log = work / "logs" / f"{name}.log"
        self.status: int | None = None  # None: did not run
        self.seconds = 0.0
        self.cpu_seconds = 0.0

    def run(self, tree: Path, environment: dict[str, str]) -> None:
        say(f"===== {self.name} starts =====")
        start = time.monotonic()
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                ["bash", f".ci/{self.name}.sh"],
                cwd=tree,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=environment | {"NVSPAN_CI_STAGE": self.name},
            )
            running.add(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
            end(process.pid)  # what a test left behind takes time from the next stage
            running.discard(process.pid)
        self.status = process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - start
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        ending = "" if self.status == 0 else f"\n===== {self.name} failed: {self.status} =====\n"
        say(f"\n===== {self.name} =====\n{self.text()}{ending}")

    def text(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


def run_stages(stages: list[Stage], tree: Path, environment: dict[str, str]) -> None:
    """Runs them all, or none after `setup` or `build` has failed."""
    by_name = {stage.name: stage for stage in stages}
    rest = [stage.name for stage in stages if stage.name not in PREPARING]

    def run(name: str) -> None:
        if name in by_name and not stopping.is_set():
            by_name[name].run(tree, environment)

    lanes = int(os.environ.get("NVSPAN_CI_LANES", "2"))
    for group in (["setup"], ["build", "nsys"], rest):
        with ThreadPoolExecutor(lanes) as pool:
            list(pool.map(run, group))
        if any(by_name[name].status for name in ("setup", "build") if name in by_name):
            return


def copy_tree(work: Path) -> Path:
    """What a commit of this tree would hold, and nothing that was built here."""
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    there = "\0".join(name for name in names if os.path.lexists(ROOT / name) and name)
    archive = work / "tree.tar"
    command = ["tar", "--null", "--files-from=-", "-cf", archive]
    subprocess.run(command, cwd=ROOT, check=True, input=there.encode())
    subprocess.run(["tar", "-xf", archive, "-C", tree], check=True)
    return tree


def note_changes(work: Path) -> None:
    """Lists what differs from the commit of .ci/base, for stages: the copy has no history."""
    base = (ROOT / ".ci/base").read_text().strip() if (ROOT / ".ci/base").exists() else ""
    (work / "changed").unlink(missing_ok=True)
    if base and git("cat-file", "-t", base) == "commit":
        new = git("ls-files", "--others", "--exclude-standard")
        changed = git("diff", "--name-only", "--diff-filter=d", base)
        (work / "changed").write_text(f"{changed}\n{new}\n")
    else:
        say("the commit of .ci/base is not here: everything counts as changed")


def flaky_list_problems() -> list[str]:
    """What makes tests/flaky.toml red, whatever passes."""
    path = ROOT / "tests/flaky.toml"
    if not path.exists():
        return []
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("test", [])
    problems = []
    if len(entries) > MAX_FLAKY:
        problems.append(f"tests/flaky.toml has {len(entries)} entries, more than {MAX_FLAKY}")
    head = git("log", "-1", "--format=%cs")
    today = datetime.date.fromisoformat(head) if head else datetime.date.today()
    for entry in entries:
        if absent := {"id", "date", "text", "cause"} - entry.keys():
            problem = f"an entry has no {', '.join(sorted(absent))}: {entry}"
        elif (today - entry["date"]).days > MAX_FLAKY_DAYS:
            since = f"{entry['date']}, more than {MAX_FLAKY_DAYS} days before HEAD"
            problem = f"{entry['id']} is listed since {since}"
        else:
            continue
        problems.append(f"tests/flaky.toml: {problem}")
    return problems


def judge(work: Path) -> tuple[list[suite.Failure], list[suite.Failure]]:
    """Runs failed tests again. Returns the flaky ones and the red ones."""
    failures = suite.load(work)
    flaky, red = [], []
    for failure in failures:
        reason = suite.never_retried(failure.text)
        if reason is None and len(failures) > MAX_RETRIES:
            reason = f"not run again, as {len(failures)} tests failed"
        if reason is not None:
            say(f"\n===== {failure.stage}: {failure.id}: {reason} =====")
            red.append(failure)
            continue
        say(f"\n===== {failure.stage}: {failure.id}: again, alone =====")
        again = failure.run_again()
        if again.returncode == 0:
            say(f"flaky: {failure.id}\n{failure.text}")
            flaky.append(failure)
        else:
            say(f"failed twice: {failure.id}\n{again.stdout}")
            red.append(failure)
    return flaky, red


_PYTEST = re.compile(r"^=+ .*(?:passed|failed|skipped|error).* in [0-9.]+s.*=+$", re.MULTILINE)
_COUNT = re.compile(r"(\d+) (passed|failed|skipped|error)")
_CTEST = re.compile(r"^\d+% tests passed(?:, (\d+) tests? failed)? out of (\d+)$", re.MULTILINE)
_SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] \S+?:(?:\d+:)? (.*)$", re.MULTILINE)


def count_tests(texts: list[str]) -> collections.Counter[str]:
    """The sum over all runs of pytest and ctest."""
    counts: collections.Counter[str] = collections.Counter()
    for text in texts:
        for line in _PYTEST.findall(text):
            for number, outcome in _COUNT.findall(line):
                counts["failed" if outcome == "error" else outcome] += int(number)
        for failed, total in _CTEST.findall(text):
            counts["failed"] += int(failed or 0)
            counts["passed"] += int(total) - int(failed or 0)
    return counts


def skip_reasons(texts: list[str]) -> list[str]:
    reasons: collections.Counter[str] = collections.Counter()
    for text in texts:
        for number, reason in _SKIPPED.findall(text):
            reasons[reason] += int(number)
    return [f"{count:6} skipped: {reason}" for reason, count in reasons.most_common()]


@contextlib.contextmanager
def work_directory() -> Iterator[Path]:
    given = os.environ.get("NVSPAN_CI_WORK")
    if given:
        yield Path(given).absolute()
        return
    made = tempfile.mkdtemp(prefix="nvspan-ci.")
    try:
        yield Path(made)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def stage_environment(work: Path, full: bool) -> dict[str, str]:
    installers = sorted(ROOT.glob("../*/tools/install-nsys.sh"))
    defaults = {
        "NVSPAN_CI_PYTHONS": "3.10 3.11 3.12 3.13",
        "NVSPAN_NSYS_INSTALLER": str(installers[-1]) if installers else "",
        "NVSPAN_NSYS_PREFIX": "/opt/nsys",
    }
    return (
        defaults | os.environ | {"NVSPAN_CI_WORK": str(work), "NVSPAN_CI_FULL": "1" if full else ""}
    )


def check(names: list[str], full: bool, resume: bool) -> int:
    start = time.monotonic()
    passed = Passed(full)
    left = [name for name in names if not (resume and passed.has(name))]
    if resume and all(name in PREPARING for name in left):
        left = []
    left = [name for name in names if left and (name in left or name in PREPARING)]
    if len(left) < len(names):
        say(f"passed on this tree before: {' '.join(name for name in names if name not in left)}")
    if not left:
        return 0
    with work_directory() as work:
        work.mkdir(exist_ok=True)
        for directory in ("logs", "failures"):
            shutil.rmtree(work / directory, ignore_errors=True)
            (work / directory).mkdir()
        note_changes(work)
        stages = [Stage(name, work) for name in left]
        run_stages(stages, copy_tree(work), stage_environment(work, full))
        flaky, red = judge(work)
        problems = flaky_list_problems()
        for stage in stages:
            if stage.status != 0:
                outcome = "did not run" if stage.status is None else "failed"
                problems.append(f"stage {stage.name} {outcome}")
            elif not any(failure.stage == stage.name for failure in red):
                passed.add(stage.name)
        problems += [f"{failure.stage}: {failure.id}" for failure in red]
        texts = [stage.text() for stage in stages if stage.log.exists()]
        counts = count_tests(texts)
        counts["failed"] -= len(flaky)
        counts["passed"] += len(flaky)
        lines = [f"{s.name:10} {s.seconds:5.0f} s  {s.cpu_seconds:6.0f} CPU s" for s in stages]
        lines += [*skip_reasons(texts), "flaky: " + (" ".join(f.id for f in flaky) or "none")]
        lines += [f"red: {problem}" for problem in problems]
        minutes, seconds = divmod(round(time.monotonic() - start), 60)
        outcome = "failed" if problems else "every stage passed"
        say(f"\n===== {outcome} in {minutes} min {seconds} s =====\n" + "\n".join(lines))
        say("tests: {passed} passed, {failed} failed, {skipped} skipped".format_map(counts))
    return 1 if problems else 0


def main(arguments: list[str]) -> int:
    resume = "--resume" in arguments
    names = [argument for argument in arguments if argument != "--resume"]
    if names in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    full = names == ["full"] or bool(os.environ.get("NVSPAN_CI_FULL"))
    if names in ([], ["gate"]):
        names = GATE
    elif names == ["full"]:
        names = FULL
    unknown = [name for name in names if not (ROOT / f".ci/{name}.sh").exists()]
    if unknown:
        known = sorted(path.stem for path in ROOT.glob(".ci/*.sh") if path.stem != "common")
        print(f"no stage {unknown[0]!r}; there are: {' '.join(known)}", file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)
    return check(names, full, resume)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
