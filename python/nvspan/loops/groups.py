# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names of ranges as groups: the numbered names of a loop's rounds are one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nvspan.loops.vocabulary import (
    COUNTER_WORDS,
    LAYER_WORDS,
    STRUCTURE_WORDS,
    is_evaluation,
    is_function,
    is_wait,
    snake,
    words_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from nvspan._results.loops import LoopName

NO_NAME = "(no name)"
CUDA_CALLS = "CUDA API"  # the domain of calls of CUDA, which are parts of other ranges
MODULES = "torch"  # the domain of modules, whose numbers are their places
STEP = (MODULES, "step")  # as nvspan.step and nvspan.torch.auto call it
# Traits, as src/reader/loops/ranges.hpp has them.
WAIT, PROFILE, EVALUATES, GIVEN, MARKED = 1, 2, 4, 8, 16

# Counts and hexadecimal ids, but not the 4 of "conv4x" or of "v1.4".
NUMBER = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{6,}\b"
    r"|(?<![0-9.])\d+(?![0-9.]*[a-zA-Z])"
)
_MANY_ITEMS = 100
_AROUND_NUMBER = re.compile(r"[\s_#:\-.\[\]()/=,]*(#|\bof\b)[\s_#:\-.\[\]()/=,]*")


@dataclass(frozen=True)
class Group:
    """Ranges that are called alike.

    Attributes:
        label: their name; of numbered names what is before the number.
        domain: their domain; None: the default one.
        first: the first of their names, or the pattern that was given.
        is_numbered: whether it is of numbered names.
        traits: WAIT, PROFILE, EVALUATES, GIVEN, MARKED.
    """

    label: str
    domain: str | None
    first: str
    is_numbered: bool
    traits: int

    @property
    def pattern(self) -> str:
        """The pattern that takes them, as ``--step`` has it."""
        if self.traits & GIVEN:
            return self.first
        parts = NUMBER.split(self.first) if self.is_numbered else [self.first]
        text = "*".join(re.sub(r"([*?[])", r"[\1]", part) for part in parts)
        return f"{self.domain}:{text}" if self.domain else text


def group_names(
    names: Sequence[LoopName], given: Set[tuple[int, int]] = frozenset(), pattern: str = ""
) -> tuple[list[Group], list[int]]:
    """The groups, and the group of each of the names; those of the pairs `given` are one group."""
    rounds = _rounds(names)
    numbered_keys = {(names[index].domain, label) for index, label in rounds.items()}
    places: dict[tuple[str | None, str], int] = {}
    groups: list[Group] = []
    of_names = []
    for index, entry in enumerate(names):
        name = NO_NAME if entry.name is None else entry.name
        is_given = entry.pair in given
        key = (pattern, "") if is_given else (entry.domain, rounds.get(index, name))
        place = places.setdefault(key, len(groups))
        if place == len(groups):
            if is_given:
                one = len(given) == 1
                label, domain = (name, entry.domain) if one else (pattern, None)
                groups.append(Group(label, domain, pattern, False, GIVEN))
            else:
                label = key[1]
                numbered = key in numbered_keys
                traits = (
                    WAIT * is_wait(label)
                    | PROFILE * is_function(entry.domain, label)
                    | EVALUATES * is_evaluation(label)
                    | MARKED * ((entry.domain, label) == STEP)
                )
                groups.append(Group(label, entry.domain, name, numbered, traits))
        of_names.append(place)
    return groups, of_names


def _rounds(names: Sequence[LoopName]) -> dict[int, str]:
    """The names whose numbers count rounds, without the number: iteration12, "Epoch 3/10"."""
    families: dict[tuple[str | None, str], list[int]] = {}
    for index, entry in enumerate(names):
        name = entry.name
        if name is None or entry.domain == MODULES or is_function(entry.domain, name):
            continue
        if NUMBER.search(name):
            families.setdefault((entry.domain, NUMBER.sub("#", name)), []).append(index)
    found: dict[int, str] = {}
    for (_, family), members in families.items():
        base = _AROUND_NUMBER.sub(" ", family).strip(" _-:.#/=[(")
        word = snake(base)
        counts_rounds = word in COUNTER_WORDS or word.rpartition("_")[2] in COUNTER_WORDS
        if not counts_rounds:
            calls = sum(names[index].ranges for index in members) / len(members)
            words = words_in(base)
            # "read_block 7" occurs once in a run, the "encoder_block 7" of a model in each step;
            # and a model that is called once has not so many blocks as a chain has.
            is_once = calls == 1 and bool(words) and words[-1] in LAYER_WORDS
            is_item = is_once and (len(words) > 1 or len(members) >= _MANY_ITEMS)
            is_part = not is_item and any(each in STRUCTURE_WORDS for each in words)
            if len(members) < 3 or is_part or calls > max(2, len(members) / 2):
                continue
        elif len(members) < 2:
            continue
        found.update(dict.fromkeys(members, base or "#"))
    return found
