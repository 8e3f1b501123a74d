# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs start in processes that have imported nvspan, half of what a small one takes."""

from helpers.preloaded import preloaded
from helpers.traced import clean_environment

nvspan_is_imported = preloaded("nvspan", environment=clean_environment())
