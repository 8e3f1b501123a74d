# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The range of one module call in the backward pass, by hooks on autograd's nodes.

It begins before the first of the nodes that made the module's outputs. It ends when the first of
these happens: the node that the module made first has finished, for autograd runs last what a
thread made first; a node that made one of its inputs begins; a module begins whose forward was over
before its own began, in the same thread; the pass ends, or raises; the graph is freed. No tensor is
wrapped and no parameter hooked, so nothing that was legal stops being so. All of it is keyed by
autograd's number of the pass: a graph may be run again, and passes may nest.

The node made first is looked for, and hooked, only where it is needed: where the last node before
the module's call made one of its inputs, nothing runs between the module's nodes and that one.
"""

from __future__ import annotations

import functools

from nvspan import _core

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _node_hooks(torch: Any) -> dict[str, Any]:
    """What the core needs to hook a node without torch's Python; None where torch lacks it."""
    names = ("hooked_tensor", "current_node", "is_node_reached")
    try:
        engine = (torch._C._current_autograd_node, torch._C._will_engine_execute_node)
        torch._C._FunctionBase._register_hook_dict  # noqa: B018
        with torch.inference_mode(False):
            tensor = torch.zeros(1, dtype=torch.float32, device="cpu")
            tensor._backward_hooks = None
    except AttributeError:
        return dict.fromkeys(names)
    return dict(zip(names, (tensor, *engine), strict=True))


@functools.cache
def _set_up(torch: Any) -> None:
    """Tells the core what it needs of torch, once."""
    _core._set_torch_functions(
        tensor_type=torch.Tensor,
        accumulate_grad_type=torch._C._functions.AccumulateGrad,
        graph_task_id=torch._C._current_graph_task_id,
        queue_callback=torch.autograd.Variable._execution_engine.queue_callback,
        is_grad_enabled=torch.is_grad_enabled,
        sequence_number=torch._C._autograd._get_sequence_nr,
        is_compiling=torch.compiler.is_compiling,
        compiler=vars(torch.compiler),
        **_node_hooks(torch),
    )


def following(target: Callable[..., Any], options: Any) -> Callable[..., Any]:
    """Calls `target` and, while something listens, shows the backward pass of what it returns."""
    _set_up(options.torch)

    def annotation(name: str) -> Any:
        return _core.annotate(
            name, color=None, domain=options.domain, category="backward", level=options.level
        )

    return _core._follow_backward(
        target, annotation(options.name), annotation(options.recomputed), options.device
    )
