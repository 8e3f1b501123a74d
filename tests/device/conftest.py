# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs start in processes that have imported nvspan and helpers.gpu, half of what a small one
takes."""

from helpers.device import PYTHONPATH
from helpers.preloaded import preloaded
from helpers.traced import clean_environment

_ENVIRONMENT = clean_environment({"PYTHONPATH": PYTHONPATH})
nvspan_is_imported = preloaded("nvspan", "helpers.gpu", environment=_ENVIRONMENT)
