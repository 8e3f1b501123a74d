# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which modules of a model get ranges, and what they are called."""

from __future__ import annotations

from fnmatch import fnmatchcase

from nvspan._runtime.warnings import warn_once

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias

    Choice: TypeAlias = str | type | Iterable[str | type] | None


def matcher(choice: Choice) -> Callable[[str, Any], bool] | None:
    if choice is None:
        return None
    every = [choice] if isinstance(choice, (str, type)) else list(choice)
    names = [each for each in every if isinstance(each, str)]
    kinds = tuple(each for each in every if isinstance(each, type))

    def matches(name: str, module: Any) -> bool:
        return isinstance(module, kinds) or any(fnmatchcase(name, each) for each in names)

    return matches


def _is_compiled(module: Any) -> bool:
    return "_orig_mod" in module._modules or module._compiled_call_impl is not None


def _class_name(module: Any) -> str:
    """The name of the class that the user wrote: FSDP2 puts a class of its own before it."""
    names = [each.__name__ for each in type(module).__mro__]
    if "FSDPModule" in names:
        names = [each for each in names if not each.startswith("FSDP")]
    return names[0]


def chosen_modules(
    model: Any,
    depth: int | None,
    include: Callable[[str, Any], bool] | None,
    exclude: Callable[[str, Any], bool] | None,
) -> Iterator[tuple[str, Any]]:
    """(name, module), each module once; nothing below one that is compiled."""
    compiled: list[str] = []
    for name, module in model.named_modules():
        if any(name.startswith(prefix) for prefix in compiled):
            continue
        if depth is not None and name and name.count(".") >= depth:
            continue
        shown = name or _class_name(getattr(model, "_orig_mod", model))
        if _is_compiled(module):
            compiled.append(f"{name}." if name else "")
            warn_once(
                "annotate_module of a compiled module",
                f"annotate_module: {shown} is compiled: it gets one range around the compiled "
                "code, and those of the modules within it would be dropped",
            )
        if include is not None and not include(shown, module):
            continue
        if exclude is not None and exclude(shown, module):
            continue
        yield shown, module
