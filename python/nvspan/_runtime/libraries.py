# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Domains of libraries that have a variable of their own for their annotations."""

from __future__ import annotations

import os

from nvspan import _core
from nvspan._core import Domain

_OFF = ("0", "false", "off", "no")
_ON = ("1", "true", "on", "yes")


def get_domain(
    name: str | bytes | Domain | None, default_level: int | None, env: str | None
) -> Domain:
    """What ``nvspan.get_domain`` does with a default level or a variable."""
    if env is not None and not isinstance(env, str):
        raise TypeError(f"env must be a str or None, not {env!r}")
    level = default_level
    value = os.environ.get(env, "").strip().lower() if env else ""
    if value in _ON:
        level = max(1, default_level or 0)
    elif value and value not in _OFF:
        level = _level(env, value, default_level)
    domain = Domain(name, level=level)
    if value:
        _core.set_default_enabled(domain, value not in _OFF)
    return domain


def _level(env: str | None, value: str, default_level: int | None) -> int:
    if value.isascii() and value.isdigit() and int(value) <= 1000:
        return int(value)
    import warnings

    warnings.warn(
        f"{env}={value!r} is neither a level from 0 to 1000 nor one of {' '.join(_OFF + _ON)}: "
        "taken as on",
        _core.NvspanWarning,
        stacklevel=4,
    )
    return max(1, default_level or 0)
