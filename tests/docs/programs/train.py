# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The train.py of pages that do not say what is in it: steps, their parts, and five layers."""

import nvspan

with nvspan.span("load", domain="data"):
    pass
for number in range(5):
    with nvspan.step(number), nvspan.annotate("forward", domain="torch"):
        for i in range(5):
            with nvspan.annotate(f"layers.{i}", domain="torch"):
                with nvspan.annotate(f"layers.{i}.attention", domain="torch"):
                    pass
                with nvspan.annotate(f"layers.{i}.mlp", domain="torch"):
                    pass
