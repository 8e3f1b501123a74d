# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A range for each operator that torch runs, by a dispatch mode."""

from __future__ import annotations

import functools
import sys
from _thread import get_ident
from fnmatch import fnmatchcase

from nvspan import _core

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Any

_NO_NUMBER = 2**64 - 1  # what the nodes have that add to a leaf's gradient
_inside: set[int] = set()  # threads that run an operator which has been shown


class OpAnnotations:
    """What :func:`annotate_ops` returns: a context manager, which may be entered again within."""

    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run
        self._entered: dict[int, list[Any]] = {}  # modes of each thread

    def __enter__(self) -> OpAnnotations:
        modes = self._entered.setdefault(get_ident(), [])
        mode = None
        if not any(modes) and _core.listening():
            mode = _mode_class()(self._run)
            mode.__enter__()
        modes.append(mode)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        modes = self._entered[get_ident()]
        mode = modes.pop()
        if not modes:
            del self._entered[get_ident()]
        if mode is not None:
            mode.__exit__(exc_type, exc_value, traceback)


@functools.cache
def _mode_class() -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):  # type: ignore[misc]
        """Hands each operator to a function."""

        def __init__(self, run: Callable[..., Any]) -> None:
            super().__init__()
            self._run = run

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True  # else torch.compile would compile nothing within

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return self._run(func, args, kwargs or {})

    return Mode


def annotate_ops(
    shapes: bool = False,
    include: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    *,
    level: int = 1,
    domain: Any = "torch",
) -> OpAnnotations:
    """Open a range for each operator that torch runs in a block: what ``emit_nvtx`` is for.

    The operators are those below autograd: ``aten::addmm`` and ``aten::t`` for a linear layer. Each
    has autograd's sequence number as payload: an operator whose result has a gradient function
    and those that run in the backward pass for it have the same, and category ``forward`` and
    ``backward``. The others have none. A block within the block of another, or of the same, shows
    each operator once.

    The numbers stay the same: operators run as they would, after some 10 us of Python each. It acts
    on the thread that enters it and on the backward passes that this thread starts. A block that is
    entered while nothing listens does nothing. Kernels that ``torch.compile`` generates are no
    operators.

    Args:
        shapes: The payload also has the shapes of the tensors, by the operator's argument names.
        include: Shell patterns of the operators to show, ``"aten::*mm"``; None is all.
        exclude: Shell patterns of those not to show.
        level: The ranges' level.
        domain: The ranges' domain.

    Returns:
        A context manager.

    Raises:
        TypeError: A pattern is no str.

    >>> import torch, nvspan.torch                                       # doctest: +SKIP
    >>> with nvspan.torch.annotate_ops(include="aten::*mm"):             # doctest: +SKIP
    ...     torch.nn.Linear(4, 4)(torch.zeros(2, 4)).sum().backward()
    """
    wanted, unwanted = _patterns(include), _patterns(exclude)
    names: dict[Any, str | None] = {}

    def name_of(func: Any) -> str | None:
        try:
            return names[func]
        except KeyError:
            name: str | None = func._schema.name
            if wanted is not None and not any(fnmatchcase(str(name), each) for each in wanted):
                name = None
            if unwanted is not None and any(fnmatchcase(str(name), each) for each in unwanted):
                name = None
            names[func] = name
            return name

    def run(func: Any, args: Any, kwargs: Any) -> Any:
        thread = get_ident()
        name = name_of(func)
        if name is None or thread in _inside or not _core.listening():
            return func(*args, **kwargs)
        category, payload = _origin(sys.modules["torch"], args, kwargs)
        if shapes:
            payload = _shapes(func, args, kwargs, payload)
        _inside.add(thread)
        try:
            with _core.annotate(
                name, domain=domain, category=category, payload=payload, level=level
            ):
                return func(*args, **kwargs)
        finally:
            _inside.discard(thread)

    return OpAnnotations(run)


def _patterns(given: str | Iterable[str] | None) -> list[str] | None:
    if given is None:
        return None
    found = [given] if isinstance(given, str) else list(given)
    for each in found:
        if not isinstance(each, str):
            raise TypeError(f"operators are chosen by shell patterns, not {each!r}")
    return found


def _origin(torch: Any, args: Any, kwargs: Any) -> tuple[str | None, Any]:
    """(category, sequence number) of the operator that is about to run."""
    node = torch._C._current_autograd_node()
    if node is not None:
        number = node._sequence_nr()
        return "backward", number if number < _NO_NUMBER else None
    if torch.is_grad_enabled() and any(
        each.requires_grad for each in _tensors(torch, [*args, *kwargs.values()])
    ):
        # Autograd has made the operator's node before it comes here, and counted it.
        return "forward", torch._C._autograd._get_sequence_nr() - 1
    return None, None


def _tensors(torch: Any, values: Any) -> Any:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(torch, value)


def _shapes(func: Any, args: Any, kwargs: Any, sequence: Any) -> dict[str, Any]:
    import torch

    found: dict[str, Any] = {} if sequence is None else {"sequence": sequence}
    names = [each.name for each in func._schema.arguments]
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        if isinstance(value, torch.Tensor):
            found[name] = tuple(value.shape)
        elif isinstance(value, (list, tuple)):
            shapes = [tuple(each.shape) for each in value if isinstance(each, torch.Tensor)]
            if shapes:
                found[name] = str(shapes)
    return found
