# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`auto`: ranges for the parts of a training loop, without a change to it."""

from __future__ import annotations

import weakref

from nvspan import _core
from nvspan.torch._loop import (
    backward_call,
    collectives,
    fetches,
    gradients,
    loaders,
    transfers,
)
from nvspan.torch._loop import optimizers as _optimizers
from nvspan.torch._loop.loop import Loop
from nvspan.torch._modules import modules
from nvspan.torch._support import attributes, dropped
from nvspan.torch._support.removable import Removable

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class AutoAnnotations(Removable):
    """What :func:`auto` returns: ``remove()`` gives the loop its own functions back.

    As a context manager it does that at the end of the block. The annotations stay if it is
    dropped.
    """

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self._loop = loop
        #: What the loop is to iterate over: the DataLoader itself, or what stands for another
        #: iterable; None if :func:`auto` was given none.
        self.dataloader: Any = None

    @property
    def step(self) -> int:
        """The number of the next step: from 0, unless it is set, to go on where a run stopped."""
        return self._loop.number

    @step.setter
    def step(self, number: int) -> None:
        self._loop.number = number

    def remove(self) -> None:
        """Give model, optimizers and loader their methods back. A second call does nothing.

        An open step ends. A method that somebody else has replaced since is left alone, and shows
        nothing any more.
        """
        self._loop.end()
        self._loop.alive = False
        super().remove()


class _Forward:
    """The range of the model's calls, in the form that annotate_module's machinery takes."""

    kind = "auto"
    backward = False
    forward = True

    def __init__(self, torch: Any, model: Any, loop: Loop, domain: Any, device: bool) -> None:
        self.torch = torch
        reference = weakref.ref(model)

        def message() -> str:
            if torch._C._current_graph_task_id() != -1:
                return "forward (recompute)"
            if torch.is_grad_enabled() and getattr(reference(), "training", False):
                loop.forward_begins()
            return "forward"

        self.annotation = _core.annotate(
            message=message, domain=domain, color="green", device=device
        )
        dropped.note(message, self.kind)


def auto(
    model: Any,
    optimizer: Any = None,
    dataloader: Any = None,
    *,
    step: str | None = "step",
    device: bool = False,
    distributed: bool = False,
    domain: Any = "torch",
) -> AutoAnnotations:
    """Show the parts of a training loop, which stays as it is.

    The ranges are ``step`` with its number as payload, ``dataloader.next``, ``forward``,
    ``backward``, ``optimizer.step``, ``zero_grad`` and ``h2d``; :func:`loss` adds ``loss``. The
    model, the optimizers and the loader are the same objects as before: methods of theirs are
    replaced in their own dictionaries, and what copies and pickles are made of them has none of it.

    - A step begins when the loop asks the loader for a batch, and ends when it asks for the next or
      leaves the loop. A loader whose length is unknown shows a short last step, in which it says
      that it has ended. Without a loader, a step ends after ``optimizer.step``, of the last
      optimizer if there are several. It begins with the fetch from the DataLoader that the loop
      trains on, as of Accelerate, Lightning and Hugging Face's Trainer, too: the one whose batches
      the step before trained on; in the first step one that a ``for`` goes over whose body names
      the optimizer, one of which a loop takes ``next`` that steps the optimizer, one that a
      trainer's loop fetches from, or one that Accelerate made of ``dataloader``. What a thread
      fetches ahead begins no step. Else it begins with the model's next call in training mode, or
      with ``zero_grad`` if the first step called that first. Without either there are no steps.
    - ``backward`` is the outermost ``Tensor.backward`` or ``torch.autograd.backward``, of any
      tensor.
    - ``h2d`` is each ``Tensor.to`` and ``Tensor.cuda`` that takes a tensor from the CPU, from the
      first step with a tool; :func:`to_device` gives one range to a batch.

    While nothing listens, the model runs its own code, and the other calls take some microseconds
    of a step.

    Args:
        model: A ``torch.nn.Module``. If you compile it by ``torch.compile``, do that first: ranges
            within compiled code are dropped, one around it is not. It may also have ranges by
            :func:`annotate_module`, made before or afterwards.
        optimizer: An optimizer or several, or None.
        dataloader: A ``DataLoader``, which works in place, or another iterable: then loop over the
            result's ``dataloader``. None: that of the loop is found.
        step: The name of steps; None for none.
        device: ``forward``, ``backward`` and ``optimizer.step`` have a range of the GPU's work
            beside them, as ``annotate(device=True)``: torch lets the current stream wait for all
            that the backward pass did.
        distributed: The collectives of ``torch.distributed`` have ranges too, in the domain
            ``torch.distributed``: its functions by their names, ``all_reduce.wait`` where a program
            waits for an asynchronous one, and ``ddp.gradients`` from the moment that a rank's
            gradients are there until those of all ranks are, where the model is a
            ``DistributedDataParallel``. ``nvspan ranks`` finds out of these who made whom wait.
            Call :func:`auto` at the same place of the program on all ranks.
        domain: The other ranges' domain.

    Returns:
        A handle with ``remove()``, which is a context manager too.

    Raises:
        TypeError: The model is no module, an optimizer has no ``step``, or the loader cannot be
            iterated over.
        ValueError: One of them has the ranges of another ``auto`` already.
        RuntimeError: ``distributed`` is true, and this torch is built without it.

    Steps belong to the thread that runs the loop. Not to be called while another thread runs it.

    >>> import torch, nvspan.torch                                       # doctest: +SKIP
    >>> model = torch.nn.Linear(4, 1)                                    # doctest: +SKIP
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)          # doctest: +SKIP
    >>> loader = torch.utils.data.DataLoader(torch.randn(8, 4))          # doctest: +SKIP
    >>> handle = nvspan.torch.auto(model, optimizer, loader)             # doctest: +SKIP
    >>> for batch in loader:                                             # doctest: +SKIP
    ...     model(batch).sum().backward()
    ...     optimizer.step()
    >>> handle.remove()                                                  # doctest: +SKIP
    """
    import torch

    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"auto takes a torch.nn.Module, not {model!r}")
    optimizers = _listed(optimizer)
    for role, target in [("model", model), *(("optimizer", one) for one in optimizers)]:
        _refuse_annotated(role, target)
    annotations = {
        name: _core.annotate(name, domain=domain, color=color, device=device and gpu)
        for name, color, gpu in (
            ("dataloader.next", "lightblue", False), ("h2d", "cyan", False),
            ("zero_grad", "gray", False), ("backward", "orange", True),
            ("optimizer.step", "purple", True),
        )
    }  # fmt: skip
    if not optimizers and dataloader is None:
        step = None  # nothing would end it
    loop = Loop(step, domain, optimizers)
    handle = AutoAnnotations(loop)
    try:
        handle.dataloader = _annotated_loader(torch, dataloader, loop, annotations, handle._undo)
        if optimizers:
            fetch = annotations["dataloader.next"]
            handle._undo.append(fetches.install(torch, loop, fetch))
        for i, one in enumerate(optimizers):
            handle._undo += _optimizers.install(torch, one, i, loop, annotations)
        modules.install(model, _Forward(torch, model, loop, domain, device), handle._undo, 1)
        handle._undo.append(backward_call.install(torch, annotations["backward"]))
        handle._undo.append(transfers.install(annotations["h2d"]))
        if distributed:
            handle._undo.append(collectives.install(torch))
            handle._undo.append(gradients.install(torch, model))
        handle._undo.append(_end_at_exit(loop))
    except BaseException:
        handle.remove()
        raise
    return handle


def _refuse_annotated(role: str, target: Any) -> None:
    if attributes.has(target, "auto"):
        raise ValueError(f"the {role} already has the ranges of an auto: call its remove() first")


def _listed(optimizer: Any) -> list[Any]:
    if optimizer is None:
        return []
    found = list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer]
    for each in found:
        if not callable(getattr(each, "step", None)) or not hasattr(each, "__dict__"):
            raise TypeError(f"auto takes optimizers, not {each!r}")
    return found


def _annotated_loader(
    torch: Any, loader: Any, loop: Loop, annotations: dict[str, Any], undo: list[Any]
) -> Any:
    annotation = annotations["dataloader.next"]
    if loader is None:
        return None
    kind = torch.utils.data.DataLoader
    if isinstance(loader, kind):
        _refuse_annotated("loader", loader)
        # A subclass that iterates in its own way may fetch ahead: a fetch says nothing of the loop.
        loop.by_loader = type(loader).__iter__ is kind.__iter__
        loop.takes(loader)
        undo.append(loaders.install(loader, loop, annotation))
        return loader
    if not hasattr(type(loader), "__iter__") and not hasattr(type(loader), "__getitem__"):
        raise TypeError(f"auto takes an iterable of batches, not {loader!r}")
    loop.by_loader = True
    return loaders.AnnotatedBatches(loader, loop, annotation)


def _end_at_exit(loop: Loop) -> Callable[[], None]:
    import atexit

    atexit.register(loop.end)
    return lambda: atexit.unregister(loop.end)
