# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Tools and libraries in the file system, for ``nvspan.doctor``."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys

# Texts in the code of NVTX that looks for a tool, in every language that embeds it.
_NVTX_TEXT = (b"NVTX_INJECTION64_PATH", b"NVTX_INJECTION32_PATH")
_CHUNK = 1 << 22
_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 21: "ppc64", 243: "riscv"}
_FOLDERS = {
    "nsys": (
        "/opt/nvidia/nsight-systems/*/bin",
        "/opt/nvidia/nsight-systems-cli/*/bin",
        "/usr/local/cuda*/bin",
        "/usr/lib/nsight-systems/bin",
    ),
    "ncu": ("/opt/nvidia/nsight-compute/*", "/usr/local/cuda*/bin", "/usr/lib/nsight-compute"),
}


# Where a tool announces itself to programs with NVTX 3.7 or newer, which then ask the CUDA driver.
_ANNOUNCEMENT = "nvidia/nvtx/nvtx-cuda.yaml"


def announcement(root: str = "/", is_root: bool | None = None) -> tuple[str, str] | None:
    """The file that announces a tool, and to whom; None: there is none.

    NVTX looks in this order, and only root looks at root's place.
    """
    shared = os.path.join(root, "run", _ANNOUNCEMENT)
    if os.path.exists(shared):
        return shared, "every program"
    if is_root is None:
        is_root = getattr(os, "geteuid", lambda: 1)() == 0
    if is_root:
        folder, name = os.path.split(shared)
        own = os.path.join(folder, "user.0", name)
        return (own, "every program of root") if os.path.exists(own) else None
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        own = os.path.join(runtime, _ANNOUNCEMENT)
        return (own, "every program of this user") if os.path.exists(own) else None
    return None


def what_is_wrong_with(path: str) -> str | None:
    """Why this process could not load the library `path`, judging by its file."""
    if not os.path.isabs(path):
        return None if os.sep not in path else "a relative path works from one directory only"
    if not os.path.exists(path):
        return "there is no such file"
    if os.path.isdir(path):
        return "it is a directory"
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError as error:
        return error.strerror or str(error)
    if not sys.platform.startswith("linux"):
        return None
    with open("/proc/self/exe", "rb") as file:
        own = _elf(file.read(20))
    theirs = _elf(head)
    if theirs is None:
        return "it is not a shared library"
    if own is not None and theirs != own:
        built, this = (f"{machine} ({bits} bits)" for bits, machine in (theirs, own))
        return f"it is built for {built}, this Python for {this}"
    return None


def _elf(head: bytes) -> tuple[int, str] | None:
    """Bits and machine of an ELF file by its first bytes."""
    if head[:4] != b"\x7fELF" or len(head) < 20:
        return None
    machine = int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")
    return (64 if head[4] == 2 else 32), _MACHINES.get(machine, f"machine {machine}")


def libraries_with_nvtx(maps: str = "/proc/self/maps") -> list[str] | None:
    """The files mapped into this process that contain NVTX; None where that is unknown."""
    try:
        with open(maps, encoding="utf-8", errors="surrogateescape") as lines:
            paths = {line.split(None, 5)[5].strip() for line in lines if "/" in line}
    except OSError:
        return None
    return sorted(path for path in paths if path.startswith("/") and carries_nvtx(path))


def carries_nvtx(path: str) -> bool:
    """Whether the library `path` looks for an NVTX tool."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                return False
            tail = b""
            while chunk := file.read(_CHUNK):
                text = tail + chunk
                if any(name in text for name in _NVTX_TEXT):
                    return True
                tail = text[-32:]
    except OSError:
        pass
    return False


def installations(command: str, timeout: float) -> list[tuple[str, str | None]]:
    """Path and version of each `command`, without repetitions; PATH comes first."""
    paths = paths_of(command)
    return [(path, version_of(path, timeout / (2 * len(paths)))) for path in paths]


def paths_of(command: str) -> list[str]:
    """Where the program nsys or ncu is, without repetitions: of ncu the one that NVSPAN_NCU names,
    then PATH."""
    folders = list(os.environ.get("PATH", "").split(os.pathsep))
    prefix = os.environ.get("NVSPAN_NSYS")
    if command == "nsys" and prefix:
        folders.append(os.path.join(prefix, "bin"))
    for pattern in _FOLDERS[command]:
        folders += sorted(glob.glob(pattern), reverse=True)
    found: dict[str, str] = {}
    named = os.environ.get("NVSPAN_NCU") if command == "ncu" else None
    if named and shutil.which(named):
        found[os.path.realpath(named)] = named
    for folder in folders:
        path = shutil.which(command, path=folder) if folder else None
        if path:
            found.setdefault(os.path.realpath(path), path)
    return list(found.values())[:8]


def environment_to_try() -> dict[str, str]:
    """The environment without what switches annotations off: what could work is tried."""
    switches = ("NVTX_DISABLE", "NVSPAN_DOMAINS", "NVSPAN_LEVEL")
    return {name: value for name, value in os.environ.items() if name not in switches}


def captured(
    *words: str, timeout: float | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command without input, and keeps what it prints."""
    return subprocess.run(
        words,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=timeout,
        env=environment,
    )


def version_of(path: str, timeout: float = 20.0) -> str | None:
    """The version that nsys or ncu prints."""
    try:
        done = captured(path, "--version", timeout=timeout)
    except (OSError, subprocess.SubprocessError):
        return None
    return first(r"\b(\d{4}\.\d+(?:\.\d+)*)", done.stdout + done.stderr)


def first(pattern: str, text: str) -> str | None:
    """The first group of the first match of `pattern`, whose ``^`` and ``$`` are of lines."""
    match = re.search(pattern, text, re.MULTILINE)
    return match.group(1) if match else None


def text_of(path: str) -> str:
    """The text of a file; nothing where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def kernel_driver() -> str | None:
    """The version of NVIDIA's kernel module."""
    return first(r"\b(\d{3,}\.\d+(?:\.\d+)?)\b", text_of("/proc/driver/nvidia/version"))


def gpus(root: str = "/") -> list[str]:
    """The models of the GPUs that NVIDIA's kernel module knows, whatever a process may see."""
    pattern = os.path.join(glob.escape(root), "proc/driver/nvidia/gpus/*/information")
    texts = map(text_of, sorted(glob.glob(pattern)))
    return [first(r"^Model:\s*(.+?)\s*$", text) or "a GPU" for text in texts if text]


def cuda_toolkit() -> tuple[str | None, str | None]:
    """Folder and version of the CUDA toolkit that a build would use here."""
    compiler = shutil.which("nvcc")
    candidates = [
        os.environ.get("CUDA_HOME"),
        os.environ.get("CUDA_PATH"),
        os.path.dirname(os.path.dirname(os.path.realpath(compiler))) if compiler else None,
        "/usr/local/cuda",
    ]
    for folder in candidates:
        version = _toolkit_version(folder) if folder else None
        if version:
            return folder, version
    return None, None


def _toolkit_version(folder: str) -> str | None:
    for name in ("version.json", "version.txt", "include/cuda.h"):
        text = text_of(os.path.join(folder, name))
        version = first(r'"cuda"\s*:\s*\{[^}]*"version"\s*:\s*"([\d.]+)"', text)
        version = version or first(r"CUDA Version ([\d.]+)", text)
        if version:
            return version
        if number := int(first(r"#define\s+CUDA_VERSION\s+(\d+)", text) or 0):
            return f"{number // 1000}.{number % 1000 // 10}"
    return None
