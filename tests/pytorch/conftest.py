# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs start in processes that have imported torch, which takes five seconds of a processor
with its compiler; where the order of imports matters, a module of tests says FRESH = True."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from helpers.preloaded import preloaded


@pytest.fixture(scope="module", autouse=True)
def torch_is_imported(request):
    if find_spec("torch") is None or getattr(request.module, "FRESH", False):
        yield
        return
    with preloaded("torch", "torch._dynamo"):
        yield
