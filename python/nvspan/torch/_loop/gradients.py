# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The range `ddp.gradients`: from a rank's last local gradient to the end of the all-reduce.

DistributedDataParallel reduces gradients from C++, where nothing of Python is called. Its last wait
is a callback at the backward pass's end: two of nvspan's callbacks run before and after it.
"""

from __future__ import annotations

from time import monotonic_ns

from nvspan import _core
from nvspan.torch._loop.process_groups import DOMAIN, count_unseen, payload_of

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Gradients:
    """Of one model: its range of each backward pass."""

    def __init__(self, torch: Any, model: Any) -> None:
        self._torch = torch
        self._model = model
        self._queue = torch.autograd.Variable._execution_engine.queue_callback
        self._task = torch._C._current_graph_task_id
        self._seen = -1  # the backward pass that has its callback
        self._at = 0
        self._bytes = sum(
            each.numel() * each.element_size() for each in model.parameters() if each.requires_grad
        )

    def of_parameter(self, parameter: Any) -> None:
        """A gradient is there. The reducer's callback is not: it waits for all of them."""
        self._at = monotonic_ns()
        task = self._task()
        if task == self._seen or task == -1:
            return
        self._seen = task
        if self._model.require_backward_grad_sync:
            self._queue(self._computed)

    def _computed(self) -> None:
        if not _core.listening():
            count_unseen(self._model.process_group)
            return
        # The last bucket is on its way already, but not longer than this gradient is there. How
        # long that is when the range begins, `computed` tells even if this thread now loses its
        # core; `early` is for tools that do not know CLOCK_MONOTONIC.
        early = max(0, monotonic_ns() - self._at)
        payload = payload_of(
            self._torch.distributed, self._model.process_group,
            bytes=self._bytes, early=early, computed=self._at,
        )  # fmt: skip
        handle = _core.start_range("ddp.gradients", domain=DOMAIN, payload=payload)
        self._queue(lambda: _core.end_range(handle))


def install(torch: Any, model: Any) -> Callable[[], None]:
    """Shows a DistributedDataParallel's wait, until what it returns is called."""
    wrapped = torch.nn.parallel.DistributedDataParallel
    if not isinstance(model, wrapped):
        return lambda: None
    gradients = _Gradients(torch, model)
    trained = [each for each in model.parameters() if each.requires_grad]
    # The first and the last: one of them has a gradient where a pass leaves some out.
    handles = [
        each.register_post_accumulate_grad_hook(gradients.of_parameter)
        for each in {id(each): each for each in (*trained[-1:], *trained[:1])}.values()
    ]

    def remove() -> None:
        for handle in handles:
            handle.remove()

    return remove
