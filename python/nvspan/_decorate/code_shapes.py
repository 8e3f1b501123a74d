# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Code that is compiled from generated lines, for a number of free variables."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from types import CodeType


def compiled_body(
    definition: str, lines: list[str], free_count: int, *, doc: str | None = None
) -> CodeType:
    """The code of a function with this `definition` and these lines.

    It has `free_count` free variables, so that it fits a function whose closure has as many cells.
    """
    free = [f"f{i:05d}" for i in range(free_count)]
    source = ["def outer():", *[f"    {name} = None" for name in free], f"    {definition}:"]
    if doc is not None:
        source.append(f'        "{doc}"')
    # Names that are used nowhere else are free variables all the same.
    source += [f"        if 0: {name}" for name in free]
    source += [f"        {line}" for line in lines]
    code = compile("\n".join(source), "<nvspan>", "exec", dont_inherit=True, optimize=0)
    for _ in range(2):
        code = next(value for value in code.co_consts if hasattr(value, "co_code"))
    return code
