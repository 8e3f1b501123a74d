# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that tests write."""

from __future__ import annotations

from pathlib import Path


def script(path: Path, text: str) -> str:
    """Writes a program; its path."""
    path.write_text(text)
    path.chmod(0o755)
    return str(path)
