# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What `import nvspan` costs over a bare interpreter, and what it loads."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from typing import Any

LIST_MODULES = """
import json, sys
before = set(sys.modules)
import {module}
new = sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})
foreign = [name for name in new if name != "{module}" and name not in sys.stdlib_module_names]
print(json.dumps({{"modules": len(set(sys.modules) - before), "third_party": foreign}}))
"""


def _start_ms(python: str, code: str) -> tuple[float, float]:
    """Wall and CPU time of one interpreter from start to end."""
    start = time.perf_counter()
    child = subprocess.Popen([python, "-c", code], stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{python} -c {code!r} failed")
    return wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def _reported_ms(python: str, module: str) -> float:
    """Cumulative time that -X importtime reports for the module itself."""
    command = [python, "-X", "importtime", "-c", f"import {module}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stderr.splitlines()
    for line in reversed(lines):
        fields = line.removeprefix("import time:").split("|")
        if len(fields) == 3 and fields[2].strip() == module:
            return float(fields[1]) / 1e3
    raise RuntimeError(f"-X importtime does not name {module}")


def measure(python: str, runs: int) -> dict[str, Any]:
    """Medians over `runs` interleaved starts; a module that is not installed is left out."""
    modules = [name for name in ("nvspan", "nvtx") if _installed(python, name)]
    wall: dict[str, list[float]] = {name: [] for name in ("bare", *modules)}
    cpu: dict[str, list[float]] = {name: [] for name in wall}
    reported: dict[str, list[float]] = {name: [] for name in modules}
    for run in range(runs + 1):
        for name, values in wall.items():
            spent = _start_ms(python, "pass" if name == "bare" else f"import {name}")
            if run:  # the first start of each warms the file cache
                values.append(spent[0])
                cpu[name].append(spent[1])
        for name, values in reported.items():
            values.append(_reported_ms(python, name))
    bare, bare_cpu = statistics.median(wall["bare"]), statistics.median(cpu["bare"])
    result: dict[str, Any] = {"bare_ms": bare, "bare_cpu_ms": bare_cpu}
    for name in modules:
        listing = subprocess.run(
            [python, "-c", LIST_MODULES.format(module=name)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        result[name] = {
            "over_bare_ms": statistics.median(wall[name]) - bare,
            "over_bare_cpu_ms": statistics.median(cpu[name]) - bare_cpu,
            "importtime_ms": statistics.median(reported[name]),
            **json.loads(listing.stdout),
        }
    return result


def _installed(python: str, module: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0
