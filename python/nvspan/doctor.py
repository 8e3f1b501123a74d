# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of this installation: can annotations be seen, and if not, how to fix it.

>>> from nvspan import doctor
>>> report = doctor.collect()                                            # doctest: +SKIP
>>> report["ok"], report["verdict"]                                      # doctest: +SKIP
(True, 'Annotations work here. No tool is attached, so nothing is recorded.')
"""

from __future__ import annotations

import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from nvspan._doctor import Finding

    Probe = Callable[[], Finding | list[Finding]]


def collect(
    modules: Sequence[str] = (), timeout: float = 20.0, recordings: Sequence[str] = ()
) -> dict[str, Any]:
    """Check everything that decides whether annotations are seen, and send some.

    Whatever could hang or crash runs in a separate process. This one does not change: no tool is
    attached, the CUDA driver is not initialised and nothing is imported.

    Args:
        modules: modules to import in a separate process, whose libraries with NVTX are listed;
            empty lists the libraries of this process.
        timeout: limit of one check, in seconds.
        recordings: recordings to check for lost or damaged events.

    Returns:
        A dict for JSON: ``ok`` (bool), ``verdict`` (str), ``next`` (what to do, list of str) and
        ``findings``, a list of dicts: ``name``, ``status`` ("ok", "note" or "problem"), ``text``,
        ``advice`` (str or None) and ``details`` (dict).

    >>> from nvspan import doctor
    >>> [f["text"] for f in doctor.collect()["findings"] if f["status"] == "problem"]
    ...                                                                  # doctest: +SKIP
    []
    """
    from nvspan._doctor import probes

    findings = []
    for name, probe in probes.probes(tuple(modules), timeout, tuple(recordings)):
        findings += _guarded(name, probe, timeout + 1)
    ok = all(finding.status != "problem" for finding in findings)
    verdict, todo = _verdict(findings)
    return {
        "ok": ok,
        "verdict": verdict,
        "next": todo,
        "findings": [finding.as_dict() for finding in findings],
    }


def _guarded(name: str, probe: Probe, timeout: float) -> list[Finding]:
    """The findings of a check; one that fails or takes too long is a finding itself."""
    from nvspan._doctor import Finding

    found: list[Finding] = []

    def work() -> None:
        try:
            result = probe()
            found.extend(result if isinstance(result, list) else [result])
        except Exception as error:
            text = f"the check failed: {type(error).__name__}: {error}"
            found.append(Finding("note", text))

    thread = threading.Thread(target=work, name=f"nvspan doctor: {name}", daemon=True)
    thread.start()
    thread.join(timeout)
    if thread.is_alive():
        found = [Finding("note", f"no answer after {timeout:g} s")]
    for finding in found:
        finding.name = name
    return found


def _verdict(findings: Sequence[Finding]) -> tuple[str, list[str]]:
    problems = [finding for finding in findings if finding.status == "problem"]
    todo = [finding.advice for finding in problems if finding.advice]
    if problems:
        if len(problems) == 1:
            return f"One problem: {problems[0].text}.", todo
        names = ", ".join(dict.fromkeys(finding.name for finding in problems))
        return f"{len(problems)} problems: see {names}.", todo
    todo = [f.advice for f in findings if f.status == "note" and f.advice]
    tool = next((f.details.get("tool") for f in findings if f.name == "tool"), None)
    if tool:
        return f"Annotations work here, and {tool} gets them.", todo
    run = "nvspan trace program.py" if sys.platform.startswith("linux") else "a profiler"
    todo.insert(0, f"to see annotations at once: {run}")
    if any(f.name == "nsys" and f.details.get("path") for f in findings):
        todo.insert(1, "to see them in Nsight Systems: nsys profile -t nvtx python program.py")
    return "Annotations work here. No tool is attached, so nothing is recorded.", todo
