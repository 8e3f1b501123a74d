# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of Nsight Compute in plain words, each with a remedy."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

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


def problem(
    text: str, *remedies: str, options: Sequence[str] = (), ranges: Sequence[str] = ()
) -> Finding:
    """Something that must change."""
    return Finding(PROBLEM, text, remedies, tuple(options), tuple(ranges))


def note(text: str, *remedies: str, options: Sequence[str] = ()) -> Finding:
    """Something to know."""
    return Finding(NOTE, text, remedies, tuple(options))


_CONTEXT_CALLS = ("cuInit", "cuDevicePrimaryCtx", "cuCtxCreate", "cuModuleLoad", "cuLibraryLoad")
_GRAPH_CALLS = (
    *("cuStreamBeginCapture", "cuStreamEndCapture", "cuStreamGetCaptureInfo"),
    *("cuStreamIsCapturing", "cuGraph"),
)
_PAUSE = (
    "stop the other tool for the time of the run: 'dcgmi profile --pause' (then --resume), nsys, "
    "another ncu"
)
_PERMISSION = (
    "run as root; or, as root on the host, write 'options nvidia "
    "NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d/nvidia-profiling.conf, rebuild "
    "the initramfs and restart"
)
_APPLICATION = ("--replay", "application")


def in_container() -> bool:
    """Whether this process runs in a container."""
    if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        return True
    # Podman and systemd-nspawn set the second.
    return bool({"KUBERNETES_SERVICE_HOST", "container"} & os.environ.keys())


def _permission(match: re.Match[str]) -> Finding:
    """That counters may not be read, with what gives the permission."""
    contained = (
        "this is a container: start it with --cap-add=SYS_ADMIN (docker, podman) or "
        "capabilities.add: [SYS_ADMIN] (Kubernetes)"
    )
    remedies = [*[contained] * in_container(), _PERMISSION]
    text = "the driver lets only administrators read {} counters (ERR_NVGPUCTRPERM)"
    if match[0] == "ERR_NVGPUCTRPERM":
        return problem(text.format("the GPU's"), *remedies)
    text = f"another tool measures on this GPU, or {text.format('its')}"
    return problem(text, _PAUSE, *remedies)


def _refused(match: re.Match[str]) -> Finding:
    call = match[1]
    text = f"the program called {call} within the range, which range replay cannot repeat"
    elsewhere = (
        "ranges that hold such calls can be profiled by --replay app-range, or kernel by kernel "
        "without --replay"
    )
    if call.startswith(_CONTEXT_CALLS):
        return problem(
            f"{text}: the range is the first thing that uses CUDA, or loads a library",
            "run it once before the range starts: nvspan.torch.warmup(model, *inputs), or "
            "nvspan.nsight.profile_region(..., warmup=1)",
            elsewhere,
            options=("--calls", "1:"),
        )
    remedy = f"call {call} outside of the range"
    if call.startswith(_GRAPH_CALLS):
        text += ": a CUDA graph is captured in it"
        remedy = "capture the graph before the range starts, and launch it within"
    return problem(text, remedy, elsewhere, options=("--replay", "app-range"))


def _invalid_filter(match: re.Match[str]) -> Finding:
    text = match[1].strip()
    remedy = "give a plain name: nvspan writes the filter"
    ranges: list[str] = []
    if ";" in text:
        remedy = "several ranges are given one by one"
        ranges = [part.strip() for part in text.split(";")]
    return problem(f"ncu cannot read the filter {text!r}", remedy, ranges=ranges)


def _ended(match: re.Match[str]) -> Finding:
    code = int(match[1])
    how = f"signal {code}" if code in (6, 7, 8, 11) else f"exit code {code}"
    return note(f"the program ended with {how}")


def has_driver() -> bool:
    """Whether a program could load the CUDA driver here, or the one that NVSPAN_LIBCUDA names."""
    named = os.environ.get("NVSPAN_LIBCUDA")
    try:
        ctypes.CDLL(named or ("libcuda.so.1" if os.name == "posix" else "nvcuda.dll"))
    except OSError:
        return False
    return True


def no_driver(match: re.Match[str] | None = None) -> Finding:
    """That there is no CUDA driver."""
    remedy = "run it on a machine with an NVIDIA GPU and its driver"
    if in_container():
        remedy += "; a container gets them by --gpus all (docker) or nvidia.com/gpu (Kubernetes)"
    return problem("ncu finds no CUDA driver (libcuda.so.1) here", remedy)


# What ncu says, and what it means: a finding, whose text has groups of the match as "\1", or a
# function that makes one. What makes ncu give up comes first.
_KNOWN: dict[str, Finding | Callable[[re.Match[str]], Finding]] = {
    r"driver resource was unavailable or the user": _permission,
    r"(?<!/)ERR_NVGPUCTRPERM": _permission,
    r"unrecognised option '([^']*)'": problem(
        r"this version of ncu has no option \1",
        "install a newer Nsight Compute, or name another one: --ncu PATH, NVSPAN_NCU",
    ),
    r"the argument for option '([^']*)' is invalid": problem(
        r"this version of ncu does not take what is given for \1",
        "ncu --help shows what it takes",
    ),
    r"Invalid configuration for nvtx-(?:include|exclude) ?: (.*)": _invalid_filter,
    r"File (\S+) already exists": problem(
        r"the report \1 exists",
        "write over it with --force, or name another: -o NAME",
        options=("--force",),
    ),
    r"Option '--section (\S+)' did not match": problem(
        r"this version of ncu has no section \1", "ncu --list-sections shows them"
    ),
    r"No metrics to collect found in sections": problem(
        "ncu has no such set or section", "ncu --list-sets and --list-sections show them"
    ),
    r"failed to connect to the CUDA driver": no_driver,
    r"Cuda driver is not compatible|Failed to load Nsight Compute CUDA modules": problem(
        "this version of ncu and the GPU's driver do not go together",
        "install the Nsight Compute that came with the driver's CUDA, or a newer driver",
    ),
    r"driver resource was unavailable(?! or)": problem("another tool measures on this GPU", _PAUSE),
    r"open/create lock file (\S+?)\.? |InterprocessLockFailed": problem(
        "ncu cannot use its lock file, which another user's ncu has made",
        "set TMPDIR to a directory that you own",
    ),
    r"not supported on device (\d+) as it uses the Windows Subsystem": problem(
        r"device \1 cannot be profiled in this Windows Subsystem for Linux",
        "it needs Windows 11 with WSL 2 and a driver from 525 on; or run it on Linux itself",
    ),
    r"not supported on device (\d+)(?! as)": problem(
        r"this version of ncu cannot profile device \1",
        "ncu --list-chips shows which it can: a newer GPU needs a newer Nsight Compute; none "
        "profiles GPUs before Volta",
    ),
    r"Profiling not allowed on VGpu|InsufficientVGpuPermissions": problem(
        "this virtual GPU (vGPU) may not be profiled",
        "whoever runs the host must enable profiling for it",
    ),
    r"Failed to save memory for replay": problem(
        "ncu could not save what kernels write, to repeat them",
        "--replay application repeats the program instead, and saves nothing; buffers of NCCL's "
        "NVLS cannot be saved: NCCL_NVLS_ENABLE=0",
        options=_APPLICATION,
    ),
    r"bad allocation": problem(
        "ncu ran out of the host's memory, in which it saves what kernels write",
        "--replay application repeats the program instead, and saves nothing",
        options=_APPLICATION,
    ),
    r"Unsupported API during capture \((\w+)\)": _refused,
    r"RecordStatusEmpty": problem(
        "the range ran, and launched no kernel",
        "kernels count for the range that is open, in their thread, when they are launched: a "
        "start/end range (nvspan.span) counts for all threads",
    ),
    r"==ERROR== (InternalError|UnknownError)$": problem(
        rf"{UNEXPLAINED} (\1)",
        "--replay application, and app-range in place of range, run the program again for each "
        "pass, and repeat nothing themselves",
    ),
    r"requires the --target-processes all": problem(
        "kernels ran only in processes that the program started", options=("--processes", "all")
    ),
    r"application returned an error code \((\d+)\)": _ended,
    r"Unable to access the following (\d+) metrics?: (.*)": note(
        r"\1 metrics cannot be measured on this machine: \2"
    ),
    r"Cannot lock GPU clock frequencies on MIG": note(
        "ncu cannot lock the clocks of a part of a GPU (MIG)",
        "--clock-control none measures without; an administrator can lock them: nvidia-smi "
        "--lock-gpu-clocks",
        options=("--clock-control", "none"),
    ),
    r"Backing up device (?:memory in system memory|or system memory to file)": note(
        "there is not enough device memory to save what kernels write, so that passes are slow",
        "--replay application repeats the program instead",
        options=_APPLICATION,
    ),
}


def reported(said: Iterable[str]) -> list[str]:
    """The reports that ncu says it wrote."""
    return [m[1] for line in said if (m := re.match(r"==PROF== Report: (.+)", line))]


def findings_of(said: Sequence[str]) -> list[Finding]:
    """What the lines of ncu mean, each thing once, what stopped it first."""
    lines = [line for line in said if line.startswith(("==ERROR==", "==WARNING=="))]
    # ncu itself ends a program whose range it cannot replay.
    was_ended = any("Trying to shutdown target application" in line for line in said)
    found: dict[str, Finding] = {}
    for pattern, meaning in _KNOWN.items():
        if was_ended and meaning is _ended:
            continue
        for match in filter(None, (re.search(pattern, line) for line in lines)):
            if isinstance(meaning, Finding):
                finding = replace(meaning, text=match.expand(meaning.text))
            else:
                finding = meaning(match)
            found.setdefault(finding.text, finding)
    return list(found.values())
