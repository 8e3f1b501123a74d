# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of a model before it is profiled."""

from __future__ import annotations

from nvspan._runtime.switch import paused

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from typing import Any


def warmup(
    model: Any, *inputs: Any, steps: int = 3, backward: bool = False, **options: Any
) -> None:
    """Calls a model so often that profiling finds its CUDA context, kernels and memory ready.

    No range is emitted meanwhile. What the calls change is put back: the states of random numbers,
    the model's buffers (running means of normalisation) and gradients. It waits for the GPU.

    Args:
        model: an ``nn.Module`` or any callable. A `ProfileableModel` is called as usual.
        inputs: the arguments of each call.
        steps: how many calls.
        backward: also run the backward pass of the sum of what it returns.
        options: keyword arguments of each call.

    Raises:
        TypeError: `steps` is no int.
        ValueError: `steps` is below 1.

    >>> nvspan.torch.warmup(model, batch, steps=3)                       # doctest: +SKIP
    """
    if isinstance(steps, bool) or not isinstance(steps, int):
        raise TypeError(f"steps must be an int, not {steps!r}")
    if steps < 1:
        raise ValueError(f"steps must be 1 or more, not {steps}")
    import torch

    module = model if isinstance(model, torch.nn.Module) else None
    buffers = [] if module is None else [(each, each.clone()) for each in module.buffers()]
    learned = [] if module is None else list(module.parameters())
    given = [each for each in (*inputs, *options.values()) if isinstance(each, torch.Tensor)]
    gradients = [(each, each.grad) for each in (*learned, *given) if each.is_leaf]
    for leaf, gradient in gradients:
        leaf.grad = None if gradient is None else gradient.clone()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    try:
        with paused(), torch.random.fork_rng(devices):
            for _ in range(steps):
                made = model(*inputs, **options)
                if backward:
                    _sum_of(made, torch).backward()
    finally:
        with torch.no_grad():
            for buffer, before in buffers:
                buffer.copy_(before)
        for leaf, gradient in gradients:
            leaf.grad = gradient
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()


def _sum_of(made: Any, torch: Any) -> Any:
    """The sum of all tensors in it that have gradients."""
    if isinstance(made, torch.Tensor):
        return made.float().sum() if made.requires_grad else torch.zeros((), requires_grad=True)
    if isinstance(made, dict):
        made = list(made.values())
    if isinstance(made, (list, tuple)):
        return sum((_sum_of(each, torch).cpu() for each in made), torch.zeros(()))
    return torch.zeros((), requires_grad=True)
