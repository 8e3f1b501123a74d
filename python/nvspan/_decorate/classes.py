# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorating the methods of a class."""

from __future__ import annotations

from nvspan import _core

# Imports nothing that costs: `import nvspan` imports this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal, TypeAlias, TypeVar, overload

    from nvspan._core import Annotation

    _Class = TypeVar("_Class", bound=type)
    _Patterns: TypeAlias = str | Iterable[str] | None
    _Kind: TypeAlias = Literal["nested", "span"] | None
    _NameFrom: TypeAlias = Literal["name", "qualname"] | Callable[[Any], str]

_IMMUTABLE_TYPE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE


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
    """Annotates all public methods that a class defines itself, as `annotate` would each of them.

    Static and class methods, properties, coroutine functions and generators are handled; inherited
    methods, nested classes and methods that are decorated already stay as they are, so that a
    second application changes nothing. A range is named `Class.method`.

    include: shell patterns, in a list or separated by '|', of the methods to annotate; None: all.
    exclude: patterns of those to leave out. A name that begins with '_' is not left out if a
      pattern of `include` that begins with '_' matches it: `include="__init__|fit"`.
    color, domain, category, payload, kind, level: as for `annotate`.
    name_from: 'qualname' (`Class.method`), 'name' (`method`), or a callable given the function.

    The class is changed in place and returned. Raises TypeError if it is not a class, or one that
    cannot be changed, such as `int`. Not atomic: a thread that calls methods meanwhile may meet old
    and new ones.

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
        return annotate_methods(target, annotation, include, exclude, name_from)

    return apply if cls is None else apply(cls)


def annotate_methods(
    cls: Any,
    annotation: Annotation,
    include: _Patterns = None,
    exclude: _Patterns = "_*",
    name_from: _NameFrom = "qualname",
) -> Any:
    """annotate_class with a ready annotation. A message of it stands for the name of the class."""
    if not isinstance(cls, type):
        raise TypeError(f"annotate_class() decorates a class, not {cls!r}")
    if cls.__flags__ & _IMMUTABLE_TYPE:
        raise TypeError(f"annotate_class() cannot change the immutable class {cls.__name__!r}")
    from nvspan._decorate.functions import METHOD_TYPES, is_decorated

    included = ["*"] if include is None else _patterns(include)
    special = [pattern for pattern in included if pattern.startswith("_")]
    excluded = [] if exclude is None else _patterns(exclude)
    for name, member in list(vars(cls).items()):
        if not _matches(name, included) or not issubclass(type(member), METHOD_TYPES):
            continue
        if _matches(name, excluded) and not _matches(name, special):
            continue
        if not is_decorated(member):
            setattr(cls, name, _decorated_method(cls, annotation, name, member, name_from))
    return cls


def _decorated_method(
    cls: type,
    annotation: Annotation,
    name: str,
    member: Any,
    name_from: _NameFrom,
) -> Any:
    from nvspan._decorate.functions import decorate_as

    message, color, _, category, payload = annotation.init_args
    if isinstance(message, str):
        annotation = _core.annotate(
            f"{message}.{name}", color, annotation.domain, category,
            payload=payload, kind=annotation.kind, level=annotation.level,
        )  # fmt: skip
    if callable(name_from):
        return decorate_as(annotation, member, None)
    full_name = name if name_from == "name" else f"{cls.__qualname__}.{name}"
    return decorate_as(annotation, member, full_name)


def _patterns(given: str | Iterable[str]) -> list[str]:
    listed = [given] if isinstance(given, str) else list(given)
    return [part.strip() for each in listed for part in each.split("|")]


def _matches(name: str, patterns: list[str]) -> bool:
    import fnmatch

    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
