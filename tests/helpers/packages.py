# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Packages of the extra `test-all`: the tests that need one skip without it, and say its name."""

from __future__ import annotations

import functools
import importlib.util

import pytest


def needs(*modules: str) -> pytest.MarkDecorator:
    """A mark for a test, a parameter or a module's `pytestmark`: it needs these modules.

    `pytest -m extra` selects what has it. tests/conftest.py skips before fixtures are made."""
    return pytest.mark.extra(*modules)


@functools.cache
def installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a parent
        return False


def skip_without(item: pytest.Item) -> None:
    for mark in item.iter_markers("extra"):
        for module in mark.args:
            if not installed(module):
                pytest.skip(f"{module} is not installed")
