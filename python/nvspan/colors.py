# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Colors of annotations.

A color is ``None`` (blue), an ARGB int, one of the ten names of the ``nvtx`` package (with its
values, which have no alpha), a CSS name, ``"#rgb"``, ``"#rrggbb"``, ``"#aarrggbb"``, a tuple of
three or four numbers (fractions of 1, or ints up to 255; alpha last), or anything that an installed
matplotlib understands. ``annotate(color="auto")`` takes a color from the range's name.
"""

from __future__ import annotations

from functools import lru_cache

from nvspan import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_NVTX_COLORS: dict[str | None, int] = {
    name: _core.color_to_argb(name)
    for name in (
        None,
        "green",
        "blue",
        "yellow",
        "purple",
        "rapids",
        "cyan",
        "red",
        "white",
        "darkgreen",
        "orange",
    )
}


def color_to_hex(color: Any = None) -> int:
    """Return the ARGB value of ``color``, as ``nvtx.colors.color_to_hex`` does.

    Raises:
        ValueError: A string that names no color, or a number out of range.
        TypeError: Any other type.

    >>> hex(color_to_hex("rapids"))
    '0x7400ff'
    """
    return _core.color_to_argb(color)


def _color_from_object(color: Any) -> int:
    """What the core could not read itself: tuples and matplotlib's notations."""
    if isinstance(color, str):
        argb = _by_matplotlib(color)
        if argb is None:
            raise ValueError(
                f"color {color!r} is not a CSS name, '#rgb', '#rrggbb' or '#aarrggbb'"
                " (an installed matplotlib adds its names)"
            )
        return argb
    if isinstance(color, (tuple, list)):
        return _from_components(color)
    raise TypeError(f"color must be a str, an int, a tuple or None, not {color!r}")


def _from_components(color: Sequence[Any]) -> int:
    if len(color) not in (3, 4) or not all(isinstance(part, (int, float)) for part in color):
        raise ValueError(f"color {color!r} is not three or four numbers")
    if all(isinstance(part, int) for part in color) and any(part > 1 for part in color):
        parts = [int(part) for part in color]
    else:
        parts = [round(part * 255) if part == part else -1 for part in color]
    if any(not 0 <= part <= 255 for part in parts):
        raise ValueError(f"color {color!r} has a component out of range")
    red, green, blue, *alpha = parts
    return (alpha[0] if alpha else 255) << 24 | red << 16 | green << 8 | blue


@lru_cache
def _by_matplotlib(color: str) -> int | None:
    try:
        from matplotlib.colors import to_rgba
    except ImportError:
        return None
    try:
        red, green, blue, alpha = to_rgba(color)
    except ValueError:
        return None
    return _from_components((float(red), float(green), float(blue), float(alpha)))
