# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a training loop waits for the batch that is being fetched, by the frames that called.

Before the first step nothing else tells a training loop's fetch from that of an evaluation, or of a
look at the data.
"""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from inspect import CO_OPTIMIZED
from operator import attrgetter
from types import GeneratorType

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, FrameType
    from typing import Any

_DEPTH = 16  # frames: Lightning's loop is the tenth

# Functions of frameworks that fetch what they train on: where their `self` has its optimizers.
_FRAMEWORKS = {
    ("lightning.pytorch.loops.training_epoch_loop", "advance"): attrgetter("trainer.optimizers"),
    ("pytorch_lightning.loops.training_epoch_loop", "advance"): attrgetter("trainer.optimizers"),
    ("transformers.trainer", "get_batch_samples"): attrgetter("optimizer"),
}
_GETATTRIBUTE: Any = object.__getattribute__
_SNAPSHOTS = {"locals", "vars", "dir", "exec", "eval"}  # may give a frame's f_locals to its code


def waits(optimizers: Iterable[Any]) -> bool:
    """Whether the fetch is for a `for` whose body names an optimizer, or for a framework's loop.

    A generator's `for` that yields hands batches on; any other `for` is the one that waits.
    """
    wanted = {id(each) for each in optimizers}
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_DEPTH):
        if frame is None:
            break
        code = frame.f_code
        of_framework = _FRAMEWORKS.get((frame.f_globals.get("__name__", ""), code.co_name))
        try:
            if of_framework is not None:
                return _is_among(of_framework(_variables(frame, {"self"})["self"]), wanted)
            at = _instruction(frame)
            if dis.opname[code.co_code[at]] == "FOR_ITER":
                names, yields = _body(code, at)
                values = list(_variables(frame, names).values())
                if _is_among([*values, *_attributes(values, names)], wanted):
                    return True
                if not yields:
                    break
        except Exception:
            break  # another version of the framework, or an object that cannot be looked into
        frame = frame.f_back
    return False


def waits_by_hand(optimizers: Iterable[Any], iterator: Any) -> bool:
    """Whether the fetch is a call of ``next`` within a loop that trains.

    That is a loop that calls ``step`` of an optimizer; or one that names an optimizer and keeps the
    iterator, or a generator that goes over it, from one round to the next.
    """
    wanted = {id(each) for each in optimizers}
    below: FrameType | None = None
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_DEPTH):
        if frame is None:
            break
        code = frame.f_code
        try:
            if dis.opname[code.co_code[_instruction(frame)]] == "FOR_ITER":
                if not _body(code, _instruction(frame))[1]:
                    break
            else:
                for names, stepped in _loops_around(code, frame.f_lasti):
                    values = _variables(frame, names)
                    found = [*values.values(), *_attributes(list(values.values()), names)]
                    if not _is_among(found, wanted):
                        continue
                    steps = [values[name] for name in stepped if name in values]
                    if _is_among([*steps, *_attributes(list(values.values()), stepped)], wanted):
                        return True
                    return any(each is iterator or _runs(each, below) for each in found)
        except Exception:
            break  # an object that cannot be looked into
        below, frame = frame, frame.f_back
    return False


def _runs(value: Any, frame: FrameType | None) -> bool:
    """Whether it is the generator of the frame."""
    return frame is not None and type(value) is GeneratorType and value.gi_frame is frame


def _instruction(frame: FrameType) -> int:
    """The offset of what the frame executes."""
    at = frame.f_lasti
    while at > 0 and frame.f_code.co_code[at] == 0:
        at -= 2  # before a generator that it inlines, 3.12 stands at the cache's last entry
    return at


def is_prepared() -> bool:
    """Whether it is a loader of Accelerate's that fetches."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_DEPTH):
        if frame is None:
            break
        if frame.f_globals.get("__name__") == "accelerate.data_loader":
            return True
        frame = frame.f_back
    return False


@lru_cache(maxsize=16)
def _body(code: CodeType, start: int) -> tuple[frozenset[str], bool]:
    """The names that the body of a `for` loads, and whether it yields."""
    names: set[str] = set()
    yields, end = False, 0
    for each in dis.get_instructions(code):
        if each.offset == start:
            end = each.argval
        elif start < each.offset < end:
            yields = yields or each.opname == "YIELD_VALUE"
            names.update(_loaded(each))
    return frozenset(names), yields


def _loaded(instruction: dis.Instruction) -> tuple[str, ...]:
    """The names that an instruction loads."""
    if "LOAD_" not in instruction.opname or instruction.opname == "LOAD_CONST":
        return ()
    value = instruction.argval
    found = value if isinstance(value, tuple) else (value,)
    return tuple(name for name in found if isinstance(name, str))


@lru_cache(maxsize=16)
def _loops_around(code: CodeType, at: int) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Of each loop around an instruction, the innermost first: the names that it loads outside of
    the other loops within it, and those of which it loads ``step``.
    """
    instructions = list(dis.get_instructions(code))
    ends: dict[int, int] = {}  # of each loop, by its begin
    for each in instructions:
        is_jump = each.opcode in dis.hasjrel or each.opcode in dis.hasjabs
        if is_jump and each.argval < each.offset and "NO_INTERRUPT" not in each.opname:
            ends[each.argval] = max(ends.get(each.argval, 0), each.offset)
    loops = sorted(ends.items(), key=lambda loop: loop[1] - loop[0])
    around = [loop for loop in loops if loop[0] <= at <= loop[1]]
    others = [loop for loop in loops if loop not in around]
    found = []
    for begin, end in around:
        inner = [loop for loop in others if begin <= loop[0] and loop[1] <= end]
        names: set[str] = set()
        stepped: set[str] = set()
        latest: tuple[str, ...] = ()
        for each in instructions:
            if not begin <= each.offset <= end:
                continue
            if any(first <= each.offset <= last for first, last in inner):
                continue
            loaded = _loaded(each)
            if loaded == ("step",) and latest:
                stepped.add(latest[-1])
            names.update(loaded)
            latest = loaded
        found.append((frozenset(names), frozenset(stepped)))
    return found


@lru_cache(maxsize=16)
def _may_have_snapshot(code: CodeType) -> bool:
    return not _SNAPSHOTS.isdisjoint(code.co_names) and any(
        each.opname == "LOAD_GLOBAL" and each.argval in _SNAPSHOTS
        for each in dis.get_instructions(code)
    )


def _variables(frame: FrameType, names: Iterable[str]) -> dict[str, Any]:
    found = {name: frame.f_globals[name] for name in names if name in frame.f_globals}
    is_snapshot = sys.version_info < (3, 13) and bool(frame.f_code.co_flags & CO_OPTIMIZED)
    if is_snapshot and _may_have_snapshot(frame.f_code):
        return found  # to read f_locals would change the dictionary that the program may have
    values = frame.f_locals
    found.update({name: values[name] for name in names if name in values})
    if is_snapshot:
        values.clear()  # the frame keeps it, and it would keep the values alive
    return found


def _own(value: Any) -> dict[str, Any]:
    """The object's dictionary, without a call of what the program wrote."""
    kind = type(value)
    plain = kind.__dictoffset__ and kind.__getattribute__ is _GETATTRIBUTE
    return vars(value) if plain else {}


def _attributes(values: list[Any], names: Iterable[str]) -> list[Any]:
    return [_own(each)[name] for each in values for name in names if name in _own(each)]


def _is_among(value: Any, wanted: set[int]) -> bool:
    """Whether it is one of the optimizers, wraps one, or is a list with one."""
    if type(value) in (list, tuple):
        return any(_is_among(each, wanted) for each in value)
    if id(value) in wanted:
        return True
    is_optimizer = hasattr(type(value), "step") and hasattr(type(value), "zero_grad")
    return is_optimizer and any(id(each) in wanted for each in _own(value).values())
