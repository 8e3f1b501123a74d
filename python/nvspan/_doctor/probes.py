# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The checks of ``nvspan.doctor``: each is a function that returns findings.

Libraries are loaded, and modules imported, in a separate process (`process`).
"""

from __future__ import annotations

import functools
import os
import platform
import re
import sys

from nvspan import _core, launch
from nvspan._doctor import Finding, device, lines, process, tools
from nvspan._doctor.clock import clock
from nvspan._doctor.permissions import permissions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

# The environment variables of nvspan.
VARIABLES = {
    *("NVSPAN_CHECK", "NVSPAN_DOMAINS", "NVSPAN_EMIT", "NVSPAN_INJECT_LIBRARY", "NVSPAN_LEVEL"),
    *("NVSPAN_LIBCUDA", "NVSPAN_MESSAGE_LIMIT", "NVSPAN_NCU", "NVSPAN_NSYS", "NVSPAN_RECORD"),
    *("NVSPAN_RECORD_COMMAND", "NVSPAN_RECORD_NAMES", "NVSPAN_STEPS", "NVSPAN_STRICT"),
    *("NVSPAN_LIBCUPTI", "NVSPAN_LINES_MODULE", "NVSPAN_RECORD_CUDA", "NVSPAN_RECORD_LINES"),
    *("NVSPAN_TRACE", "NVSPAN_TRIGGER"),
}
_INJECTION = {"NVTX_INJECTION64_PATH", "NVTX_INJECTION32_PATH"}
_PACKAGES = ("torch", "nvtx", "nvidia-nvtx", "cupy", "jax", "cudf")
# Versions of nsys up to this one say to NVTX that they listen to no domain, and then record all.
_SILENT_NSYS = (2023, 4)
# ... which these versions of the nvtx package believe: its events do not reach nsys.
_BELIEVING_NVTX = (0, 2, 12)


def probes(
    modules: tuple[str, ...], timeout: float, recordings: tuple[str, ...] = ()
) -> Iterator[tuple[str, Callable[[], Finding | list[Finding]]]]:
    """The checks with their names, in the order in which they are shown."""
    yield "versions", versions
    yield "environment", environment
    yield "injection", lambda: injection(timeout)
    yield "tool", lambda: tool(timeout)
    yield "self-test", lambda: self_test(timeout)
    yield "clock", lambda: clock(timeout)
    yield "lines", lambda: lines.sampling(timeout)
    yield "libraries", lambda: libraries(modules, timeout)
    yield "driver", lambda: driver(timeout)
    yield "device", lambda: device.device(timeout)
    for path in recordings:
        yield "recording", functools.partial(device.recording, path)
    yield "nsys", lambda: nsight("nsys", timeout)
    yield "ncu", lambda: nsight("ncu", timeout)
    yield "permissions", permissions
    yield "toolkit", toolkit
    yield "packages", packages


def versions() -> Finding:
    details: dict[str, Any] = {
        "nvspan": _core.__version__,
        "python": platform.python_version(),
        "free_threaded": not getattr(sys, "_is_gil_enabled", lambda: True)(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "machine": platform.machine(),
        "nvtx": _core.have_nvtx,
    }
    threads = ", free-threaded" if details["free_threaded"] else ""
    text = "nvspan {nvspan}, Python {python}{threads}, {platform}, ".format(
        threads=threads, **details
    )
    if _core.have_nvtx:
        return Finding("ok", text + "NVTX 3 compiled in", **details)
    advice = "pip install nvidia-nvtx, for the headers of NVTX; then build and install nvspan again"
    text += "built without NVTX: annotations do nothing"
    return Finding("problem", text, advice, **details)


def environment() -> list[Finding]:
    found = []
    disabled = os.environ.get("NVTX_DISABLE")
    if not _core.enabled():
        text = f"NVTX_DISABLE={disabled} switches all annotations off"
        found.append(Finding("problem", text, "unset NVTX_DISABLE"))
    elif disabled:
        text = f"NVTX_DISABLE={disabled} leaves nvspan on, but switches the nvtx package off"
        found.append(Finding("note", text))
    problem = _core.switchboard_problem()
    if problem:
        advice = "correct it: NVSPAN_DOMAINS='-*,+mylib', NVSPAN_LEVEL='mylib:3,*:1'"
        found.append(Finding("problem", problem, advice))
    for name in sorted(name for name in os.environ if name.startswith("NVSPAN_")):
        text = f"{name}={os.environ[name]}"
        if name in VARIABLES:
            found.append(Finding("ok", text))
        else:
            text += ": nvspan reads no such variable"
            found.append(Finding("note", text, f"is {name} misspelt?"))
    return found or [Finding("ok", "no variable changes what is annotated")]


def injection(timeout: float) -> list[Finding]:
    """The library that the environment asks NVTX to load."""
    variable = launch.INJECTION_VARIABLE
    path = os.environ.get(variable)
    found = []
    (other,) = _INJECTION - {variable}
    if os.environ.get(other) and not path:
        text = f"{other} is set, but this Python looks at {variable}"
        found.append(Finding("problem", text, f"set {variable} instead"))
    announced = tools.announcement()
    if announced is not None:
        found.append(Finding("note", "{} names a tool for {}".format(*announced)))
    if not path:
        return [*found, Finding("ok", f"{variable} is not set: no tool is configured")]
    details = {"variable": variable, "path": path}
    wrong = tools.what_is_wrong_with(path)
    if not wrong:
        answer = process.ask("load", [path], timeout)
        wrong = answer.get("problem") or answer.get("failure")
    if wrong:
        text, advice = f"{variable}={path}: {wrong}", f"correct {variable}, or unset it"
        return [*found, Finding("problem", text, advice, **details)]
    return [*found, Finding("ok", f"{variable}={path} can be loaded", **details)]


def tool(timeout: float) -> Finding:
    """The tool that a program started now would have, tried out."""
    answer = process.ask("tool", [], timeout)
    if "failure" in answer:
        text = f"a program that annotates does not survive: {answer['failure']}"
        advice = f"run it without the tool: unset {launch.INJECTION_VARIABLE}"
        return Finding("problem", text, advice, **answer)
    if answer["tool"] is None:
        asked = os.environ.get(launch.INJECTION_VARIABLE)
        if asked and _core.enabled() and _core.have_nvtx:
            text = f"{asked} is configured but does not listen"
            return Finding("problem", text, "see the lines named injection", **answer)
        return Finding("ok", "no tool is attached to programs started here", **answer)
    text = f"{answer['tool']} ({answer['library']}) is attached to programs started here"
    if not answer["active"]:
        text += ", but every domain is switched off"
        return Finding("problem", text, "correct NVSPAN_DOMAINS", **answer)
    return Finding("ok", text + "; it received a test event", **answer)


def self_test(timeout: float) -> Finding:
    """Events of a program under nvspan's injection library, from end to end."""
    try:
        library = launch.injection_library()
    except RuntimeError as error:
        return Finding("note", f"cannot run: {error}")
    wanted, received, answer = process.round_trip(timeout)
    failure = answer.get("failure")
    details: dict[str, Any] = {"library": library, "sent": wanted, "received": received}
    if answer.get("tool") not in (None, "nvspan"):
        text = f"cannot run: {answer['tool']} takes the place of every other tool"
        return Finding("note", text, **details)
    if failure is None and received == wanted:
        text = f"{len(wanted)} events sent and received through {library}"
        return Finding("ok", text, **details)
    text = f"{len(wanted)} events were sent, {len(received)} received"
    text += f": {failure}" if failure else ""
    advice = "install nvspan again; if that does not help, report this with 'nvspan doctor --json'"
    return Finding("problem", text, advice, **details)


def libraries(modules: tuple[str, ...], timeout: float) -> Finding:
    """The loaded libraries that contain NVTX: each looks for a tool separately."""
    if modules:
        answer = process.ask("libraries", list(modules), timeout)
        if "failure" in answer:
            text = f"cannot import {', '.join(modules)}: {answer['failure']}"
            correct = "correct --import: it takes modules that this Python can import"
            return Finding("problem", text, correct)
        where = f"after importing {', '.join(modules)}"
        names = answer["libraries"]
    else:
        where, names = "in this process", tools.libraries_with_nvtx()
    if names is None:
        return Finding("note", "the loaded libraries can be listed only on Linux")
    listed = ", ".join(os.path.basename(name) for name in names) or "none"
    advice = None if modules else "to see the libraries of a package: nvspan doctor --import torch"
    text = f"libraries that contain NVTX, {where}: {listed}"
    return Finding("ok", text, advice, libraries=names, modules=list(modules))


def driver(timeout: float) -> Finding:
    answer = process.ask("driver", [], timeout)
    version = answer.get("version")
    if version is None:
        why = answer.get("problem") or answer.get("failure")
        return Finding("ok", f"no CUDA driver ({why}); NVTX needs none", **answer)
    kernel = tools.kernel_driver()
    text = f"CUDA driver for CUDA {version}" + (f", kernel module {kernel}" if kernel else "")
    return Finding("ok", text, version=version, kernel_module=kernel)


def nsight(command: str, timeout: float) -> Finding:
    """Every installation of nsys or ncu, the one that PATH finds first."""
    found = tools.installations(command, timeout)
    if not found:
        return Finding("ok", "not found on PATH nor where it is usually installed", path=None)
    listed = "; ".join(f"{path} ({version or 'version unknown'})" for path, version in found)
    details: dict[str, Any] = {"path": found[0][0], "version": found[0][1], "all": found}
    package = _package_version("nvtx")
    if command == "nsys" and shows_nothing(found[0][1], package):
        text = f"{listed}; nsys {found[0][1]} shows nothing of the package nvtx {package}"
        advice = "for code that imports nvtx: nvspan nsys --as-nvtx, or nsys 2025 or newer"
        return Finding("note", text, advice, **details)
    return Finding("ok", listed, **details)


def shows_nothing(nsys: str | None, nvtx: str | None) -> bool:
    """Whether this nsys records no event of this version of the nvtx package."""
    if nsys is None or nvtx is None:
        return False
    believing = _numbers(nvtx) >= _BELIEVING_NVTX
    return believing and _numbers(nsys)[:2] <= _SILENT_NSYS


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def toolkit() -> Finding:
    folder, version = tools.cuda_toolkit()
    if folder is None:
        return Finding("ok", "no CUDA toolkit; nvspan needs none", path=None)
    return Finding("ok", f"CUDA {version} in {folder}", path=folder, version=version)


def packages() -> Finding:
    installed = {name: found for name in _PACKAGES if (found := _package_version(name))}
    listed = ", ".join(f"{name} {version}" for name, version in installed.items())
    return Finding("ok", listed or "no known package that uses NVTX", **installed)


def _package_version(name: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
