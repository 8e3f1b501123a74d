# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorating functions, and what holds a function: a static method, a property, a partial."""

from __future__ import annotations

import functools
from types import FunctionType, MethodType

from nvspan import _core
from nvspan._decorate.callables import annotated_callable

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nvspan._core import Annotation

_registry = _core._decorated


def decorate_as(annotation: Annotation, target: Any, name: str | None) -> Any:
    """Returns `target`, which is no class, with a range around each call of it.

    The range has the message of `annotation`, or else `name`, or a name that `name_from` asks for;
    nothing is shared between two decorated functions.

    Raises TypeError if `target` is not callable and holds no callable.
    """
    kind = type(target)
    if (annotation.device or annotation.sync) and kind not in _handlers and callable(target):
        from nvspan._decorate.device import decorate_both

        return decorate_both(_named(annotation, target, name), target)
    if kind is FunctionType:
        return _registry.decorate(target, _named(annotation, target, name), annotation.kind)
    handler = _handlers.get(kind)
    if handler is None:
        handler = next((each for base, each in _handlers.items() if issubclass(kind, base)), None)
    if handler is not None:
        return handler(annotation, target, name)
    if not callable(target):
        raise TypeError(
            f"annotate() decorates functions, methods, classes and callables, not {target!r}"
        )
    return annotated_callable(target, _named(annotation, target, name), annotation.kind == "span")


def is_decorated(target: Any) -> bool:
    """Whether `target` is, or holds, something that `decorate` returned."""
    if type(target) is FunctionType:
        return bool(_registry.is_decorated(target))
    if issubclass(type(target), _core.AnnotatedCallable):
        return True
    held = {
        staticmethod: ("__func__",),
        classmethod: ("__func__",),
        MethodType: ("__func__",),
        property: ("fget", "fset", "fdel"),
        functools.partial: ("func",),
        functools.partialmethod: ("func",),
        functools.cached_property: ("func",),
        functools.singledispatchmethod: ("func",),
    }
    for kind, names in held.items():
        if issubclass(type(target), kind):
            return any(is_decorated(getattr(target, name)) for name in names)
    return False


def name_of(target: Any, name_from: str | Callable[[Any], str] | None) -> str:
    """The name of the range around `target`: its `__name__` unless `name_from` says otherwise.

    An object that has no name is called after its class; a partial after its function.
    """
    if callable(name_from):
        return name_from(target)
    while isinstance(target, functools.partial):
        target = target.func
    attribute = "__qualname__" if name_from == "qualname" else "__name__"
    name = getattr(target, attribute, None)
    return name if isinstance(name, str) else str(getattr(type(target), attribute))


def _named(annotation: Annotation, target: Any, name: str | None) -> Annotation:
    return annotation._named(name_of(target, annotation.name_from) if name is None else name)


def _static_or_class_method(annotation: Annotation, target: Any, name: str | None) -> Any:
    decorated = type(target)(decorate_as(annotation, target.__func__, name))
    decorated.__dict__.update({k: v for k, v in vars(target).items() if k not in vars(decorated)})
    return decorated


def _property(annotation: Annotation, target: property, name: str | None) -> property:
    decorated = target
    if target.fget is not None:
        decorated = decorated.getter(decorate_as(annotation, target.fget, name))
    if target.fset is not None:
        decorated = decorated.setter(decorate_as(annotation, target.fset, name))
    if target.fdel is not None:
        decorated = decorated.deleter(decorate_as(annotation, target.fdel, name))
    if decorated.__doc__ != target.__doc__:
        decorated.__doc__ = target.__doc__
    return decorated


def _method(annotation: Annotation, target: MethodType, name: str | None) -> Any:
    function = target.__func__
    if type(function) is not FunctionType:
        return annotated_callable(
            target, _named(annotation, target, name), annotation.kind == "span"
        )
    return MethodType(decorate_as(annotation, function, name), target.__self__)


def _partial(annotation: Annotation, target: functools.partial[Any], name: str | None) -> Any:
    named = name_of(target, annotation.name_from) if name is None else name
    if type(target) is not functools.partial or type(target.func) not in (FunctionType, MethodType):
        return annotated_callable(target, annotation._named(named), annotation.kind == "span")
    function = decorate_as(annotation, target.func, named)
    partial = functools.partial(function, *target.args, **target.keywords)
    partial.__dict__.update(vars(target))
    return partial


def _shallow_copy(target: Any) -> Any:
    copy = object.__new__(type(target))
    copy.__dict__.update(vars(target))
    return copy


def _holder(annotation: Annotation, target: Any, name: str | None) -> Any:
    copy = _shallow_copy(target)
    copy.func = decorate_as(annotation, target.func, name)
    return copy


class _Dispatcher:
    """The dispatcher of a singledispatchmethod, whose implementations come out decorated."""

    def __init__(self, dispatcher: Any, decorate_implementation: Callable[[Any], Any]) -> None:
        self._dispatcher = dispatcher
        self._decorate = decorate_implementation
        self._decorated: dict[int, tuple[Any, Any]] = {}

    def dispatch(self, cls: type) -> Any:
        found = self._dispatcher.dispatch(cls)
        known = self._decorated.get(id(found))
        if known is None or known[0] is not found:
            known = self._decorated[id(found)] = (found, self._decorate(found))
        return known[1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)


def _dispatched_method(annotation: Annotation, target: Any, name: str | None) -> Any:
    named = name_of(target.func, annotation.name_from) if name is None else name
    copy = _shallow_copy(target)
    copy.func = decorate_as(annotation, target.func, named)
    copy.dispatcher = _Dispatcher(
        target.dispatcher, lambda implementation: decorate_as(annotation, implementation, named)
    )
    return copy


_handlers: dict[type, Callable[[Any, Any, str | None], Any]] = {
    staticmethod: _static_or_class_method,
    classmethod: _static_or_class_method,
    property: _property,
    MethodType: _method,
    functools.partial: _partial,
    functools.partialmethod: _holder,
    functools.cached_property: _holder,
    functools.singledispatchmethod: _dispatched_method,
}

# What annotate_class takes for a method. Nested classes, data and callables that are merely kept in
# a class are none.
METHOD_TYPES = (
    FunctionType,
    staticmethod,
    classmethod,
    property,
    functools.partialmethod,
    functools.cached_property,
    functools.singledispatchmethod,
    type(functools.lru_cache(lambda: None)),
)
