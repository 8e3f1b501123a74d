# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The range `h2d`: batches that go to the device.

While an `auto` is there and a tool listens, `Tensor.to` and `Tensor.cuda` show what they move away
from the CPU. While none listens, they are torch's own.
"""

from __future__ import annotations

from _thread import get_ident

from nvspan import _core
from nvspan.torch._support.removable import replace

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_annotations: list[Any] = []  # of those who asked; the last one's is used
_inside: set[int] = set()  # threads that are in a range
_put_back: list[Callable[[], bool]] = []  # for each replaced method of torch.Tensor


def _leaves_cpu(torch: Any, tensor: Any, name: str, args: Any, kwargs: Any) -> bool:
    if tensor.device.type != "cpu":
        return False
    if name == "cuda":
        return True
    where = args[0] if args else kwargs.get("device", kwargs.get("other"))
    if isinstance(where, torch.Tensor):
        where = where.device
    if isinstance(where, torch.device):
        return bool(where.type != "cpu")
    if isinstance(where, str):
        return not where.startswith("cpu")
    return isinstance(where, int) and not isinstance(where, bool)


def _made(torch: Any, name: str) -> Any:
    original = getattr(torch.Tensor, name)
    compiling = torch.compiler.is_compiling

    def move(self: Any, *args: Any, **kwargs: Any) -> Any:
        if (
            compiling()
            or not _annotations
            or get_ident() in _inside
            or not _leaves_cpu(torch, self, name, args, kwargs)
        ):
            return original(self, *args, **kwargs)
        with _annotations[-1]:
            return original(self, *args, **kwargs)

    move.__name__ = name
    move.__qualname__ = f"Tensor.{name}"
    move.__doc__ = original.__doc__
    return move


def look_who_listens() -> None:
    """Puts our functions into torch.Tensor, or takes them out, as there is a tool and an auto."""
    wanted = bool(_annotations) and _core.listening()
    if wanted and not _put_back:
        import torch

        names = {"to", "cuda"}.difference(vars(torch.Tensor))  # somebody else's is left alone
        _put_back.extend(replace(torch.Tensor, name, _made(torch, name)) for name in names)
    while _put_back and not wanted:
        _put_back.pop()()


def install(annotation: Any) -> Callable[[], None]:
    """Shows transfers as this annotation, until what it returns is called."""
    _annotations.append(annotation)

    def remove() -> None:
        _annotations.remove(annotation)
        look_who_listens()

    return remove


# ---- by hand ------------------------------------------------------------------------------------


def to_device(batch: Any, device: Any, non_blocking: bool = True, *, domain: Any = "torch") -> Any:
    """Move a batch to a device, under a range ``h2d`` with the moved bytes as payload.

    What has a ``to`` method is asked for it. Lists, tuples, named tuples, dictionaries and
    dataclasses are rebuilt with their parts moved; the rest stays as it is.

    Args:
        batch: What to move.
        device: Where to, as for ``Tensor.to``.
        non_blocking: As for ``Tensor.to``: copies from pinned memory need not be waited for.
        domain: The range's domain.

    Returns:
        The batch, with tensors on the device.

    >>> import nvspan.torch
    >>> nvspan.torch.to_device(["no tensor", 1], "cuda")
    ['no tensor', 1]
    """
    with _core.annotate(
        "h2d", domain=domain, color="cyan", payload=lambda: _bytes_to_move(batch, device)
    ):
        thread = get_ident()
        nested = thread in _inside
        _inside.add(thread)
        try:
            return moved_batch(batch, device, non_blocking)
        finally:
            if not nested:
                _inside.discard(thread)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "element_size") and hasattr(value, "numel") and hasattr(value, "to")


def _parts(batch: Any) -> Any:
    """What is in a container that `moved_batch` rebuilds; None if it is none."""
    if isinstance(batch, (list, tuple)):
        return batch
    if isinstance(batch, dict):
        return batch.values()
    if hasattr(batch, "__dataclass_fields__") and not isinstance(batch, type):
        return [getattr(batch, name, None) for name in batch.__dataclass_fields__]
    return None


def _bytes_to_move(batch: Any, device: Any) -> int:
    if _is_tensor(batch):
        kind = str(getattr(device, "type", device))
        here = kind.split(":")[0] == batch.device.type
        return 0 if here else batch.element_size() * batch.numel()
    return sum(_bytes_to_move(each, device) for each in _parts(batch) or ())


def moved_batch(batch: Any, device: Any, non_blocking: bool) -> Any:
    """The batch on the device, without a range; traced by torch.compile."""
    # The type is asked first: of a tensor that torch 2.5 traces, `hasattr` finds nothing.
    if callable(getattr(type(batch), "to", None)) or callable(getattr(batch, "to", None)):
        try:
            return batch.to(device, non_blocking=non_blocking)
        except TypeError:  # its `to` takes a device alone
            return batch.to(device)
    if isinstance(batch, (list, tuple)):
        moved = [moved_batch(each, device, non_blocking) for each in batch]
        if hasattr(batch, "_fields"):
            return type(batch)(*moved)
        return type(batch)(moved) if type(batch) is not list else moved
    if isinstance(batch, dict):
        moved_items = {
            key: moved_batch(value, device, non_blocking) for key, value in batch.items()
        }
        if type(batch) is dict:
            return moved_items
        moved = _copy(batch)
        for key, value in moved_items.items():
            moved[key] = value
        return moved
    if hasattr(batch, "__dataclass_fields__") and not isinstance(batch, type):
        moved = _copy(batch)
        for name in batch.__dataclass_fields__:
            if hasattr(batch, name):
                value = moved_batch(getattr(batch, name), device, non_blocking)
                object.__setattr__(moved, name, value)
        return moved
    return batch


def _copy(value: Any) -> Any:
    import copy

    return copy.copy(value)
