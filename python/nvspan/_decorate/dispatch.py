# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What `annotate` does to each sort of thing it may decorate.

Python functions become genuine functions that cost nothing while nothing listens. What holds a
function (a static method, a property, a partial) becomes the same sort of thing around the
decorated function. Any other callable is put into an `AnnotatedCallable`, which passes for it.
"""

from __future__ import annotations

import functools
import sys
from types import FunctionType, MethodType

from nvspan import _core

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nvspan import Annotation

_registry = _core._decorated

# Coroutine, generator, async generator, generator-based coroutine.
_SUSPENDING = 0x80 | 0x20 | 0x200 | 0x100


def decorate(annotation: Annotation, target: Any) -> Any:
    """Returns `target` with a range around each call of it.

    The range has the message of `annotation`, or else a name that its `name_from` asks for; nothing
    is shared between two decorated functions.

    Raises TypeError if `target` is not callable and holds no callable.
    """
    if isinstance(target, type):
        from nvspan._decorate.classes import annotate_methods

        return annotate_methods(target, annotation)
    return decorate_as(annotation, target, None)


def decorate_as(annotation: Annotation, target: Any, name: str | None) -> Any:
    """As `decorate`, for what is not a class. `name`, if given, goes before `name_from`."""
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
    made = type(target)(decorate_as(annotation, target.__func__, name))
    made.__dict__.update({k: v for k, v in vars(target).items() if k not in vars(made)})
    return made


def _property(annotation: Annotation, target: property, name: str | None) -> property:
    made = target
    if target.fget is not None:
        made = made.getter(decorate_as(annotation, target.fget, name))
    if target.fset is not None:
        made = made.setter(decorate_as(annotation, target.fset, name))
    if target.fdel is not None:
        made = made.deleter(decorate_as(annotation, target.fdel, name))
    if made.__doc__ != target.__doc__:
        made.__doc__ = target.__doc__
    return made


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
    made = functools.partial(function, *target.args, **target.keywords)
    made.__dict__.update(vars(target))
    return made


def _shallow_copy(target: Any) -> Any:
    made = object.__new__(type(target))
    made.__dict__.update(vars(target))
    return made


def _holder(annotation: Annotation, target: Any, name: str | None) -> Any:
    made = _shallow_copy(target)
    made.func = decorate_as(annotation, target.func, name)
    return made


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
    made = _shallow_copy(target)
    made.func = decorate_as(annotation, target.func, named)
    made.dispatcher = _Dispatcher(
        target.dispatcher, lambda implementation: decorate_as(annotation, implementation, named)
    )
    return made


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


# ---- other callables ----------------------------------------------------------------------------


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


_proxy_types: dict[frozenset[str], type] = {}
type_listeners: list[Callable[[type], None]] = []  # told of each type that is made


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
    made = _proxy_types.get(names)
    if made is None:
        members: dict[str, Any] = {name: _forward(name) for name in names}
        members["__slots__"] = ()
        members["__module__"] = "nvspan._core"
        made = type("AnnotatedCallable", (_core.AnnotatedCallable,), members)
        made = _proxy_types.setdefault(names, made)
        for each in type_listeners:
            each(made)
    return made


def copy_callable(proxy: Any, memo: dict[int, Any] | None = None) -> Any:
    """Copies an AnnotatedCallable: what it wraps is copied, the annotation shared."""
    import copy

    wrapped, annotation, as_span, _ = proxy._nvspan_parts
    made = copy.copy(wrapped) if memo is None else copy.deepcopy(wrapped, memo)
    return proxy if made is wrapped else annotated_callable(made, annotation, as_span)


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
