# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of `torch.distributed`'s collectives: its functions are replaced in their modules.

Each range has a payload that is the same on all ranks: the group's id, the number of the call among
those of the group, and the group's size; so that ranges of several ranks can be put side by side.
"""

from __future__ import annotations

import functools
import threading
import weakref
from inspect import signature

from nvspan import _core
from nvspan.torch._loop.process_groups import (
    DOMAIN,
    UNSEEN_OF_ALL,
    count_unseen,
    group_of,
    payload_of,
)
from nvspan.torch._support.removable import replace

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The functions: what they send, and whom they send it to or get it from.
_FUNCTIONS: dict[str, tuple[str, str]] = {
    "all_reduce": ("tensor", ""),
    "all_gather": ("tensor", ""),
    "all_gather_into_tensor": ("input_tensor", ""),
    "all_gather_single": ("input_tensor", ""),
    "reduce_scatter": ("input_list", ""),
    "reduce_scatter_tensor": ("input", ""),
    "reduce_scatter_single": ("input", ""),
    "all_to_all": ("input_tensor_list", ""),
    "all_to_all_single": ("input", ""),
    "barrier": ("", ""),
    "broadcast": ("tensor", "src"),
    "scatter": ("scatter_list", "src"),
    "reduce": ("tensor", "dst"),
    "gather": ("tensor", "dst"),
    "send": ("tensor", "dst"),
    "isend": ("tensor", "dst"),
    "recv": ("tensor", "src"),
    "irecv": ("tensor", "src"),
}
_NAMES = {
    "isend": "send",
    "irecv": "recv",
    # As torch before 2.13 calls them; FSDP uses the new names.
    "all_gather_single": "all_gather_into_tensor",
    "reduce_scatter_single": "reduce_scatter_tensor",
}

_installed = 0  # how many asked
_undo: list[Callable[[], bool]] = []


class _Inside(threading.local):
    """Whether one of the functions runs: one that it calls is no collective of its own."""

    open = False


_inside = _Inside()
_works: dict[int, tuple[Any, str, dict[str, int]]] = {}  # by id of a Work that nobody waited for


def _bytes(tensors: Any) -> int:
    if isinstance(tensors, (list, tuple)):
        return sum(map(_bytes, tensors))
    return tensors.numel() * tensors.element_size() if hasattr(tensors, "numel") else 0


class _Arguments:
    """Finds the arguments that a range shows, given by place or by name."""

    def __init__(self, name: str, function: Any) -> None:
        self.name = _NAMES.get(name, name)
        self.is_async = name in ("isend", "irecv")
        self.is_pair = self.name in ("send", "recv")
        names = list(signature(function).parameters)
        self._places = {each: i for i, each in enumerate(names)}
        self._tensor, self._peer = _FUNCTIONS[name]
        self.group_place = self._places.get("group", len(names))

    def get(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name in kwargs:
            return kwargs[name]
        place = self._places.get(name, len(args))
        return args[place] if place < len(args) else None

    def payload(
        self, distributed: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> dict[str, int]:
        group = self.get("group", args, kwargs)
        fields = {
            "bytes": _bytes(self.get(self._tensor, args, kwargs)) if self._tensor else 0,
            "async": int(self.is_async or bool(self.get("async_op", args, kwargs))),
        }
        if self._peer:
            peer = self.get(f"group_{self._peer}", args, kwargs)
            if peer is None:
                peer = self.get(self._peer, args, kwargs)
                if peer is not None:
                    known, _ = group_of(distributed, group)
                    peer = distributed.get_group_rank(known, peer)
            if self.is_pair:
                fields["peer"] = -1 if peer is None else peer
            else:
                fields["root"] = 0 if peer is None else peer
        return payload_of(distributed, group, self.is_pair, **fields)


def _made(torch: Any, name: str, original: Any) -> Any:
    compiling = torch.compiler.is_compiling
    listening = _core.listening
    arguments = _Arguments(name, original)
    text, group_place, is_pair = arguments.name, arguments.group_place, arguments.is_pair

    @functools.wraps(original)
    def collective(*args: Any, **kwargs: Any) -> Any:
        if compiling():
            return original(*args, **kwargs)
        if not listening() or _inside.open:
            if is_pair:
                return original(*args, **kwargs)
            group = args[group_place] if len(args) > group_place else kwargs.get("group")
            if group is None:  # as below, without a call
                UNSEEN_OF_ALL[0] += 1
            else:
                count_unseen(group)
            return original(*args, **kwargs)
        try:
            payload = arguments.payload(torch.distributed, args, kwargs)
        except Exception:  # it takes no part in the group, or torch will say what is wrong
            return original(*args, **kwargs)
        _inside.open = True
        try:
            _core.push_range(text, domain=DOMAIN, payload=payload)
            try:
                result = original(*args, **kwargs)
            finally:
                _core.pop_range(domain=DOMAIN)
        finally:
            _inside.open = False
        if payload["async"] and result is not None:
            _note(result, text, payload)
        return result

    return collective


def _note(work: Any, name: str, payload: dict[str, int]) -> None:
    """Its wait() is to show as what it waits for."""
    key = id(work)
    try:
        reference = weakref.ref(work, lambda _: _works.pop(key, None))
    except TypeError:
        return
    _works[key] = (reference, f"{name}.wait", payload)


def _made_wait(original: Any) -> Any:
    @functools.wraps(original)
    def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = _works.pop(id(self), None)
        if found is None or not _core.listening():
            return original(self, *args, **kwargs)
        _core.push_range(found[1], domain=DOMAIN, payload=found[2])
        try:
            return original(self, *args, **kwargs)
        finally:
            _core.pop_range(domain=DOMAIN)

    return wait


def _install(torch: Any) -> None:
    distributed = torch.distributed
    c10d = distributed.distributed_c10d
    for name in _FUNCTIONS:
        original = getattr(distributed, name, None)
        if original is None:
            continue
        ours = _made(torch, name, original)
        _undo.extend(
            replace(owner, name, ours)
            for owner in (distributed, c10d)  # which calls its own by these names
            if getattr(owner, name, None) is original
        )
    _undo.append(replace(distributed.Work, "wait", _made_wait(distributed.Work.wait)))


def install(torch: Any) -> Callable[[], None]:
    """Shows collectives, until what it returns is called.

    Raises:
        RuntimeError: this torch has no `torch.distributed`.
    """
    global _installed
    if not torch.distributed.is_available():
        raise RuntimeError("auto(distributed=True) needs a torch that is built with distributed")
    if _installed == 0:
        _install(torch)
    _installed += 1

    def remove() -> None:
        global _installed
        _installed -= 1
        while _installed == 0 and _undo:
            _undo.pop()()
        if _installed == 0:
            _works.clear()

    return remove
