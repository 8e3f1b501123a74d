# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A recording with kernels, from a program that never was here."""

import shutil

from helpers.tree import ROOT

shutil.copy(ROOT / "tests" / "corpus" / "kernels-all.nvspan", "train.nvspan")
