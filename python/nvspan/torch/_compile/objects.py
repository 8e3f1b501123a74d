# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamo's variables for domains, counters and handles. Imported like common.py."""

from __future__ import annotations

from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.user_defined import UserDefinedObjectVariable

from nvspan import _core
from nvspan._runtime import domains
from nvspan.torch._compile.common import (
    GETATTR,
    ID_MATCH,
    FunctionOfOursVariable,
    answers_attributes,
    constant,
    global_object,
    is_function,
    is_message,
    realized,
    register_object,
    register_type,
)
from nvspan.torch._compile.ranges import RangeVariable
from nvspan.torch._support.dropped import DEAD_HANDLE

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from typing import Any

_UNKNOWN = object()


def _called(function: Any, args: Any, kwargs: Any) -> Any:
    """What a function of ours returns for arguments that are constants; else _UNKNOWN.

    For what gives the same again and again, and does nothing that the program could miss.
    """
    try:
        values = [each.as_python_constant() for each in args]
        named = {name: each.as_python_constant() for name, each in kwargs.items()}
        return function(*values, **named)
    except Exception:  # no constants, or wrong ones: Dynamo is to leave the call to the program
        return _UNKNOWN


_DOMAIN_RANGES: dict[str, Any] = {
    "annotate": _core.annotate,
    "range": _core.annotate,
    "span": _core.span,
    "device_range": _core.device_range,
}
_DOMAIN_CALLS = {
    "push_range": None,
    "pop_range": None,
    "mark": None,
    "start_range": 0,
    "end_range": None,
    "event_batch": None,
}
_DOMAIN_OBJECTS = ("get_counter", "get_registered_string", "get_event_attributes")
_DOMAIN_NUMBERS = ("get_category_id", "get_scope_id")
_COUNTER_CALLS = {"sample": None, "sample_no_value": None, "batch_submit": None}


class DomainVariable(UserDefinedObjectVariable):  # type: ignore[misc]
    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> VariableTracker:
        if name in _DOMAIN_CALLS:
            return constant(_DOMAIN_CALLS[name])
        if name in _DOMAIN_OBJECTS or name in _DOMAIN_NUMBERS:
            result = _called(getattr(self.value, name), args, kwargs)
            if result is not _UNKNOWN:
                if name in _DOMAIN_NUMBERS:
                    return constant(result)
                return global_object(tx, "__nvspan_made", result)
        if name in _DOMAIN_RANGES:
            if len(args) == 1 and not kwargs and is_function(args[0]):
                return args[0]
            if not args or is_message(args[0]):
                maker = getattr(self.value, name)
                return RangeVariable(_DOMAIN_RANGES[name], maker, (list(args), dict(kwargs)))
        return super().call_method(tx, name, args, kwargs)


class GetDomainVariable(FunctionOfOursVariable):
    """`get_domain`: the domain itself, for which it is called while tracing."""

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        if len(args) == 1 and not kwargs and isinstance(realized(args[0]), DomainVariable):
            return args[0]
        domain = _called(self.value, args, kwargs)
        if domain is _UNKNOWN:
            return super().call_function(tx, args, kwargs)
        return global_object(tx, "__nvspan_domain", domain)


class CounterVariable(UserDefinedObjectVariable):  # type: ignore[misc]
    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> VariableTracker:
        if name in _COUNTER_CALLS:
            return constant(_COUNTER_CALLS[name])
        return super().call_method(tx, name, args, kwargs)


@answers_attributes
class HandleVariable(UserDefinedObjectVariable):  # type: ignore[misc]
    """A DeviceRangeHandle: of a range that was not placed."""

    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> VariableTracker:
        if name in ("done", "elapsed") and self.value is DEAD_HANDLE:
            return constant(getattr(DEAD_HANDLE, name)())
        return super().call_method(tx, name, args, kwargs)

    def attribute(self, tx: Any, name: str) -> VariableTracker:
        if name in ("lost", "timed", "backend") and self.value is DEAD_HANDLE:
            return constant(getattr(DEAD_HANDLE, name))
        return getattr(super(), GETATTR)(tx, name)


def register() -> None:
    register_type(_core.Domain, DomainVariable)
    register_type(_core.DeviceRangeHandle, HandleVariable, ID_MATCH)
    for counter in (_core.Int64Counter, _core.Float64Counter, _core.ExtCounter):
        register_type(counter, CounterVariable)
    register_object(domains.get_domain, GetDomainVariable)
