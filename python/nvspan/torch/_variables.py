# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamo's variables for nvspan's types.

Imported only by _compile.register(), in a process that has imported `torch._dynamo`. Every private
name of torch is looked up when this module is imported: a name that a version lacks must fail
here, where it is caught, and not while a graph is traced.
"""

from __future__ import annotations

import builtins
import functools

from torch._dynamo.bytecode_transformation import create_call_function
from torch._dynamo.guards import GuardBuilder
from torch._dynamo.output_graph import OutputGraph
from torch._dynamo.source import GlobalSource
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builder import VariableBuilder
from torch._dynamo.variables.constant import ConstantVariable
from torch._dynamo.variables.ctx_manager import NullContextVariable
from torch._dynamo.variables.functions import BaseUserFunctionVariable
from torch._dynamo.variables.misc import StringFormatVariable
from torch._dynamo.variables.user_defined import (
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
)

import nvspan
from nvspan import _core, _decorate
from nvspan.torch._compile import DEAD_HANDLE

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_TYPE_MATCH = GuardBuilder.TYPE_MATCH
_ID_MATCH = GuardBuilder.ID_MATCH
_CLASS_MATCH = getattr(GuardBuilder, "CLASS_MATCH", _ID_MATCH)
_core_functions: Any = _core  # for what its stub does not tell
_ = OutputGraph.install_global_by_id
_none = ConstantVariable.create


def _constant_or_dynamic(arguments: tuple[Any, Any]) -> tuple[list[Any], dict[str, Any]]:
    positional, named = arguments
    try:
        values = [each.as_python_constant() for each in positional]
        return values, {name: each.as_python_constant() for name, each in named.items()}
    except Exception:  # Dynamo has several sorts of these
        return ["<dynamic>"], {}


def _global_object(tx: Any, name: str, value: Any) -> VariableTracker:
    """A variable for an object that the frame does not name: it becomes one of its globals."""
    name = tx.output.install_global_by_id(name, value)
    variable: VariableTracker = VariableBuilder(tx, GlobalSource(name))(value)
    return variable


class RangeVariable(NullContextVariable):  # type: ignore[misc]
    """A context manager of ours: nothing, and a graph may break inside it."""

    def __init__(
        self,
        made_type: type,
        maker: Callable[..., Any] | None = None,
        arguments: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.made_type = made_type
        self.maker = maker
        self.arguments = arguments

    def python_type(self) -> type:
        return self.made_type

    def enter(self, tx: Any) -> VariableTracker:
        if self.made_type is _core.device_range:
            return _global_object(tx, "__nvspan_handle", DEAD_HANDLE)
        return self

    def exit(self, tx: Any, *args: VariableTracker) -> VariableTracker:
        return _none(None)

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        """Used as a decorator within the frame: the function as it is."""
        if len(args) == 1 and not kwargs and _is_function(args[0]):
            function: VariableTracker = args[0]
            return function
        # Not of the base class, which asserts that it is given a function.
        result: VariableTracker = VariableTracker.call_function(self, tx, args, kwargs)
        return result

    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> VariableTracker:
        if name == "__enter__":
            return self.enter(tx)
        if name == "__exit__":
            return _none(None)
        return super().call_method(tx, name, args, kwargs)

    def reconstruct(self, codegen: Any) -> None:
        """It leaves the frame: the real object is made there."""
        if self.source is not None:
            codegen(self.source)
            return
        args, kwargs = _constant_or_dynamic(self.arguments)
        make = functools.partial(self.maker or self.made_type, *args, **kwargs)
        name = codegen.tx.output.install_global_by_id("__nvspan_make", make)
        codegen.add_push_null(
            lambda: codegen.append_output(codegen.create_load_global(name, add=True))
        )
        codegen.extend_output(create_call_function(0, False))


class RangeClassVariable(UserDefinedClassVariable):  # type: ignore[misc]
    """`annotate`, `span` or `device_range` itself, which stays a class to everything else."""

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        if len(args) == 1 and not kwargs and _is_function(args[0]):
            function: VariableTracker = args[0]
            return function  # @annotate without parentheses
        if args and not _is_message(args[0]):
            result: VariableTracker = super().call_function(tx, args, kwargs)
            return result
        return RangeVariable(self.value, self.value, (list(args), dict(kwargs)))


def _realized(variable: Any) -> Any:
    return variable.realize() if hasattr(variable, "realize") else variable


def _is_function(variable: Any) -> bool:
    return isinstance(_realized(variable), BaseUserFunctionVariable)


def _is_message(variable: Any) -> bool:
    """Whether it is surely no function or class: something to decorate is not to be lost."""
    variable = _realized(variable)
    if isinstance(variable, StringFormatVariable):
        return True
    constant = variable.as_python_constant() if variable.is_python_constant() else variable
    return constant is None or isinstance(constant, (str, bytes))


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
_COUNTER_CALLS = {"sample": None, "sample_no_value": None, "batch_submit": None}


class DomainVariable(UserDefinedObjectVariable):  # type: ignore[misc]
    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> VariableTracker:
        if name in _DOMAIN_CALLS:
            return _none(_DOMAIN_CALLS[name])
        if name in _DOMAIN_RANGES:
            if len(args) == 1 and not kwargs and _is_function(args[0]):
                function: VariableTracker = args[0]
                return function
            if not args or _is_message(args[0]):
                maker = getattr(self.value, name)
                return RangeVariable(_DOMAIN_RANGES[name], maker, (list(args), dict(kwargs)))
        return super().call_method(tx, name, args, kwargs)


class GetDomainVariable(VariableTracker):  # type: ignore[misc]
    """`get_domain`: the domain itself, for which it is called while tracing."""

    def __init__(self, value: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.value = value

    def python_type(self) -> type:
        return type(self.value)

    def as_python_constant(self) -> Any:
        return self.value

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        values = [each.as_python_constant() for each in args]
        named = {name: each.as_python_constant() for name, each in kwargs.items()}
        return _global_object(tx, "__nvspan_domain", self.value(*values, **named))


class CounterVariable(UserDefinedObjectVariable):  # type: ignore[misc]
    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> VariableTracker:
        if name in _COUNTER_CALLS:
            return _none(_COUNTER_CALLS[name])
        return super().call_method(tx, name, args, kwargs)


class HandleVariable(UserDefinedObjectVariable):  # type: ignore[misc]
    """A DeviceRangeHandle: of a range that was not placed."""

    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> VariableTracker:
        if name in ("done", "elapsed") and self.value is DEAD_HANDLE:
            return _none(getattr(DEAD_HANDLE, name)())
        return super().call_method(tx, name, args, kwargs)

    def var_getattr(self, tx: Any, name: str) -> VariableTracker:
        if name in ("lost", "timed", "backend") and self.value is DEAD_HANDLE:
            return _none(getattr(DEAD_HANDLE, name))
        return super().var_getattr(tx, name)


# ---- nvspan.torch.nvtx -----------------------------------------------------------------------


class DroppedFunctionVariable(VariableTracker):  # type: ignore[misc]
    """A function of ours that does nothing and returns a constant. It is looked up by its id, so
    that it is ours under torch's name, too."""

    def __init__(self, value: Any, result: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.value = value
        self.result = result

    def python_type(self) -> type:
        return type(self.value)

    def as_python_constant(self) -> Any:
        return self.value

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        if self.value is not _core_functions._torch_range:
            return _none(self.result)
        return RangeVariable(_core_functions.annotate, self.value, (list(args), dict(kwargs)))


_TORCH_FUNCTIONS: dict[Any, Any] = {
    _core_functions._torch_range_push: 0,
    _core_functions._torch_range_pop: 0,
    _core_functions._torch_range_start: 0,
    _core_functions._torch_range_end: None,
    _core_functions._torch_mark: None,
    _core_functions._torch_range: None,
}


# ---- the body of a decorated function while a tool listens (nvspan/_codegen.py) -----------------


class BodyFunctionVariable(VariableTracker):  # type: ignore[misc]
    """One of the functions that generated bodies call, with the key of the decorated function."""

    def __init__(self, value: Any, gives: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.value = value
        self.gives = gives

    def python_type(self) -> type:
        return type(self.value)

    def as_python_constant(self) -> Any:
        return self.value

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        if self.gives == "nothing":
            return _none(None)
        original = getattr(builtins, "__nvspan_callee__")(args[0].as_python_constant())  # noqa: B009
        original = getattr(original, "_nvspan_original", original)  # of a module: _modules.py
        callee: Any = _global_object(tx, "__nvspan_original", original)
        if self.gives == "callee":
            return callee
        return callee.call_function(tx, args[1:], kwargs)


_BODY_FUNCTIONS = {
    "enter": "callee",
    "callee": "callee",
    "call_nested": "result",
    "call_span": "result",
    "exit": "nothing",
    "start": "nothing",
    "end": "nothing",
}


# ---- registration -------------------------------------------------------------------------------


def _build_range(self: Any, value: Any) -> VariableTracker:
    self.install_guards(_TYPE_MATCH)
    return RangeVariable(type(value), source=self.source)


def _build_range_class(self: Any, value: Any) -> VariableTracker:
    self.install_guards(_CLASS_MATCH)
    return RangeClassVariable(value, source=self.source)


def _build_domain(self: Any, value: Any) -> VariableTracker:
    self.install_guards(_TYPE_MATCH)
    return DomainVariable(value, source=self.source)


def _build_get_domain(self: Any, value: Any) -> VariableTracker:
    self.install_guards(_ID_MATCH)
    return GetDomainVariable(value, source=self.source)


def _build_handle(self: Any, value: Any) -> VariableTracker:
    self.install_guards(_ID_MATCH)
    return HandleVariable(value, source=self.source)


def _build_counter(self: Any, value: Any) -> VariableTracker:
    self.install_guards(_TYPE_MATCH)
    return CounterVariable(value, source=self.source)


def _build_callable(self: Any, value: Any) -> VariableTracker:
    """An AnnotatedCallable is what it wraps. Guards on its attributes would be asked of that."""
    self.install_guards(_ID_MATCH)
    return _global_object(self.tx, "__nvspan_wrapped", value.__wrapped__)


def _build_dropped_function(result: Any) -> Callable[[Any, Any], VariableTracker]:
    def build(self: Any, value: Any) -> VariableTracker:
        self.install_guards(_ID_MATCH)
        return DroppedFunctionVariable(value, result, source=self.source)

    return build


def _build_body_function(gives: str) -> Callable[[Any, Any], VariableTracker]:
    def build(self: Any, value: Any) -> VariableTracker:
        self.install_guards(_ID_MATCH)
        return BodyFunctionVariable(value, gives, source=self.source)

    return build


def register() -> None:
    """Puts our types into the tables by which Dynamo chooses a variable."""
    both = getattr(VariableBuilder, "_type_dispatch_impl", None)  # with and without NumPy
    tables = [both(True), both(False)] if both else [VariableBuilder._type_dispatch()]
    ids = VariableBuilder._id_dispatch()

    def add_callable(kind: type) -> None:
        for table in tables:
            table[kind] = _build_callable

    ranges: tuple[Any, ...] = (_core.annotate, _core.span, _core.device_range)
    for kind in ranges:
        for table in tables:
            table[kind] = _build_range
        ids[id(kind)] = _build_range_class
    for table in tables:
        table[_core_functions._FormattedRange] = _build_range
        table[_core.Domain] = _build_domain
        table[_core.DeviceRangeHandle] = _build_handle
        for counter in (_core.Int64Counter, _core.Float64Counter, _core.ExtCounter):
            table[counter] = _build_counter
    ids[id(nvspan.get_domain)] = _build_get_domain
    for proxy in _decorate.proxy_types():
        add_callable(proxy)
    _decorate.type_listeners.append(add_callable)
    for name, gives in _BODY_FUNCTIONS.items():
        function = getattr(builtins, f"__nvspan_{name}__", None)
        if function is not None:
            ids[id(function)] = _build_body_function(gives)
    for function, result in _TORCH_FUNCTIONS.items():
        ids[id(function)] = _build_dropped_function(result)
