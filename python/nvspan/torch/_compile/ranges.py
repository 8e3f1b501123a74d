# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamo's variables for ranges, what they decorate, and the functions of `nvspan.torch.nvtx`."""

from __future__ import annotations

import functools
from inspect import CO_GENERATOR

from torch._dynamo.bytecode_transformation import create_call_function
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.ctx_manager import NullContextVariable
from torch._dynamo.variables.user_defined import UserDefinedClassVariable

from nvspan import _core
from nvspan._decorate import callables
from nvspan.torch._compile.common import (
    CLASS_MATCH,
    GETATTR,
    ID_MATCH,
    TRACES_YIELD_FROM,
    FunctionOfOursVariable,
    answers_attributes,
    constant,
    constant_or_dynamic,
    core_functions,
    global_object,
    is_function,
    is_message,
    is_outermost,
    leave_to_python,
    register_object,
    register_type,
    type_tables,
)
from nvspan.torch._support.dropped import DEAD_HANDLE, tell_dropped

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class RangeVariable(NullContextVariable):  # type: ignore[misc]
    """A context manager of ours: nothing, and a graph may break inside it."""

    def __init__(
        self,
        object_type: type,
        maker: Callable[..., Any] | None = None,
        arguments: Any = None,
        kept: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.object_type = object_type
        self.kept = kept
        self.maker = maker
        self.arguments = arguments

    def python_type(self) -> type:
        return self.object_type

    def enter(self, tx: Any) -> VariableTracker:
        if self.object_type is _core.device_range:
            return global_object(tx, "__nvspan_handle", DEAD_HANDLE)
        return EnteredVariable(self, source=self.source)

    def exit(self, tx: Any, *args: VariableTracker) -> VariableTracker:
        return constant(None)

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        """Used as a decorator within the frame: the function as it is."""
        if len(args) == 1 and not kwargs and is_function(args[0]):
            return args[0]
        # Not of the base class, which asserts that it is given a function.
        return VariableTracker.call_function(self, tx, args, kwargs)

    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> VariableTracker:
        if name == "__enter__":
            return self.enter(tx)
        if name == "__exit__":
            return constant(None)
        if name == "_for_call":  # of the functions in nvspan/_decorate/device.py
            if is_outermost(tx):
                leave_to_python()
            tell_dropped(self.kept)
            if TRACES_YIELD_FROM or not tx.f_code.co_flags & CO_GENERATOR:
                return self
        return super().call_method(tx, name, args, kwargs)

    def reconstruct(self, codegen: Any) -> None:
        """It leaves the frame: the real object is made there."""
        if self.source is not None:
            codegen(self.source)
            return
        args, kwargs = constant_or_dynamic(self.arguments)
        make = functools.partial(self.maker or self.object_type, *args, **kwargs)
        name = codegen.tx.output.install_global_by_id("__nvspan_make", make)
        codegen.add_push_null(
            lambda: codegen.append_output(codegen.create_load_global(name, add=True))
        )
        codegen.extend_output(create_call_function(0, False))


@answers_attributes
class EnteredVariable(VariableTracker):  # type: ignore[misc]
    """What `as` names. Of a local that is a context manager Dynamo makes a nullcontext where a
    graph breaks, and a program may look at this one."""

    def __init__(self, entered: RangeVariable, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.entered = entered

    def python_type(self) -> type:
        return self.entered.python_type()

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        return self.entered.call_function(tx, args, kwargs)

    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> VariableTracker:
        return self.entered.call_method(tx, name, args, kwargs)

    def attribute(self, tx: Any, name: str) -> VariableTracker:
        return getattr(self.entered, GETATTR)(tx, name)

    def reconstruct(self, codegen: Any) -> None:
        self.entered.reconstruct(codegen)


class RangeClassVariable(UserDefinedClassVariable):  # type: ignore[misc]
    """`annotate`, `span` or `device_range` itself, which stays a class to everything else."""

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        if len(args) == 1 and not kwargs and is_function(args[0]):
            return args[0]  # @annotate without parentheses
        if args and not is_message(args[0]):
            return super().call_function(tx, args, kwargs)
        return RangeVariable(self.value, self.value, (list(args), dict(kwargs)))


class DroppedFunctionVariable(FunctionOfOursVariable):
    """A function of `nvspan.torch.nvtx`, under torch's name too: it does nothing."""

    def __init__(self, value: Any, result: Any, **kwargs: Any) -> None:
        super().__init__(value, **kwargs)
        self.result = result

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        if self.value is not core_functions._torch_range:
            return constant(self.result)
        return RangeVariable(core_functions.annotate, self.value, (list(args), dict(kwargs)))


_TORCH_FUNCTIONS: dict[Any, Any] = {
    core_functions._torch_range_push: 0,
    core_functions._torch_range_pop: 0,
    core_functions._torch_range_start: 0,
    core_functions._torch_range_end: None,
    core_functions._torch_mark: None,
    core_functions._torch_range: None,
}


def range_variable(value: Any, **kwargs: Any) -> RangeVariable:
    """A range or step that was made outside of the frame."""
    return RangeVariable(type(value), kept=value, **kwargs)


def _build_callable(self: Any, value: Any) -> VariableTracker:
    """An AnnotatedCallable is what it wraps. Guards on its attributes would be asked of that."""
    self.install_guards(ID_MATCH)
    return global_object(self.tx, "__nvspan_wrapped", value.__wrapped__)


def _register_callable(kind: type) -> None:
    for table in type_tables():
        table[kind] = _build_callable


def register() -> None:
    ranges: tuple[Any, ...] = (_core.annotate, _core.span, _core.device_range)
    for kind in ranges:
        register_object(kind, RangeClassVariable, CLASS_MATCH)
    for kind in (*ranges, core_functions._FormattedRange):
        register_type(kind, range_variable)
    for proxy in callables.proxy_types():
        _register_callable(proxy)
    callables.type_listeners.append(_register_callable)
    for function, result in _TORCH_FUNCTIONS.items():
        register_object(function, functools.partial(DroppedFunctionVariable, result=result))
