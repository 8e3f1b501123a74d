# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamo's variables for `nvspan.step` and its steps."""

from __future__ import annotations

import functools

from torch._dynamo.bytecode_transformation import create_call_function
from torch._dynamo.variables.base import VariableTracker

from nvspan._runtime import steps
from nvspan.torch._compile.common import (
    GETATTR,
    FunctionOfOursVariable,
    answers_attributes,
    constant,
    constant_or_dynamic,
    register_object,
    register_type,
)
from nvspan.torch._compile.ranges import RangeVariable, range_variable

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from typing import Any


@answers_attributes
class StepVariable(RangeVariable):
    """A step that was made in the frame. Its number is the one that was given, once it was entered:
    a step that counts automatically does not count compiled steps."""

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
        return getattr(super(), GETATTR)(tx, name)

    def reconstruct(self, codegen: Any) -> None:
        make = functools.partial(_made_step, bool(self.calls), self.options)
        name = codegen.tx.output.install_global_by_id("__nvspan_make", make)
        codegen.add_push_null(
            lambda: codegen.append_output(codegen.create_load_global(name, add=True))
        )
        codegen(self.given)
        codegen.extend_output(create_call_function(1, False))


def _made_step(entered: bool, options: dict[str, Any], number: Any) -> Any:
    step = steps.step(number, **options)
    if entered:
        step.number = number
    return step


class StepFunctionVariable(FunctionOfOursVariable):
    """`nvspan.step` itself."""

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        named = dict(kwargs)
        given = args[0] if args else named.pop("n", constant(None))
        _, options = constant_or_dynamic(((), named))
        return StepVariable(given, options)


def register() -> None:
    register_type(steps.Step, range_variable)
    register_object(steps.step, StepFunctionVariable)
