# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What Python adds to a bundle, and what it says of one."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SUFFIX = ".nvspan"


def add_where(bundle: str) -> None:
    """Writes what the bundle's processes are in now, as `nvspan where` says it, unless another has.

    Nothing is raised: the recordings in the bundle say it too.
    """
    from nvspan.live.look import look

    folder = os.path.dirname(bundle)
    try:
        names = sorted(name for name in os.listdir(bundle) if name.endswith(_SUFFIX))
        text = os.open(os.path.join(bundle, "where.txt"), os.O_WRONLY | os.O_CREAT | os.O_EXCL,
                       0o600)  # fmt: skip
    except OSError:
        return
    with open(text, "w", encoding="utf-8", errors="backslashreplace") as file:
        try:
            found = look([os.path.join(folder, name) for name in names])
            file.write(f"{found}\n")
            whole = os.open(os.path.join(bundle, "where.json"),
                            os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # fmt: skip
            with open(whole, "w", encoding="utf-8") as other:
                json.dump(found.as_dict(), other, indent=1)
        except (OSError, ValueError) as error:
            file.write(f"nvspan where: {error}\n")


def reasons(bundle: str) -> list[dict[str, Any]]:
    """Why the bundle was written, the first reason first: its ``why.jsonl``."""
    found = []
    try:
        with open(os.path.join(bundle, "why.jsonl"), encoding="utf-8", errors="replace") as file:
            found = [json.loads(line) for line in file]
    except (OSError, ValueError):
        pass
    return found
