# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Base class and registration of Dynamo's variables for nvspan's objects.

This module and those of the variables are imported by register() alone, in a process that has
imported `torch._dynamo`. Every private name of torch is looked up when they are imported: a name
that a version lacks must fail there, where it is caught, and not while a graph is traced.
"""

from __future__ import annotations

import torch
from torch._dynamo.eval_frame import skip_code
from torch._dynamo.exc import SkipFrame
from torch._dynamo.guards import GuardBuilder
from torch._dynamo.output_graph import OutputGraph
from torch._dynamo.source import GlobalSource
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builder import VariableBuilder
from torch._dynamo.variables.constant import ConstantVariable
from torch._dynamo.variables.functions import BaseUserFunctionVariable
from torch._dynamo.variables.misc import StringFormatVariable

from nvspan import _core

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

TYPE_MATCH = GuardBuilder.TYPE_MATCH
ID_MATCH = GuardBuilder.ID_MATCH
CLASS_MATCH = getattr(GuardBuilder, "CLASS_MATCH", ID_MATCH)
core_functions: Any = _core  # for what its stub does not tell
_ = OutputGraph.install_global_by_id
_NAMES = ("tp_getattro_impl", "var_getattr")  # since torch 2.15, and before
GETATTR = next(name for name in _NAMES if hasattr(VariableTracker, name))
# Before, tracing raises an error at the end of a generator that handed over to another.
TRACES_YIELD_FROM = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13)
constant = ConstantVariable.create


def constant_or_dynamic(arguments: tuple[Any, Any]) -> tuple[list[Any], dict[str, Any]]:
    positional, named = arguments
    try:
        values = [each.as_python_constant() for each in positional]
        return values, {name: each.as_python_constant() for name, each in named.items()}
    except Exception:  # Dynamo has several sorts of these
        return ["<dynamic>"], {}


def global_object(tx: Any, name: str, value: Any) -> VariableTracker:
    """A variable for an object that the frame does not name: it becomes one of its globals."""
    name = tx.output.install_global_by_id(name, value)
    return VariableBuilder(tx, GlobalSource(name))(value)


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


def _guarded(make: Callable[..., VariableTracker], guard: Any) -> Callable[..., VariableTracker]:
    def build(self: Any, value: Any) -> VariableTracker:
        self.install_guards(guard)
        return make(value, source=self.source)

    return build


def type_tables() -> list[Any]:
    """Dynamo's tables of variable builders by type: with NumPy and without."""
    both = getattr(VariableBuilder, "_type_dispatch_impl", None)
    return [both(True), both(False)] if both else [VariableBuilder._type_dispatch()]


def register_type(kind: Any, make: Callable[..., VariableTracker], guard: Any = TYPE_MATCH) -> None:
    """Has Dynamo track a type's objects by `make(value, source=...)`."""
    for table in type_tables():
        table[kind] = _guarded(make, guard)


def register_object(
    value: Any, make: Callable[..., VariableTracker], guard: Any = ID_MATCH
) -> None:
    """Has Dynamo track one object by `make(value, source=...)`, under whatever name."""
    VariableBuilder._id_dispatch()[id(value)] = _guarded(make, guard)
