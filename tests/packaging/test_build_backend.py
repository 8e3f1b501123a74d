# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The build asks for NVIDIA's header wheels exactly where they can be installed."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys

import pytest

from helpers.packages import needs
from helpers.tree import ROOT

pytestmark = needs("scikit_build_core")


@pytest.fixture
def backend():
    path = ROOT / "cmake" / "build_backend.py"
    spec = importlib.util.spec_from_file_location("build_backend", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def pretend(monkeypatch):
    def set_platform(system, machine, libc=None):
        monkeypatch.setattr(sys, "platform", system)
        monkeypatch.setattr(platform, "machine", lambda: machine)

        def confstr(name):
            if libc is None:
                raise ValueError("unrecognized configuration name")
            return libc

        monkeypatch.setattr(os, "confstr", confstr, raising=False)

    return set_platform


@pytest.mark.parametrize(
    ("system", "machine", "libc"),
    [
        ("linux", "x86_64", "glibc 2.36"),
        ("linux", "aarch64", "glibc 2.28"),
        ("win32", "AMD64", None),
        ("win32", "ARM64", None),
    ],
)
def test_the_wheels_are_asked_for_where_they_exist(backend, pretend, system, machine, libc):
    pretend(system, machine, libc)
    assert backend.header_requirements(None) == backend.HEADER_WHEELS


@pytest.mark.parametrize(
    ("system", "machine", "libc"),
    [
        ("linux", "x86_64", None),  # musl has no such name
        ("linux", "ppc64le", "glibc 2.36"),
        ("linux", "i686", "glibc 2.36"),
        ("darwin", "arm64", None),
        ("freebsd14", "amd64", None),
    ],
)
def test_a_build_elsewhere_asks_for_none(backend, pretend, system, machine, libc):
    pretend(system, machine, libc)
    assert backend.header_requirements(None) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"cmake.define.NVSPAN_NVTX": "OFF"},
        {"skbuild.cmake.define.NVSPAN_NVTX": ["off"]},
        {"cmake.define.NVSPAN_CUDA_TOOLKIT": "/usr/local/cuda"},
        {"cmake.define.NVSPAN_NVTX_INCLUDE_DIR": "/opt/nvtx/include"},
    ],
)
def test_a_build_with_its_own_headers_or_without_any_asks_for_none(backend, pretend, settings):
    pretend("linux", "x86_64", "glibc 2.36")
    assert backend.header_requirements(settings) == []


def test_the_hooks_pass_the_requirement_on(backend, monkeypatch):
    monkeypatch.setattr(
        backend, "header_requirements", lambda settings: [f"headers for {settings}"]
    )
    monkeypatch.chdir(ROOT)
    for hook in (backend.get_requires_for_build_wheel, backend.get_requires_for_build_editable):
        assert "headers for None" in hook()


def test_every_hook_of_the_backend_is_there(backend):
    assert all(callable(getattr(backend, name)) for name in backend.__all__)
    assert "prepare_metadata_for_build_wheel" in backend.__all__
