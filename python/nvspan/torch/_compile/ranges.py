# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamo's variables for nvspan's types.

Imported only by _compile.register(), in a process that has imported `torch._dynamo`. Every private
name of torch is looked up when this module is imported: a name that a version lacks must fail
here, where it is caught, and not while a graph is traced.
"""

from __future__ import annotations

import functools
from inspect import CO_GENERATOR

import torch
from torch._dynamo.bytecode_transformation import create_call_function
from torch._dynamo.eval_frame import skip_code
from torch._dynamo.exc import SkipFrame
from torch._dynamo.guards import GuardBuilder
from torch._dynamo.output_graph import OutputGraph
from torch._dynamo.source import GlobalSource
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builder import VariableBuilder
from torch._dynamo.variables.constant import ConstantVariable
from torch._dynamo.variables.ctx_manager import NullContextVariable
from torch._dynamo.variables.functions import BaseUserFunctionVariable
from torch._dynamo.variables.misc import StringFormatVariable
from torch._dynamo.variables.user_defined import UserDefinedClassVariable

import nvspan
from nvspan import _core
from nvspan._decorate import dispatch
from nvspan._runtime import steps
from nvspan.torch._compile.register import DEAD_HANDLE
from nvspan.torch._support import dropped

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

TYPE_MATCH = GuardBuilder.TYPE_MATCH
ID_MATCH = GuardBuilder.ID_MATCH
CLASS_MATCH = getattr(GuardBuilder, "CLASS_MATCH", ID_MATCH)
_core_functions: Any = _core  # for what its stub does not tell
_ = OutputGraph.install_global_by_id
_NAMES = ("tp_getattro_impl", "var_getattr")  # since torch 2.15, and before
GETATTR = next(name for name in _NAMES if hasattr(VariableTracker, name))
# Before, tracing raises an error at the end of a generator that handed over to another.
TRACES_YIELD_FROM = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13)
constant = ConstantVariable.create


def _constant_or_dynamic(arguments: tuple[Any, Any]) -> tuple[list[Any], dict[str, Any]]:
    positional, named = arguments
    try:
        values = [each.as_python_constant() for each in positional]
        return values, {name: each.as_python_constant() for name, each in named.items()}
    except Exception:  # Dynamo has several sorts of these
        return ["<dynamic>"], {}


def global_object(tx: Any, name: str, value: Any) -> VariableTracker:
    """A variable for an object that the frame does not name: it becomes one of its globals."""
    name = tx.output.install_global_by_id(name, value)
    variable: VariableTracker = VariableBuilder(tx, GlobalSource(name))(value)
    return variable


def answers_attributes(variable: Any) -> Any:
    """Lets a class of variables answer by its `attribute`, under the name that torch calls."""
    setattr(variable, GETATTR, variable.attribute)
    return variable


def is_outermost(tx: Any) -> bool:
    """Whether the frame is itself what is compiled. With fullgraph=True and for an export no."""
    outermost = getattr(tx, "parent", None) is None
    return outermost and not getattr(tx, "one_graph", True) and not getattr(tx, "export", True)


def leave_to_python(callee: Any = None) -> NoReturn:
    """Has Python run this frame, which opens a range, and Dynamo compile what it calls: the range
    is around the compiled code."""
    if hasattr(callee, "_nvspan_original"):
        skip_code(callee.__code__)  # it is another of ours, in between (_modules.py)
    raise SkipFrame("nvspan: the range is around what is compiled")


class RangeVariable(NullContextVariable):  # type: ignore[misc]
    """A context manager of ours: nothing, and a graph may break inside it."""

    def __init__(
        self,
        made_type: type,
        maker: Callable[..., Any] | None = None,
        arguments: Any = None,
        kept: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.made_type = made_type
        self.kept = kept
        self.maker = maker
        self.arguments = arguments

    def python_type(self) -> type:
        return self.made_type

    def enter(self, tx: Any) -> VariableTracker:
        if self.made_type is _core.device_range:
            return global_object(tx, "__nvspan_handle", DEAD_HANDLE)
        return EnteredVariable(self, source=self.source)

    def exit(self, tx: Any, *args: VariableTracker) -> VariableTracker:
        return constant(None)

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        """Used as a decorator within the frame: the function as it is."""
        if len(args) == 1 and not kwargs and is_function(args[0]):
            function: VariableTracker = args[0]
            return function
        # Not of the base class, which asserts that it is given a function.
        result: VariableTracker = VariableTracker.call_function(self, tx, args, kwargs)
        return result

    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> VariableTracker:
        if name == "__enter__":
            return self.enter(tx)
        if name == "__exit__":
            return constant(None)
        if name == "_fresh":  # of the functions in nvspan/_decorate/device.py
            if is_outermost(tx):
                leave_to_python()
            dropped.tell_dropped(self.kept)
            if TRACES_YIELD_FROM or not tx.f_code.co_flags & CO_GENERATOR:
                return self
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
        result: VariableTracker = getattr(self.entered, GETATTR)(tx, name)
        return result

    def reconstruct(self, codegen: Any) -> None:
        self.entered.reconstruct(codegen)


class RangeClassVariable(UserDefinedClassVariable):  # type: ignore[misc]
    """`annotate`, `span` or `device_range` itself, which stays a class to everything else."""

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        if len(args) == 1 and not kwargs and is_function(args[0]):
            function: VariableTracker = args[0]
            return function  # @annotate without parentheses
        if args and not is_message(args[0]):
            result: VariableTracker = super().call_function(tx, args, kwargs)
            return result
        return RangeVariable(self.value, self.value, (list(args), dict(kwargs)))


def realized(variable: Any) -> Any:
    return variable.realize() if hasattr(variable, "realize") else variable


def is_function(variable: Any) -> bool:
    return isinstance(realized(variable), BaseUserFunctionVariable)


def is_message(variable: Any) -> bool:
    """Whether it is surely no function or class: something to decorate is not to be lost."""
    variable = realized(variable)
    if isinstance(variable, StringFormatVariable):
        return True
    value = variable.as_python_constant() if variable.is_python_constant() else variable
    return value is None or isinstance(value, (str, bytes))


class FunctionOfOursVariable(VariableTracker):  # type: ignore[misc]
    """A function of ours. What calling it means in a graph, subclasses say."""

    def __init__(self, value: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.value = value

    def python_type(self) -> type:
        return type(self.value)

    def as_python_constant(self) -> Any:
        return self.value


# ---- nvspan.step ------------------------------------------------------------------------------


@answers_attributes
class StepVariable(RangeVariable):
    """A step that was made in the frame. Its number is the one that was given, once it was entered:
    a step that counts by itself does not count what is compiled."""

    def __init__(self, given: VariableTracker, options: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(steps.Step, **kwargs)
        self.given = given
        self.options = options
        self.calls: list[str] = []  # shared by the copies that Dynamo makes

    def enter(self, tx: Any) -> VariableTracker:
        self.calls.append("enter")
        return super().enter(tx)

    def attribute(self, tx: Any, name: str) -> VariableTracker:
        if name == "number":
            return self.given if self.calls else constant(None)
        result: VariableTracker = getattr(super(), GETATTR)(tx, name)
        return result

    def reconstruct(self, codegen: Any) -> None:
        make = functools.partial(_made_step, bool(self.calls), self.options)
        name = codegen.tx.output.install_global_by_id("__nvspan_make", make)
        codegen.add_push_null(
            lambda: codegen.append_output(codegen.create_load_global(name, add=True))
        )
        codegen(self.given)
        codegen.extend_output(create_call_function(1, False))


def _made_step(entered: bool, options: dict[str, Any], number: Any) -> Any:
    made = nvspan.step(number, **options)
    if entered:
        made.number = number
    return made


class StepFunctionVariable(FunctionOfOursVariable):
    """`nvspan.step` itself."""

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        named = dict(kwargs)
        given = args[0] if args else named.pop("n", constant(None))
        _, options = _constant_or_dynamic(((), named))
        return StepVariable(given, options)


def _build_step(self: Any, value: Any) -> VariableTracker:
    self.install_guards(ID_MATCH)
    return StepFunctionVariable(value, source=self.source)


# ---- nvspan.torch.nvtx -----------------------------------------------------------------------


class DroppedFunctionVariable(FunctionOfOursVariable):
    """A function of ours that does nothing and returns a constant. It is looked up by its id, so
    that it is ours under torch's name, too."""

    def __init__(self, value: Any, result: Any, **kwargs: Any) -> None:
        super().__init__(value, **kwargs)
        self.result = result

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        if self.value is not _core_functions._torch_range:
            return constant(self.result)
        return RangeVariable(_core_functions.annotate, self.value, (list(args), dict(kwargs)))


_TORCH_FUNCTIONS: dict[Any, Any] = {
    _core_functions._torch_range_push: 0,
    _core_functions._torch_range_pop: 0,
    _core_functions._torch_range_start: 0,
    _core_functions._torch_range_end: None,
    _core_functions._torch_mark: None,
    _core_functions._torch_range: None,
}


# ---- registration -------------------------------------------------------------------------------


def _build_range(self: Any, value: Any) -> VariableTracker:
    self.install_guards(TYPE_MATCH)
    return RangeVariable(type(value), kept=value, source=self.source)


def _build_range_class(self: Any, value: Any) -> VariableTracker:
    self.install_guards(CLASS_MATCH)
    return RangeClassVariable(value, source=self.source)


def _build_callable(self: Any, value: Any) -> VariableTracker:
    """An AnnotatedCallable is what it wraps. Guards on its attributes would be asked of that."""
    self.install_guards(ID_MATCH)
    return global_object(self.tx, "__nvspan_wrapped", value.__wrapped__)


def _build_dropped_function(result: Any) -> Callable[[Any, Any], VariableTracker]:
    def build(self: Any, value: Any) -> VariableTracker:
        self.install_guards(ID_MATCH)
        return DroppedFunctionVariable(value, result, source=self.source)

    return build


def tables() -> tuple[list[Any], Any]:
    """The tables by which Dynamo chooses a variable: by type, with and without NumPy, and by id."""
    both = getattr(VariableBuilder, "_type_dispatch_impl", None)
    types = [both(True), both(False)] if both else [VariableBuilder._type_dispatch()]
    return types, VariableBuilder._id_dispatch()


def register() -> None:
    types, ids = tables()

    def add_callable(kind: type) -> None:
        for table in types:
            table[kind] = _build_callable

    ranges: tuple[Any, ...] = (_core.annotate, _core.span, _core.device_range)
    for kind in ranges:
        for table in types:
            table[kind] = _build_range
        ids[id(kind)] = _build_range_class
    for table in types:
        table[_core_functions._FormattedRange] = _build_range
        table[steps.Step] = _build_range
    ids[id(steps.step)] = _build_step
    for proxy in dispatch.proxy_types():
        add_callable(proxy)
    dispatch.type_listeners.append(add_callable)
    for function, result in _TORCH_FUNCTIONS.items():
        ids[id(function)] = _build_dropped_function(result)
