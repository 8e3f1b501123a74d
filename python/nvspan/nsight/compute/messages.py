# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of Nsight Compute in plain words, each with a remedy."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

OK, NOTE, PROBLEM = "ok", "note", "problem"
UNEXPLAINED = "ncu could not profile a kernel or a range, and gives no reason"


@dataclass(frozen=True)
class Finding:
    """One thing that was checked.

    Attributes:
        status: "ok", "note" or "problem".
        text: what was found.
        remedies: what to do: sentences.
        options: of ``nvspan ncu``, with which the same command works.
        ranges: in place of those of the command, or of one of them.
        instead: that one.
    """

    status: str
    text: str
    remedies: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()
    instead: str = ""


Explain = Callable[[re.Match[str]], Finding]

_CONTEXT_CALLS = ("cuInit", "cuDevicePrimaryCtx", "cuCtxCreate", "cuModuleLoad", "cuLibraryLoad")
_GRAPH_CALLS = ("cuStreamBeginCapture", "cuStreamEndCapture", "cuGraph", "cuStreamGetCaptureInfo",
                "cuStreamIsCapturing")  # fmt: skip
_PAUSE = ("stop the other tool for the time of the run: 'dcgmi profile --pause' (then --resume), "
          "nsys, another ncu")  # fmt: skip


def _said(status: str, text: str, *remedies: str, options: Sequence[str] = ()) -> Explain:
    """A finding whose text has groups of the match, as r"\\1"."""
    return lambda match: Finding(status, match.expand(text), remedies, tuple(options))


def _permission(text: str, *remedies: str) -> Explain:
    """The same with what gives the permission to read counters."""
    permitted = (
        "run as root; or, as root on the host, write 'options nvidia "
        "NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d/nvidia-profiling.conf, "
        "rebuild the initramfs and restart"
    )
    contained = (
        "this is a container: start it with --cap-add=SYS_ADMIN (docker, podman) or "
        "capabilities.add: [SYS_ADMIN] (Kubernetes)"
    )
    return lambda match: Finding(
        PROBLEM, text, (*remedies, *[contained] * in_container(), permitted)
    )


def in_container() -> bool:
    if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        return True
    # Podman and systemd-nspawn set the second.
    return bool({"KUBERNETES_SERVICE_HOST", "container"} & os.environ.keys())


def _refused(match: re.Match[str]) -> Finding:
    call = match[1]
    text = f"the program called {call} within the range, which range replay cannot repeat"
    elsewhere = ("ranges that hold such calls can be profiled by --replay app-range, or kernel by "
                 "kernel without --replay")  # fmt: skip
    if call.startswith(_CONTEXT_CALLS):
        return Finding(
            PROBLEM,
            f"{text}: the range is the first thing that uses CUDA, or loads a library",
            ("run it once before the range begins: nvspan.torch.warmup(model, *inputs), or "
             "nvspan.nsight.profile_region(..., warmup=1)", elsewhere),
            ("--calls", "1:"),
        )  # fmt: skip
    if call.startswith(_GRAPH_CALLS):
        return Finding(
            PROBLEM,
            f"{text}: a CUDA graph is captured in it",
            ("capture the graph before the range begins, and launch it within", elsewhere),
            ("--replay", "app-range"),
        )
    return Finding(
        PROBLEM, text, (f"call {call} outside of the range", elsewhere), ("--replay", "app-range")
    )


def _invalid_filter(match: re.Match[str]) -> Finding:
    text = match[1].strip()
    remedy = "give a plain name: nvspan writes the filter"
    if ";" in text:
        remedy = "several ranges are given one by one"
    ranges = tuple(part.strip() for part in text.split(";")) if ";" in text else ()
    return Finding(PROBLEM, f"ncu cannot read the filter {text!r}", (remedy,), ranges=ranges)


def _ended(match: re.Match[str]) -> Finding:
    code = int(match[1])
    how = f"signal {code}" if code in (6, 7, 8, 11) else f"exit code {code}"
    return Finding(NOTE, f"the program ended with {how}")


def has_driver() -> bool:
    """Whether a program could load the CUDA driver here, or the one that NVSPAN_LIBCUDA names."""
    named = os.environ.get("NVSPAN_LIBCUDA")
    try:
        ctypes.CDLL(named or ("libcuda.so.1" if os.name == "posix" else "nvcuda.dll"))
    except OSError:
        return False
    return True


def no_driver(match: re.Match[str] | None = None) -> Finding:
    remedy = "run it on a machine with an NVIDIA GPU and its driver"
    if in_container():
        remedy += "; a container gets them by --gpus all (docker) or nvidia.com/gpu (Kubernetes)"
    return Finding(PROBLEM, "ncu finds no CUDA driver (libcuda.so.1) here", (remedy,))


# What makes ncu give up comes first.
_KNOWN: list[tuple[str, Explain]] = [
    (r"driver resource was unavailable or the user", _permission(
        "another tool measures on this GPU, or the driver lets only administrators read its "
        "counters (ERR_NVGPUCTRPERM)", _PAUSE)),
    (r"(?<!/)ERR_NVGPUCTRPERM", _permission(
        "the driver lets only administrators read the GPU's counters (ERR_NVGPUCTRPERM)")),
    (r"unrecognised option '([^']*)'", _said(
        PROBLEM, r"this version of ncu has no option \1",
        "install a newer Nsight Compute, or name another one: --ncu PATH, NVSPAN_NCU")),
    (r"the argument for option '([^']*)' is invalid", _said(
        PROBLEM, r"this version of ncu does not take what is given for \1",
        "ncu --help shows what it takes")),
    (r"Invalid configuration for nvtx-(?:include|exclude) ?: (.*)", _invalid_filter),
    (r"File (\S+) already exists", _said(
        PROBLEM, r"the report \1 exists", "write over it with --force, or name another: -o NAME",
        options=("--force",))),
    (r"Option '--section (\S+)' did not match", _said(
        PROBLEM, r"this version of ncu has no section \1", "ncu --list-sections shows them")),
    (r"No metrics to collect found in sections", _said(
        PROBLEM, "ncu has no such set or section",
        "ncu --list-sets and --list-sections show them")),
    (r"failed to connect to the CUDA driver", no_driver),
    (r"Cuda driver is not compatible|Failed to load Nsight Compute CUDA modules", _said(
        PROBLEM, "this version of ncu and the GPU's driver do not go together",
        "install the Nsight Compute that came with the driver's CUDA, or a newer driver")),
    (r"driver resource was unavailable(?! or)", _said(
        PROBLEM, "another tool measures on this GPU", _PAUSE)),
    (r"open/create lock file (\S+?)\.? |InterprocessLockFailed", _said(
        PROBLEM, "ncu cannot use its lock file, which another user's ncu has made",
        "set TMPDIR to a folder of your own")),
    (r"not supported on device (\d+) as it uses the Windows Subsystem", _said(
        PROBLEM, r"device \1 cannot be profiled in this Windows Subsystem for Linux",
        "it needs Windows 11 with WSL 2 and a driver from 525 on; or run it on Linux itself")),
    (r"not supported on device (\d+)(?! as)", _said(
        PROBLEM, r"this version of ncu cannot profile device \1",
        "ncu --list-chips shows which it can: a newer GPU needs a newer Nsight Compute; none "
        "profiles GPUs before Volta")),
    (r"Profiling not allowed on VGpu|InsufficientVGpuPermissions", _said(
        PROBLEM, "this virtual GPU (vGPU) may not be profiled",
        "whoever runs the host must enable profiling for it")),
    (r"Failed to save memory for replay", _said(
        PROBLEM, "ncu could not save what kernels write, to repeat them",
        "--replay application repeats the program instead, and saves nothing; buffers of NCCL's "
        "NVLS cannot be saved: NCCL_NVLS_ENABLE=0",
        options=("--replay", "application"))),
    (r"bad allocation", _said(
        PROBLEM, "ncu ran out of the host's memory, in which it saves what kernels write",
        "--replay application repeats the program instead, and saves nothing",
        options=("--replay", "application"))),
    (r"Unsupported API during capture \((\w+)\)", _refused),
    (r"RecordStatusEmpty", _said(
        PROBLEM, "the range ran, and launched no kernel",
        "kernels count for the range that is open, in their thread, when they are launched: a "
        "start/end range (nvspan.span) counts for all threads")),
    (r"==ERROR== (InternalError|UnknownError)$", _said(
        PROBLEM, rf"{UNEXPLAINED} (\1)",
        "--replay application, and app-range in place of range, run the program again for each "
        "pass, and repeat nothing themselves")),
    (r"requires the --target-processes all", _said(
        PROBLEM, "kernels ran only in processes that the program started",
        options=("--processes", "all"))),
    (r"application returned an error code \((\d+)\)", _ended),
    (r"Unable to access the following (\d+) metrics?: (.*)", _said(
        NOTE, r"\1 metrics cannot be measured on this machine: \2")),
    (r"Cannot lock GPU clock frequencies on MIG", _said(
        NOTE, "ncu cannot lock the clocks of a part of a GPU (MIG)",
        "--clock-control none measures without; an administrator can lock them: nvidia-smi "
        "--lock-gpu-clocks", options=("--clock-control", "none"))),
    (r"Backing up device (?:memory in system memory|or system memory to file)", _said(
        NOTE, "there is not enough device memory to save what kernels write, so that passes are "
        "slow", "--replay application repeats the program instead",
        options=("--replay", "application"))),
]  # fmt: skip


def reported(said: Iterable[str]) -> list[str]:
    """The reports that ncu says it wrote."""
    return [m[1] for line in said if (m := re.match(r"==PROF== Report: (.+)", line))]


def of_lines(said: Iterable[str]) -> list[Finding]:
    """What the lines of ncu mean, each thing once, what stopped it first."""
    told = list(said)
    lines = [line for line in told if line.startswith(("==ERROR==", "==WARNING=="))]
    # ncu itself ends a program whose range it cannot replay.
    was_ended = any("Trying to shutdown target application" in line for line in told)
    found: dict[str, Finding] = {}
    for pattern, explain in _KNOWN:
        if was_ended and explain is _ended:
            continue
        for match in filter(None, (re.search(pattern, line) for line in lines)):
            finding = explain(match)
            found.setdefault(finding.text, finding)
    return list(found.values())
