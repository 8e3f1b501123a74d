# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The range of one module call in the backward pass, by hooks on autograd's nodes.

It begins before the first of the nodes that made the module's outputs, and ends when each node at
the module's boundary is through: when the last of them has run, or what comes before the module
begins, or the backward pass ends, or the graph is freed, whichever is first. No tensor is wrapped
and no parameter hooked, so nothing that was legal stops being so. All of it is keyed by autograd's
number of the pass: a graph may be run again, and passes may nest.
"""

from __future__ import annotations

import nvspan

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_KEY = "nvspan"  # in the metadata of a node: the ranges that its run ends and begins


def _tensors(value: Any, kind: Any) -> Iterator[Any]:
    """The tensors in nested lists, tuples, dictionaries and dataclass-like outputs."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _tensors(each, kind)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each, kind)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from _tensors(getattr(value, name, None), kind)


def _nodes(value: Any, kind: Any) -> set[Any]:
    return {each.grad_fn for each in _tensors(value, kind) if each.grad_fn is not None}


class BackwardRange:
    """One call of a module: what is open of it, in which pass."""

    __slots__ = ("_domain", "_handle", "_left", "_message", "_nodes", "_payload", "_task", "_torch")

    def __init__(self, torch: Any, message: str, domain: Any, payload: int, nodes: int) -> None:
        self._torch = torch
        self._message = message
        self._domain = domain
        self._payload = payload
        self._nodes = nodes
        self._left = 0
        self._task: int | None = None
        self._handle: Any = None

    def begin(self) -> None:
        task = self._torch._C._current_graph_task_id()
        if task == self._task:
            return
        self._close()  # of a pass that raised
        self._task = task
        self._left = self._nodes
        self._handle = nvspan.start_range(
            self._message, domain=self._domain, category="backward", payload=self._payload
        )
        self._torch.autograd.Variable._execution_engine.queue_callback(self._pass_ended)

    def node_done(self, *_: Any) -> None:
        if self._task == self._torch._C._current_graph_task_id() and self._left > 0:
            self._left -= 1
            if self._left == 0:
                self._close()

    def producer_begins(self) -> None:
        if self._task == self._torch._C._current_graph_task_id():
            self._close()

    def _pass_ended(self) -> None:
        self._close()
        self._task = None

    def _close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            nvspan.end_range(handle)

    def __del__(self) -> None:
        self._close()


def _at(node: Any) -> tuple[list[BackwardRange], list[BackwardRange]]:
    """The ranges that end and those that begin before the node runs: one hook does both."""
    found: tuple[list[BackwardRange], list[BackwardRange]] | None = node.metadata.get(_KEY)
    if found is None:
        ending: list[BackwardRange] = []
        beginning: list[BackwardRange] = []

        def before(*_: Any) -> None:
            for each in ending:
                each.producer_begins()
            for each in reversed(beginning):  # a module comes after the modules within it
                each.begin()

        found = node.metadata[_KEY] = (ending, beginning)
        node.register_prehook(before)
    return found


def _boundary(outputs: Iterable[Any], producers: set[Any]) -> list[Any]:
    """The module's nodes whose inputs come from outside of it."""
    seen = set(outputs)
    todo, found = list(seen), []
    while todo:
        node = todo.pop()
        inside = False
        for following, _ in node.next_functions:
            if following is None or following in producers:
                continue
            if following.name() == "torch::autograd::AccumulateGrad":
                continue
            inside = True
            if following not in seen:
                seen.add(following)
                todo.append(following)
        if not inside:
            found.append(node)
    return found


def inputs_of(torch: Any, args: Any, kwargs: Any) -> set[Any]:
    """The nodes that made a module's inputs. Ask before it runs: it may change them in place."""
    return _nodes((args, kwargs), torch.Tensor)


def follow(
    torch: Any, message: str, domain: Any, payload: int, producers: set[Any], output: Any
) -> None:
    """Shows the backward pass of the module call that made `output`."""
    outputs = _nodes(output, torch.Tensor) - producers
    if not outputs:
        return
    edge = _boundary(outputs, producers)
    made = BackwardRange(torch, message, domain, payload, len(edge))
    for node in outputs:
        _at(node)[1].append(made)
    for node in edge:
        node.register_hook(made.node_done)
    for node in producers:
        _at(node)[0].append(made)
