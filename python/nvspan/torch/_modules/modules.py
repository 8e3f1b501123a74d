# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A range for each call of a model's modules.

`forward` of each module is replaced, in the module's own dictionary, by a decorated function: while
nothing listens it has the code of the original, so a model costs what it did. Nothing of it is
copied or pickled.
"""

from __future__ import annotations

import functools
import sys
import weakref
from fnmatch import fnmatchcase
from types import FunctionType, MethodType

from nvspan import _core
from nvspan._decorate.code_shapes import compiled_body
from nvspan._runtime.warnings import warn_once
from nvspan.torch._modules import backward as _backward
from nvspan.torch._support import attributes, dropped
from nvspan.torch._support.removable import Removable

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType
    from typing import Any, TypeAlias

    Choice: TypeAlias = str | type | Iterable[str | type] | None


_SUSPENDING = 0x80 | 0x20 | 0x200 | 0x100  # coroutine, generator and so on
_FORWARD = "forward"
_COMPILED = "_compiled_call_impl"


class ModuleAnnotations(Removable):
    """What :func:`annotate_module` returns: ``remove()`` takes the ranges off the model again.

    It keeps the model's modules alive. As a context manager it removes the ranges at the end of the
    block.
    """

    def remove(self) -> None:
        """Give every module its ``forward`` back. A second call does nothing.

        A ``forward`` that somebody else has replaced since is left alone. Calls that are under way
        close their ranges.
        """
        super().remove()


def annotate_module(
    model: Any,
    *,
    name: str | None = None,
    forward: bool = True,
    backward: bool = False,
    device: bool = False,
    depth: int | None = None,
    include: Choice = None,
    exclude: Choice = None,
    shapes: bool = False,
    level: int = 1,
    domain: Any = "torch",
) -> ModuleAnnotations:
    """Open a range around each call of the model's modules, under their qualified names.

    The model itself is called after its class, its modules as ``named_modules()`` calls them. A
    second model of that class is called ``Net#2``, and so on, while the first one has ranges:
    ``nvspan modules`` tells them apart. A call that checkpointing makes during the backward pass
    has ``(recompute)`` after its name. While nothing listens the model runs the code that it runs
    without. What ``deepcopy``, ``state_dict`` and ``pickle`` make of it has no ranges.

    Args:
        model: A ``torch.nn.Module``. If it, or one of its modules, is compiled already, that one
            gets a range around the compiled code and a :class:`NvspanWarning` says so: ranges
            within compiled code are dropped.
        name: What the model itself is called, instead of its class.
        forward: Ranges of the forward pass, with category ``forward``; where the name ends in a
            number, with the module's class: ``forward Linear``.
        backward: Ranges of the backward pass, with category ``backward`` and the same number as
            payload as the forward range that it belongs to: autograd's sequence number when that
            began. They start and end, and do not nest as push and pop do.
        device: The ranges have ranges of the GPU's work beside them, as ``annotate(device=True)``:
            those of the backward pass on the stream on which autograd runs the module's nodes.
        depth: How far to go down: 0 is the model alone, 1 its children as well; ``None`` is all.
        include: Modules to take: shell patterns of their names, or classes; ``None`` is all.
        exclude: Modules to leave out, in the same way.
        shapes: Forward ranges carry shapes and types of their tensors and whether gradients are
            on, as payload.
        level: The ranges' level.
        domain: The ranges' domain.

    Returns:
        A handle with ``remove()``.

    Raises:
        TypeError: The model is no module, or its name no text.
        ValueError: A module of it is annotated already.

    Not to be called while another thread runs the model.

    >>> import torch, nvspan.torch                                       # doctest: +SKIP
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 4))               # doctest: +SKIP
    >>> handle = nvspan.torch.annotate_module(model)                     # doctest: +SKIP
    >>> handle.remove()                                                  # doctest: +SKIP
    """
    import torch

    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"annotate_module takes a torch.nn.Module, not {model!r}")
    if not isinstance(name, (str, type(None))):
        raise TypeError(f"name must be text, not {name!r}")
    chosen = list(_chosen_modules(model, depth, _matcher(include), _matcher(exclude)))
    for path, module in chosen:
        if attributes.has(module, _Options.kind):
            raise ValueError(
                f"module {path!r} is already annotated: call remove() on that handle first"
            )
    handle = ModuleAnnotations()
    try:
        for path, module in chosen:
            shown = path
            if module is model:
                shown = name or _unused_name(path)
                _models[shown] = model
                handle._undo.append(functools.partial(_models.pop, shown, None))
            category = "forward"
            if shown.rpartition(".")[2].isdecimal():  # `nvspan modules` shows the class behind it
                category += f" {_class_name(module)}"
            options = _Options(
                torch, shown, category, domain, level, forward, backward, device, shapes
            )
            install(module, options, handle._undo)
    except BaseException:
        handle.remove()
        raise
    return handle


_models: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()  # with ranges


def _unused_name(name: str) -> str:
    """That, or with a number after it, as no other model is called that has ranges."""
    found, number = name, 1
    while found in _models:
        number += 1
        found = f"{name}#{number}"
    return found


class _Options:
    """What the ranges of one module are to be."""

    kind = "annotate_module"

    def __init__(
        self,
        torch: Any,
        name: str,
        category: str,
        domain: Any,
        level: int,
        forward: bool,
        backward: bool,
        device: bool,
        shapes: bool,
    ) -> None:
        self.torch = torch
        self.name = name
        self.domain = _core.get_domain(domain)
        self.level = level
        self.forward = forward
        self.backward = backward
        self.device = device
        task_id = torch._C._current_graph_task_id
        self.recomputed = f"{name} (recompute)"
        self.sequence = getattr(torch._C._autograd, "_get_sequence_nr", lambda: 0)

        def message() -> str:
            return name if task_id() == -1 else self.recomputed

        payload: Callable[[], Any] | None = None
        if shapes:
            payload = functools.partial(_shapes_of_call, self)
        elif backward:
            payload = self.sequence
        self.annotation = _core.annotate(
            message=message, domain=domain, category=category, payload=payload, level=level,
            device=device,
        )  # fmt: skip
        dropped.note(message, self.kind)


def _shapes_of_call(options: _Options) -> dict[str, Any]:
    """The payload of a call that is about to begin: its arguments are the locals of our caller."""
    torch = options.torch
    found: dict[str, Any] = {"sequence": options.sequence(), "grad": torch.is_grad_enabled()}
    frame = sys._getframe(1)
    values = {}
    for name, value in frame.f_locals.items():
        if isinstance(value, torch.Tensor):
            values[name] = value
        elif isinstance(value, tuple):
            values.update({f"{name}{i}": each for i, each in enumerate(value)})
        elif isinstance(value, dict):
            values.update(value)
    for name, value in values.items():
        if isinstance(value, torch.Tensor):
            found[name] = tuple(value.shape)
            found[f"{name}_dtype"] = str(value.dtype).removeprefix("torch.")
    return found


# ---- which modules get ranges, and what they are called ----------------------------------------


def _matcher(choice: Choice) -> Callable[[str, Any], bool] | None:
    if choice is None:
        return None
    every = [choice] if isinstance(choice, (str, type)) else list(choice)
    names = [each for each in every if isinstance(each, str)]
    kinds = tuple(each for each in every if isinstance(each, type))

    def matches(name: str, module: Any) -> bool:
        return isinstance(module, kinds) or any(fnmatchcase(name, each) for each in names)

    return matches


def _is_compiled(module: Any) -> bool:
    return "_orig_mod" in module._modules or module._compiled_call_impl is not None


def _class_name(module: Any) -> str:
    """The name of the class that the user wrote: FSDP2 puts a class of its own before it."""
    names = [each.__name__ for each in type(module).__mro__]
    if "FSDPModule" in names:
        names = [each for each in names if not each.startswith("FSDP")]
    return names[0]


def _chosen_modules(
    model: Any,
    depth: int | None,
    include: Callable[[str, Any], bool] | None,
    exclude: Callable[[str, Any], bool] | None,
) -> Iterator[tuple[str, Any]]:
    """(name, module), each module once; nothing below one that is compiled."""
    compiled: list[str] = []
    for name, module in model.named_modules():
        if any(name.startswith(prefix) for prefix in compiled):
            continue
        if depth is not None and name and name.count(".") >= depth:
            continue
        shown = name or _class_name(getattr(model, "_orig_mod", model))
        if _is_compiled(module):
            compiled.append(f"{name}." if name else "")
            warn_once(
                "annotate_module of a compiled module",
                f"annotate_module: {shown} is compiled: it gets one range around the compiled "
                "code, and those of the modules within it would be dropped",
            )
        if include is not None and not include(shown, module):
            continue
        if exclude is not None and exclude(shown, module):
            continue
        yield shown, module


# ---- one module ---------------------------------------------------------------------------------


def install(module: Any, options: Any, undo: list[Callable[[], object]], rank: int = 0) -> None:
    """Puts ranges around the module's calls; `undo` gets what takes them away."""
    attribute = _COMPILED if module._compiled_call_impl is not None else _FORWARD
    if attribute == _FORWARD and isinstance(module, options.torch.jit.ScriptModule):
        return  # it has no forward in Python
    undo.append(
        attributes.put(
            module, attribute, options.kind, rank, lambda before: _annotated(before, options)
        )
    )


def _annotated(target: Any, options: _Options) -> Any:
    """`target`, a module's `forward`, with its ranges."""
    function = target.__func__ if type(target) is MethodType else target
    plain = type(function) is FunctionType and not _core._decorated.is_decorated(function)
    suspends = isinstance(function, FunctionType) and function.__code__.co_flags & _SUSPENDING
    if not options.backward or suspends:
        decorated = options.annotation(target)
    elif (
        isinstance(function, FunctionType)
        and plain
        and options.forward
        and not options.annotation.device
    ):
        decorated = _with_backward(function, options)
        if type(target) is MethodType:
            decorated = MethodType(decorated, target.__self__)
    else:
        calling = _calling(target, options)
        decorated = options.annotation(calling) if options.forward else calling
    return decorated


def _calling(target: Any, options: _Options) -> Callable[..., Any]:
    """Calls `target` and follows the backward pass of what it returns; may be traced."""
    compiling = options.torch.compiler.is_compiling
    following = _backward.following(target, options)

    @functools.wraps(target)
    def call(*args: Any, **kwargs: Any) -> Any:
        if compiling():
            return target(*args, **kwargs)
        return following(*args, **kwargs)

    return call


@functools.cache
def _passing_on(free_variables: int) -> CodeType:
    """Code that hands its arguments to the keyword `__nvspan__`, with so many free variables."""
    return compiled_body(
        "def forward(*args, __nvspan__, **kwargs)",
        ["return __nvspan__(*args, **kwargs)"],
        free_variables,
    )


def _with_backward(function: FunctionType, options: _Options) -> Any:
    """A decorated function that follows the backward pass too, while something listens.

    A decorated function's generated body calls the function that was decorated. That one gets other
    code here, and the code that runs while nothing listens stays that of the original.
    """
    passed = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    passed.__kwdefaults__ = dict(function.__kwdefaults__ or {})
    functools.update_wrapper(passed, function)
    decorated: Any = options.annotation(passed)
    passed.__code__ = _passing_on(len(function.__code__.co_freevars))
    passed.__kwdefaults__ = {"__nvspan__": _backward.following(function, options)}
    decorated.__wrapped__ = function
    decorated._nvspan_passed = passed  # the generated body knows it by a weak reference
    passed._nvspan_original = function  # type: ignore[attr-defined]  # what torch.compile traces
    return decorated
