# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorating the methods of a class."""

from __future__ import annotations

from fnmatch import fnmatchcase

from nvspan import _core
from nvspan._decorate.functions import METHOD_TYPES, decorate_as, is_decorated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal, TypeAlias

    from nvspan._core import Annotation

    _Patterns: TypeAlias = str | Iterable[str] | None
    _NameFrom: TypeAlias = Literal["name", "qualname"] | Callable[[Any], str]

_IMMUTABLE_TYPE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE


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
    return any(fnmatchcase(name, pattern) for pattern in patterns)
