# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, where the machine has one and Playwright to drive it."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@contextlib.contextmanager
def page(**options: Any) -> Iterator[Any]:
    """A new page; skips the test where there is no browser. NVSPAN_CHROMIUM names another one."""
    playwright = pytest.importorskip("playwright.sync_api")
    found = os.environ.get("NVSPAN_CHROMIUM") or shutil.which("chromium")
    if not found:
        pytest.skip("no Chromium: NVSPAN_CHROMIUM is unset and chromium is not on PATH")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        try:
            yield browser.new_page(viewport={"width": 1400, "height": 900}, **options)
        finally:
            browser.close()
