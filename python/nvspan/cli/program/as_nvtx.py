# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``--as-nvtx``: nvspan in place of nvtx, for a program and the Python processes below it."""

from __future__ import annotations

import os
import sys

import nvspan


def replace_nvtx() -> None:
    """As ``PYTHONPATH=.../nvspan/_compat/as_nvtx`` does, and for this process at once.

    multiprocessing hands ``sys.path`` to the workers that it spawns, other programs inherit the
    variable; a folder on the path serves both.
    """
    nvspan.install_as_nvtx()
    folder = os.path.join(os.path.dirname(os.path.abspath(nvspan.__file__)), "_compat", "as_nvtx")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    inherited = os.environ.get("PYTHONPATH", "")
    if folder not in inherited.split(os.pathsep):
        os.environ["PYTHONPATH"] = folder + (os.pathsep + inherited if inherited else "")
