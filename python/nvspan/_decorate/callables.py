# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorating a callable that is no Python function: an `AnnotatedCallable`, which passes for it."""

from __future__ import annotations

import sys
from types import FunctionType, MethodType

from nvspan import _core

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nvspan._core import Annotation

_registry = _core._decorated

# Coroutine, generator, async generator, generator-based coroutine.
_SUSPENDING = 0x80 | 0x20 | 0x200 | 0x100


def annotated_callable(target: Any, annotation: Annotation, as_span: bool) -> Any:
    """Puts a callable that is no Python function into an AnnotatedCallable."""
    call = None
    function = next(
        (vars(base)["__call__"] for base in type(target).__mro__ if "__call__" in vars(base)), None
    )
    if type(function) is FunctionType and function.__code__.co_flags & _SUSPENDING:
        kind = "span" if as_span else None
        call = MethodType(_registry.decorate(function, annotation, kind), target)
    return _type_for(type(target))(target, annotation, as_span, call)


annotated_callable.__module__ = "nvspan._decorate"  # where pickles look for it


_proxy_types: dict[frozenset[str], type] = {}
type_listeners: list[Callable[[type], None]] = []  # each is called with every new type


def proxy_types() -> list[type]:
    """The types of all annotated callables so far."""
    return [_core.AnnotatedCallable, *_proxy_types.values()]


_not_forwarded = frozenset(
    {
        *dir(_core.AnnotatedCallable),
        *("__del__", "__getattr__", "__set__", "__delete__", "__set_name__", "__class_getitem__"),
        *("__getstate__", "__setstate__", "__getnewargs__", "__getnewargs_ex__", "__mro_entries__"),
        *("__instancecheck__", "__subclasscheck__", "__prepare__", "__slots__", "__annotate__"),
    }
)


def _forward(name: str) -> Callable[..., Any]:
    def special(self: Any, *args: Any, **kwargs: Any) -> Any:
        wrapped = self.__wrapped__
        return getattr(type(wrapped), name)(wrapped, *args, **kwargs)

    special.__name__ = name
    return special


def _type_for(kind: type) -> Any:
    """AnnotatedCallable with the special methods of `kind`: the interpreter asks only the type."""
    names = frozenset(
        name
        for name in dir(kind)
        if name.startswith("__")
        and name.endswith("__")
        and name not in _not_forwarded
        and callable(getattr(kind, name, None))
    )
    if not names:
        return _core.AnnotatedCallable
    proxy = _proxy_types.get(names)
    if proxy is None:
        members: dict[str, Any] = {name: _forward(name) for name in names}
        members["__slots__"] = ()
        members["__module__"] = "nvspan._core"
        proxy = type("AnnotatedCallable", (_core.AnnotatedCallable,), members)
        proxy = _proxy_types.setdefault(names, proxy)
        for tell in type_listeners:
            tell(proxy)
    return proxy


def copy_callable(proxy: Any, memo: dict[int, Any] | None = None) -> Any:
    """Copies an AnnotatedCallable: what it wraps is copied, the annotation shared."""
    import copy

    wrapped, annotation, as_span, _ = proxy._nvspan_parts
    duplicate = copy.copy(wrapped) if memo is None else copy.deepcopy(wrapped, memo)
    return proxy if duplicate is wrapped else annotated_callable(duplicate, annotation, as_span)


def reduce_callable(proxy: Any) -> str | tuple[Any, ...]:
    """Pickles an AnnotatedCallable by reference where its name leads to it, else by its parts."""
    wrapped, annotation, as_span, _ = proxy._nvspan_parts
    name = getattr(wrapped, "__qualname__", None)
    found = sys.modules.get(getattr(wrapped, "__module__", None) or "")
    if isinstance(name, str) and found is not None:
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is proxy:
            return name
    return annotated_callable, (wrapped, annotation, as_span)
