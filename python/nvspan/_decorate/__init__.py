# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorating with `annotate` and `device_range`: functions, classes, methods, callables."""

from __future__ import annotations

from nvspan import _core
from nvspan._lazy import lazy_attributes

# Imports nothing that costs: `import nvspan` imports this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal, TypeAlias, TypeVar, overload

    _Class = TypeVar("_Class", bound=type)
    _Patterns: TypeAlias = str | Iterable[str] | None
    _Kind: TypeAlias = Literal["nested", "span"] | None
    _NameFrom: TypeAlias = Literal["name", "qualname"] | Callable[[Any], str]


if TYPE_CHECKING:

    @overload
    def annotate_class(
        cls: _Class,
        /,
        *,
        include: _Patterns = ...,
        exclude: _Patterns = ...,
        color: Any = ...,
        domain: Any = ...,
        category: Any = ...,
        payload: Any = ...,
        kind: _Kind = ...,
        level: int = ...,
        name_from: _NameFrom = ...,
    ) -> _Class: ...

    @overload
    def annotate_class(
        cls: None = None,
        /,
        *,
        include: _Patterns = ...,
        exclude: _Patterns = ...,
        color: Any = ...,
        domain: Any = ...,
        category: Any = ...,
        payload: Any = ...,
        kind: _Kind = ...,
        level: int = ...,
        name_from: _NameFrom = ...,
    ) -> Callable[[_Class], _Class]: ...


def annotate_class(
    cls: Any = None,
    /,
    *,
    include: _Patterns = None,
    exclude: _Patterns = "_*",
    color: Any = None,
    domain: Any = None,
    category: Any = None,
    payload: Any = None,
    kind: _Kind = None,
    level: int = 1,
    name_from: _NameFrom = "qualname",
) -> Any:
    """Annotate the public methods that a class defines itself. A decorator, bare or with arguments.

    Static and class methods, properties, coroutine functions and generators are annotated too.
    Inherited methods, nested classes and decorated methods stay as they are, so a second
    application changes nothing. A range is named ``Class.method``.

    Args:
        include: Patterns of methods to annotate, in a list or separated by '|'. Default: all.
        exclude: Patterns of methods to leave out. A name that starts with '_' is kept if a pattern
            of `include` that starts with '_' matches it: ``include="__init__|fit"``.
        color, domain, category, payload, kind, level: As for `annotate`.
        name_from: 'qualname' (``Class.method``), 'name' (``method``), or a callable.

    Returns:
        The class, changed in place; another thread may meanwhile call old and new methods.

    Raises:
        TypeError: `cls` is not a class, or cannot be changed, such as `int`.

    >>> import nvspan
    >>> @nvspan.annotate_class(exclude="_*|size")
    ... class Model:
    ...     def fit(self): ...
    ...     def size(self): ...
    """
    annotation = _core.annotate(
        None, color, domain, category, kind=kind, level=level, name_from=name_from, payload=payload
    )

    def apply(target: Any) -> Any:
        from nvspan._decorate.classes import annotate_methods

        return annotate_methods(target, annotation, include, exclude, name_from)

    return apply if cls is None else apply(cls)


# Pickles of decorated callables name it.
__getattr__ = lazy_attributes(
    __name__,
    annotated_callable="nvspan._decorate.callables:annotated_callable",
)
