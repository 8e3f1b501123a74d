# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the page takes for granted."""

import nvspan


def train():
    with nvspan.annotate("train"):
        pass
