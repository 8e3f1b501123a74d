# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges dropped in compiled code: a handle without a range, and one warning for each feature."""

from __future__ import annotations

import sys
import weakref

from nvspan import _core
from nvspan._runtime.warnings import warn_once

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# A handle without a range; it is wanted by no domain, so nothing is placed.
DEAD_HANDLE = _core.start_device_range("none", level=1000)

TEXTS = {
    "annotate_module": (
        "annotate_module: ranges inside compiled code are dropped; annotate the result of "
        "torch.compile(), or a module on which compile() was called, instead"
    ),
    "auto": (
        "auto: there is no range 'forward': its model is inside compiled code, where ranges are "
        "dropped; compile first, and give auto the result of torch.compile()"
    ),
}

_features: weakref.WeakKeyDictionary[Callable[[], str], str] = weakref.WeakKeyDictionary()


def note(message: Callable[[], str], feature: str) -> None:
    """Notes whose ranges they are that have this message."""
    _features[message] = feature


def tell_dropped(annotation: Any) -> None:
    """Warns once for each feature, if a tool misses a range of it. Raises nothing."""
    arguments = getattr(annotation, "init_args", None)
    message = arguments[0] if arguments else None
    if not callable(message) or not _core.listening():
        return
    feature = _features.get(message)
    if feature is None:
        return
    try:
        warn_once(f"{feature} within compiled code", TEXTS[feature])
    except Warning as error:  # warnings are errors here, and Dynamo is tracing
        print(f"nvspan: {error}", file=sys.stderr)
