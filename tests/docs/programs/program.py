# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The program.py of pages that do not say what is in it."""

import nvspan


@nvspan.annotate(color="green")
def load(): ...


with nvspan.annotate("step", payload=1):
    load()
