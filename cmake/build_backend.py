# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Build backend: scikit-build-core, and NVIDIA's header wheels where they can be installed.

An environment marker cannot tell glibc from musl, and the header wheels exist for neither musl nor
macOS. A plain build requirement would therefore break the build there, where nvspan builds as a
no-op. So the requirement is computed here, from the platform that runs the build.
"""

from __future__ import annotations

import os
import platform
import sys

from scikit_build_core import build as _backend
from scikit_build_core.build import build_editable, build_sdist, build_wheel
from scikit_build_core.build import get_requires_for_build_sdist as get_requires_for_build_sdist

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

if hasattr(_backend, "prepare_metadata_for_build_wheel"):
    prepare_metadata_for_build_wheel = _backend.prepare_metadata_for_build_wheel
    prepare_metadata_for_build_editable = _backend.prepare_metadata_for_build_editable
    __all__ += ["prepare_metadata_for_build_editable", "prepare_metadata_for_build_wheel"]

HEADER_WHEELS = ["nvidia-nvtx>=13.5,<14", "nvidia-cuda-runtime>=13.0,<14"]

# With any of these the headers come from elsewhere, or are not wanted.
_OWN_HEADERS = ("NVSPAN_CUDA_TOOLKIT", "NVSPAN_NVTX_INCLUDE_DIR")

ConfigSettings = dict[str, "str | list[str]"]


def _runs_on_glibc() -> bool:
    """True on Linux with the GNU C library, the only one the manylinux wheels run on."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        version = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, OSError, ValueError):
        return False
    return version is not None and version.startswith("glibc")


def _header_wheels_exist() -> bool:
    machine = platform.machine().lower()
    if sys.platform == "win32":
        return machine in ("amd64", "arm64") and sys.maxsize > 2**32
    return _runs_on_glibc() and machine in ("x86_64", "aarch64")


def _definition(settings: ConfigSettings, name: str) -> str | None:
    for key in (f"cmake.define.{name}", f"skbuild.cmake.define.{name}"):
        value = settings.get(key)
        if value is not None:
            return value if isinstance(value, str) else value[-1]
    return None


def header_requirements(config_settings: ConfigSettings | None) -> list[str]:
    """The header wheels that this build needs: none where they do not exist or are not wanted."""
    settings = config_settings or {}
    nvtx = _definition(settings, "NVSPAN_NVTX")
    if nvtx is not None and nvtx.upper() in ("OFF", "0", "NO", "FALSE"):
        return []
    if any(_definition(settings, name) for name in _OWN_HEADERS):
        return []
    return list(HEADER_WHEELS) if _header_wheels_exist() else []


def get_requires_for_build_wheel(config_settings: ConfigSettings | None = None) -> list[str]:
    requires = _backend.get_requires_for_build_wheel(config_settings)
    return [*requires, *header_requirements(config_settings)]


def get_requires_for_build_editable(config_settings: ConfigSettings | None = None) -> list[str]:
    requires = _backend.get_requires_for_build_editable(config_settings)
    return [*requires, *header_requirements(config_settings)]
