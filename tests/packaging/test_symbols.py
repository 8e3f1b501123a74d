# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the installed shared objects export and need."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="ELF only"),
    pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed"),
]


def installed(name):
    folders = importlib.util.find_spec("nvspan").submodule_search_locations
    found = [path for folder in folders for path in sorted(Path(folder).glob(name))]
    if not found and name.startswith("lib"):
        pytest.skip("built without NVTX")
    return found[0]


def readelf(option, path):
    command = ["readelf", "--wide", option, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(path):
    rows = [line.split() for line in readelf("--dyn-syms", path).splitlines()]
    return {row[7].split("@")[0] for row in rows
            if len(row) >= 8 and row[4] in {"GLOBAL", "WEAK", "UNIQUE"} and row[6] != "UND"
            and row[6] != "ABS" and row[0].endswith(":")}  # fmt: skip


def test_the_injection_library_exports_its_entry_points_alone():
    assert exported(installed("libnvspan_inject.so")) == {
        "InitializeInjection",
        "InitializeInjectionNvtx2",
        "InitializeInjectionNvtxExtension",
        "nvspan_inject_begin_graph_sample",
        "nvspan_inject_check_sampler",
        "nvspan_inject_close",
        "nvspan_inject_open",
        "nvspan_inject_device_state",
        "nvspan_inject_end_graph_sample",
        "nvspan_inject_open_device",
        "nvspan_inject_pause_sampler",
        "nvspan_inject_release_gpu",
        "nvspan_inject_resume_sampler",
        "nvspan_inject_start_sampler",
        "nvspan_inject_stop_sampler",
        "nvspan_inject_take_gpu",
        "nvspan_inject_take_thread_namer",
    }


def test_the_module_exports_its_init_function_and_what_nccl_loads():
    names = exported(installed("_core.*.so"))
    assert {name for name in names if not name.startswith("_Z")} == {
        "PyInit__core", "ncclProfiler_v4", "ncclProfiler_v5",
    }  # fmt: skip
    assert not [name for name in names if "nvspan" in name]


def test_the_injection_library_is_never_unloaded_and_knows_no_python():
    dynamic = readelf("--dynamic", installed("libnvspan_inject.so"))
    assert "NODELETE" in dynamic
    assert "python" not in dynamic
