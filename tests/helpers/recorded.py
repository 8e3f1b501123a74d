# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs under nvspan's recorder and reads what it wrote."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import nvspan
from helpers import preloaded
from helpers.traced import CALLS, LIBRARY, change, clean_environment
from nvspan import launch, recorder


@dataclass
class Recorded:
    recording: nvspan.Recording | None
    files: list[str]
    returncode: int
    stdout: str
    stderr: str

    def calls(self):
        return [] if self.recording is None else list(self.recording.calls())


def record_command(
    command: list[str],
    *,
    mode: str = "full",
    domains: list[str] | None = None,
    min_duration: int = 0,
    names: float | None = None,
    env: Mapping[str, str | None] | None = None,
    check: bool = True,
    timeout: float = 240,
    folder: Path | None = None,
    preexec_fn=None,
) -> Recorded:
    """Runs any command, recorded into files of its own."""
    if not LIBRARY:
        pytest.skip("nvspan was built without NVTX")
    with tempfile.TemporaryDirectory(prefix="nvspan-recorded-") as made:
        path = Path(folder or made) / "run-{pid}.nvspan"
        environment = clean_environment()
        environment[launch.INJECTION_VARIABLE] = LIBRARY
        environment[launch.CONFIG_VARIABLE] = recorder.config_string(
            path, mode, domains, min_duration, 1, names
        )
        change(environment, env)
        done = preloaded.run(command, environment, timeout, None, preexec_fn)
        files = recorder.recording_files(path, 1)
        recording = nvspan.read(*files) if files else None
    if check:
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return Recorded(
        recording, files, done.returncode,
        done.stdout.decode("utf-8", "surrogateescape"),
        done.stderr.decode("utf-8", "surrogateescape"),
    )  # fmt: skip


def essential(events):
    """What a recording keeps of the calls in a JSON trace, and of its own calls, to be compared.

    Ids become numbers in the order of their start; each thread's list by itself.
    """
    ids: dict[tuple[int, int], int] = {}
    threads: dict[tuple[int, int], list[dict]] = {}
    for event in events:
        if event["kind"] not in CALLS:
            continue
        thread = threads.setdefault((event["pid"], event["tid"]), [])
        made = {key: event.get(key) for key in ("kind", "domain", "message", "message_type")}
        if event["kind"] in ("mark", "push", "start"):
            for key in ("color", "category", "category_name", "payload", "payload_type"):
                value = event.get(key)
                if isinstance(value, float) and event.get("payload_type") == "f32":
                    value = struct.pack("<f", value)  # the trace has the shortest digits of it
                made[key] = repr(value) if isinstance(value, float) else value
            made["data"] = [
                (piece["schema"], piece["hex"] or "") for piece in event.get("payload_data") or []
            ]
        if event["kind"] in ("push", "pop"):
            made["depth"] = event["depth"]
        if event["kind"] in ("start", "end"):
            key = (event["pid"], event["id"])
            made["id"] = ids.setdefault(key, len(ids) + 1)
        thread.append(made)
    return list(threads.values())
