# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which calls of CUDA's driver range replay of Nsight Compute can repeat.

By the section "Supported APIs" of Nsight Compute's Profiling Guide (2025.3), but for what ncu
2025.3.1 did otherwise on an H200.
"""

from __future__ import annotations

import re
from enum import Enum

# As the guide's groups have them; a star stands for any text.
_REPEATED = (
    "cuGetErrorName cuGetErrorString cuDriverGetVersion cuDeviceGet cuDeviceGetAttribute "
    "cuDeviceGetByPCIBusId cuDeviceGetCount cuDeviceGetDefaultMemPool "
    "cuDeviceGetExecAffinitySupport cuDeviceGetHostAtomicCapabilities cuDeviceGetLuid "
    "cuDeviceGetMemPool cuDeviceGetName cuDeviceGetNvSciSyncAttributes cuDeviceGetPCIBusId "
    "cuDeviceGetTexture1DLinearMaxWidth cuDeviceGetUuid cuDeviceTotalMem "
    "cuFlushGPUDirectRDMAWrites cuDevicePrimaryCtxGetState cuCtxCreate cuCtxDestroy cuCtxGet* "
    "cuCtxPopCurrent cuCtxPushCurrent cuCtxRecordEvent cuCtxResetPersistingL2Cache "
    "cuCtxSetCurrent cuCtxSetFlags cuCtxSetLimit cuCtxSynchronize cuCtxWaitEvent "
    "cuCtxFromGreenCtx cuModuleGetFunction cuModuleGetGlobal cuModuleGetSurfRef "
    "cuModuleGetTexRef cuModuleLoad cuModuleLoadData cuModuleLoadDataEx cuModuleLoadFatBinary "
    "cuModuleUnload cuLibrary* cuKernelGet* cuArray* cuMemAlloc cuMemAllocHost cuMemAllocPitch "
    "cuMemBatchDecompressAsync cuMemcpy* cuMemFree cuMemFreeHost cuMemGetAddressRange "
    "cuMemGetInfo cuMemHostAlloc cuMemHostGetDevicePointer cuMemHostGetFlags cuMemHostRegister "
    "cuMemHostUnregister cuMemset* cuMipmapped* cuStreamCreate* cuStreamDestroy cuStreamGet* "
    "cuStreamQuery cuStreamSetAttribute cuStreamSynchronize cuStreamWaitEvent cuEvent* "
    "cuFuncGetAttribute cuFuncGetModule cuFuncSetAttribute cuFuncSetCacheConfig "
    "cuLaunchCooperativeKernel cuLaunchHostFunc cuLaunchKernel cuOccupancy* cuTexObject* "
    "cuSurfObject* cuGetProcAddress cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxRecordEvent "
    "cuGreenCtxStreamCreate cuGreenCtxWaitEvent"
)

# Seen with ncu 2025.3.1: "Unsupported API during capture", some against the guide's words.
_SEEN_REFUSED = (
    "cuInit cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease cuThreadExchangeStreamCaptureMode "
    "cuStreamBeginCapture cuStreamGetCaptureInfo cuEventQuery cuKernelSetAttribute "
    "cuKernelSetCacheConfig cuMemFreeAsync"
)

# Not in the guide, and seen in ranges that ncu 2025.3.1 profiled.
_SEEN_REPEATED = "cuLaunchKernelEx cuStreamIsCapturing"


class Verdict(Enum):
    """What becomes of a call within a range that is replayed."""

    REPEATED = "repeated"
    UNLISTED = "unlisted"
    """Nsight Compute's documentation does not have it among those that it repeats."""
    REFUSED = "refused"
    """Nsight Compute was seen to give up the range."""


def _expression(names: str) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in names.split()))


_repeated, _refused = _expression(f"{_REPEATED} {_SEEN_REPEATED}"), _expression(_SEEN_REFUSED)
_suffix = re.compile(r"(_v\d+)?(_pt[sd][sz])?$")


def plain_name(call: str) -> str:
    """A call's name without its version: cuStreamBeginCapture of cuStreamBeginCapture_v2_ptsz."""
    return _suffix.sub("", call)


def verdict(call: str) -> Verdict:
    """What range replay does with a call, by its name with or without a version."""
    name = plain_name(call)
    if _refused.fullmatch(name):
        return Verdict.REFUSED
    return Verdict.REPEATED if _repeated.fullmatch(name) else Verdict.UNLISTED
