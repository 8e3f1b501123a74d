#!/usr/bin/env python3
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over sources, two at a time: tidy.py BUILD CACHE [CHANGED]

BUILD has the compile_commands.json. CHANGED lists changed files: only these sources are checked,
and one source for each of these headers. A source that passed before, with the same commands,
configuration and clang-tidy, and with the same text in it and in all that it includes, is not
checked again: CACHE keeps what it passed with.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Each run works in a folder of its own; what is below it has the same name in all of them.
WORK = os.environ.get("NVSPAN_CI_WORK", str(ROOT.parent)) + "/"
INCLUDED = re.compile(r"\.+ (.+)")


@functools.cache
def digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return "absent"


@functools.cache
def configuration() -> str:
    version = subprocess.check_output(["clang-tidy", "--version"], text=True)
    return version + "".join(file.read_text() for file in [ROOT / ".clang-tidy", Path(__file__)])


def passed_with(commands: list[dict[str, str]], files: list[str]) -> dict[str, object]:
    said = configuration() + json.dumps(commands, sort_keys=True).replace(WORK, "")
    return {
        "how": hashlib.sha256(said.encode()).hexdigest(),
        "files": {file.replace(WORK, "", 1): digest(file) for file in files},
    }


def check(source: str, commands: list[dict[str, str]], build: Path, cache: Path) -> tuple[str, str]:
    """What became of a source: "known", "passed" or "failed", and what clang-tidy says of it."""
    memory = cache / (source.replace("/", "-") + ".json")
    if memory.exists():
        kept = json.loads(memory.read_text())
        # an absolute path stays one
        if kept == passed_with(commands, [os.path.join(WORK, file) for file in kept["files"]]):
            return "known", ""
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(build), "--extra-arg=-H", source], cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    included = {str(ROOT / source)}
    said = []
    for line in done.stderr.splitlines():
        if found := INCLUDED.fullmatch(line):
            included.add(os.path.normpath(build / found[1]))
        else:
            said.append(line)
    if done.returncode:
        return "failed", done.stdout + "\n".join(said)
    memory.write_text(json.dumps(passed_with(commands, sorted(included))))
    return "passed", ""


def affected(sources: list[str], changed: set[str]) -> list[str]:
    """Changed sources, and for each changed header its own, or the first that includes it."""
    chosen = {source for source in sources if source in changed}
    for header in sorted(path for path in changed if path.endswith(".hpp")):
        own = header.removesuffix(".hpp") + ".cpp"
        name = f'"{header.removeprefix("src/")}"'
        users = (s for s in sources if name in (ROOT / s).read_text(encoding="utf-8"))
        if found := own if own in sources else next(users, None):
            chosen.add(found)
    return sorted(chosen)


def main(build: Path, cache: Path, changed: Path | None = None) -> int:
    cache.mkdir(parents=True, exist_ok=True)
    commands: dict[str, list[dict[str, str]]] = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        commands.setdefault(os.path.relpath(command["file"], ROOT), []).append(command)
    sources = sorted(
        path.relative_to(ROOT).as_posix()
        for folder in ("src", "tests/cpp")
        for path in (ROOT / folder).rglob("*.cpp")
    )
    if changed is not None:
        sources = affected(sources, set(changed.read_text().splitlines()))
    counts = {"known": 0, "passed": 0, "failed": 0}
    with ThreadPoolExecutor(2) as pool:
        for outcome, said in pool.map(
            lambda source: check(source, commands.get(source, []), build, cache), sources
        ):
            counts[outcome] += 1
            if said:
                print(said, flush=True)
    print("clang-tidy: {passed} passed, {known} known to pass, {failed} failed".format(**counts))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(*(Path(argument).absolute() for argument in sys.argv[1:])))
