# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of `nvspan.export.tables` by their first address."""

from __future__ import annotations

from nvspan.export.tables import files, write_csv, write_parquet

__all__ = ["files", "write_csv", "write_parquet"]
