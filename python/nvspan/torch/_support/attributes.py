# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Attributes of ours in an object's own dictionary: in layers, and in no copy of the object.

Each of several features may put its function around the same method, and take it away again in any
order. The object's `__getstate__`, which copy and pickle ask it for, leaves all of ours out.
"""

from __future__ import annotations

import weakref
from types import MethodType

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_GETSTATE = "__getstate__"
_REPLICATE = "_replicate_for_data_parallel"
_MISSING: Any = object()


class _Layer:
    __slots__ = ("kind", "make", "rank", "value")

    def __init__(self, kind: str, rank: int, make: Callable[[Any], Any]) -> None:
        self.kind = kind
        self.rank = rank
        self.make = make
        self.value: Any = None


class _Attributes:
    """What of one object's dictionary is ours. It stands there as `__getstate__`."""

    def __init__(self, target: Any) -> None:
        own = vars(target)
        self._target = weakref.ref(target)
        self._before: dict[str, Any] = {_GETSTATE: own.get(_GETSTATE, _MISSING)}
        self._added: dict[str, Any] = {_GETSTATE: self}
        self.layers: dict[str, list[_Layer]] = {}
        if hasattr(target, _REPLICATE):
            # DataParallel copies the dictionary: a bound method of ours would run the original.
            self._before[_REPLICATE] = own.get(_REPLICATE, _MISSING)
            self._added[_REPLICATE] = self._replicate
        own.update(self._added)

    def __call__(self) -> Any:
        """The object's state, for copy and pickle."""
        target = self._target()
        before = self._before[_GETSTATE]
        of_class = getattr(type(target), _GETSTATE, None)
        if before is not _MISSING:
            state = before()
        elif of_class is not None:
            state = of_class(target)
        else:
            state = dict(vars(target))
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[0], dict):
            return self._without(dict(state[0])), state[1]
        return self._without(dict(state)) if isinstance(state, dict) else state

    def _without(self, state: dict[str, Any]) -> dict[str, Any]:
        for name, value in self._added.items():
            if state.get(name) is value:
                _put_back(state, name, self._before[name])
        if "_compiled_call_impl" in self.layers:
            state.pop("_compiled_call_impl", None)  # as torch does
        return state

    def _replicate(self) -> Any:
        target = self._target()
        replica = type(target)._replicate_for_data_parallel(target)  # type: ignore[union-attr]
        self._without(vars(replica))
        return replica

    def build(self, attribute: str, layers: list[_Layer]) -> None:
        """Puts these layers around what the object had."""
        target = self._target()
        own = vars(target)
        _put_back(own, attribute, self._before[attribute])
        for layer in layers:
            layer.value = layer.make(getattr(target, attribute))
            own[attribute] = self._added[attribute] = layer.value
        self.layers[attribute] = layers
        if not layers:
            self._forget(attribute)

    def _forget(self, attribute: str) -> None:
        """Nothing of ours is around this method any more."""
        del self.layers[attribute], self._added[attribute], self._before[attribute]
        if not self.layers:
            own = vars(self._target())
            for name, value in self._added.items():
                if own.get(name) is value:
                    _put_back(own, name, self._before[name])

    def add(self, attribute: str, layer: _Layer) -> None:
        own = vars(self._target())
        layers = self.layers.get(attribute, [])
        if not layers or own.get(attribute) is not layers[-1].value:
            # What we had is gone, or within what somebody else put around it.
            self._before[attribute] = own.get(attribute, _MISSING)
            layers = []
        self.build(attribute, sorted([*layers, layer], key=lambda each: each.rank))

    def remove(self, attribute: str, layer: _Layer) -> None:
        target = self._target()
        layers = self.layers.get(attribute, [])
        if target is None or layer not in layers:
            return
        rest = [each for each in layers if each is not layer]
        if vars(target).get(attribute) is layers[-1].value:
            self.build(attribute, rest)
        elif rest:
            self.layers[attribute] = rest
        else:
            self._forget(attribute)


def _put_back(state: dict[str, Any], name: str, before: Any) -> None:
    if before is _MISSING:
        state.pop(name, None)
    else:
        state[name] = before


def _of(target: Any) -> _Attributes | None:
    found = vars(target).get(_GETSTATE)
    return found if isinstance(found, _Attributes) else None


def has(target: Any, kind: str) -> bool:
    """Whether a feature has put something into the object."""
    found = _of(target)
    return found is not None and any(
        layer.kind == kind for layers in found.layers.values() for layer in layers
    )


def put(
    target: Any, attribute: str, kind: str, rank: int, make: Callable[[Any], Any]
) -> Callable[[], None]:
    """Replace an object's method by `make` of it; returns what undoes that.

    A layer of higher rank is around those of lower rank, whichever came first. What somebody else
    has put in place since is left alone.
    """
    attributes = _of(target) or _Attributes(target)
    layer = _Layer(kind, rank, make)
    try:
        attributes.add(attribute, layer)
    except BaseException:
        attributes.build(attribute, [])
        raise
    return lambda: attributes.remove(attribute, layer)


def without_reference(target: Any, method: Any) -> Callable[..., Any]:
    """Calls an object's method; unlike the method, it keeps the object not alive."""
    if type(method) is not MethodType or method.__self__ is not target:
        return method  # type: ignore[no-any-return]
    function, reference = method.__func__, weakref.ref(target)

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(reference(), *args, **kwargs)

    return call
