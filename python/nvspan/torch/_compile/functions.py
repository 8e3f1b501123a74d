# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamo's variables for the functions of `nvspan.torch.nvtx`."""

from __future__ import annotations

from torch._dynamo.variables.base import VariableTracker

from nvspan.torch._compile.common import (
    ID_MATCH,
    FunctionOfOursVariable,
    constant,
    core_functions,
    tables,
)
from nvspan.torch._compile.ranges import RangeVariable

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class DroppedFunctionVariable(FunctionOfOursVariable):
    """A function of ours that does nothing and returns a constant. It is looked up by its id, so
    that it is ours under torch's name, too."""

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


def _build_dropped_function(result: Any) -> Callable[[Any, Any], VariableTracker]:
    def build(self: Any, value: Any) -> VariableTracker:
        self.install_guards(ID_MATCH)
        return DroppedFunctionVariable(value, result, source=self.source)

    return build


def register() -> None:
    _, ids = tables()
    for function, result in _TORCH_FUNCTIONS.items():
        ids[id(function)] = _build_dropped_function(result)
