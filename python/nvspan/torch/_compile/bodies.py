# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamo's variables for what generated bodies of decorated functions call, while a tool listens
(nvspan/_decorate/codegen.py). Imported like common.py."""

from __future__ import annotations

import builtins
import functools

from torch._dynamo.exc import ObservedUserStopIteration, handle_observed_exception
from torch._dynamo.variables.base import VariableTracker

from nvspan.torch._compile.common import (
    FunctionOfOursVariable,
    constant,
    global_object,
    is_outermost,
    leave_to_python,
    realized,
    register_object,
)
from nvspan.torch._support import dropped

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from typing import Any


class BodyFunctionVariable(FunctionOfOursVariable):
    """One of the functions that generated bodies call, with the key of the decorated function."""

    def __init__(self, value: Any, gives: str, **kwargs: Any) -> None:
        super().__init__(value, **kwargs)
        self.gives = gives

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        if args and self.gives in _TAKE_KEY and is_outermost(tx):
            leave_to_python(_callee(args[0]))
        if self.gives in ("nothing", "began"):
            return constant(None)
        if self.gives == "driver":
            return DriverVariable(args[1])
        if self.gives in ("resume", "take", "sent", "caught"):
            driver = realized(args[0])
            if isinstance(driver, DriverVariable):
                return getattr(driver, self.gives)(tx, *args[1:])
            result = super().call_function(tx, args, kwargs)
            return result
        dropped.tell_dropped(_annotation_of(tx))
        original = _callee(args[0])
        original = getattr(original, "_nvspan_original", original)  # of a module: _modules.py
        callee: Any = global_object(tx, "__nvspan_original", original)
        if self.gives == "callee":
            return callee
        return callee.call_function(tx, args[1:], kwargs)


def _callee(key: VariableTracker) -> Any:
    """The function that was decorated."""
    return getattr(builtins, "__nvspan_callee__")(key.as_python_constant())  # noqa: B009


def _annotation_of(tx: Any) -> Any:
    """That of the decorated function whose generated body is traced."""
    try:
        return tx.f_code.co_consts[-1].__reduce__()[1][0]
    except (AttributeError, IndexError, TypeError):
        return None


def _is_none(variable: Any) -> bool:
    return variable.is_python_constant() and variable.as_python_constant() is None


class DriverVariable(VariableTracker):  # type: ignore[misc]
    """What steps through a decorated generator: hands on values and exceptions, both ways."""

    def __init__(self, inner: VariableTracker, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inner = inner
        self.state: dict[str, VariableTracker] = {}  # shared by the copies that Dynamo makes

    def resume(self, tx: Any) -> VariableTracker:
        """Runs the generator to its next value; False at its end."""
        state = self.state
        thrown, sent = state.pop("thrown", None), state.pop("sent", None)
        try:
            if thrown is not None:
                value = self.inner.call_method(tx, "throw", [thrown], {})
            elif sent is not None and not _is_none(sent):
                value = self.inner.call_method(tx, "send", [sent], {})
            else:
                value = self.inner.next_variable(tx)
        except ObservedUserStopIteration as stop:
            handle_observed_exception(tx)
            returned = getattr(stop, "value", None)
            state["value"] = returned if isinstance(returned, VariableTracker) else constant(None)
            return constant(False)
        state["value"] = value
        return constant(True)

    def take(self, tx: Any) -> VariableTracker:
        return self.state["value"]

    def sent(self, tx: Any, *values: VariableTracker) -> VariableTracker:
        # In torch 2.11 a generator finds what next() would send below what was sent.
        self.state["sent"] = values[-1]
        return constant(None)

    def caught(self, tx: Any) -> VariableTracker:
        self.state["thrown"] = tx.exn_vt_stack[-1]
        return constant(None)


_BODY_FUNCTIONS = {
    "enter": "callee",
    "callee": "callee",
    "call_nested": "result",
    "call_span": "result",
    "exit": "nothing",
    "start": "began",
    "end": "nothing",
    "drive_nested": "driver",
    "drive_span": "driver",
    "resume": "resume",
    "take": "take",
    "sent": "sent",
    "caught": "caught",
}
_TAKE_KEY = ("callee", "result", "began", "driver")


def register() -> None:
    for name, gives in _BODY_FUNCTIONS.items():
        function = getattr(builtins, f"__nvspan_{name}__", None)
        if function is not None:
            register_object(function, functools.partial(BodyFunctionVariable, gives=gives))
