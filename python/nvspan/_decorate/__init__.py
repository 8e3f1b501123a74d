# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What decorating does, for each sort of thing that `annotate` and `device_range` decorate."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    """`annotated_callable`, which pickles of decorated callables name."""
    if name == "annotated_callable":
        from nvspan._decorate.callables import annotated_callable

        return annotated_callable
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
