# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Process groups as ranges show them: an id that all ranks agree on, and a number for each call."""

from __future__ import annotations

import weakref
from hashlib import blake2b

from nvspan.torch._loop.run_delay import run_delay

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from typing import Any

DOMAIN = "torch.distributed"

_counts: dict[int, int] = {}  # by group id: the collectives so far that a tool has seen
_sent: dict[int, int] = {}  # the same of sends and receives, which not all ranks take part in
_FIRST_SENT = 1 << 40  # their numbers are no collective's
# Those that no tool has seen. They count too: a tool may come to one rank before another.
UNSEEN_OF_ALL = [0]  # of the group that is meant where none is given
_unseen: dict[int, tuple[Any, list[int]]] = {}  # by id of a group that is there: it, and how many


class _Group:
    """What a range says of a process group."""

    __slots__ = ("id", "queued", "rank", "size")

    def __init__(self, distributed: Any, group: Any) -> None:
        ranks = distributed.get_process_group_ranks(group)
        name = f"{getattr(group, 'group_name', '')} {ranks}"
        self.id = int.from_bytes(blake2b(name.encode(), digest_size=7).digest(), "little")
        self.size = group.size()
        self.rank = group.rank()
        # Its calls return before the ranks have met: the GPU does that.
        self.queued = int("nccl" in str(distributed.get_backend(group)))


_groups: weakref.WeakKeyDictionary[Any, _Group] = weakref.WeakKeyDictionary()


def group_of(distributed: Any, group: Any) -> tuple[Any, _Group]:
    if group is None:
        group = distributed.group.WORLD
    known = _groups.get(group)
    if known is None:
        known = _groups[group] = _Group(distributed, group)
    return group, known


def count_unseen(group: Any) -> None:
    """Counts a collective of a group, or of the default one, that has no range."""
    if group is None:
        UNSEEN_OF_ALL[0] += 1
        return
    key = id(group)
    found = _unseen.get(key)
    if found is None:
        try:
            reference = weakref.ref(group, lambda _: _unseen.pop(key, None))
        except TypeError:  # torch will say what is wrong
            return
        found = _unseen[key] = (reference, [0])
    found[1][0] += 1


def _number(distributed: Any, group: Any, of: _Group, pair: bool) -> int:
    if pair:
        number = _sent.get(of.id, _FIRST_SENT)
        _sent[of.id] = number + 1
        return number
    number = _counts.get(of.id, 0)
    found = _unseen.pop(id(group), None)
    if found is not None:
        number += found[1][0]
    if UNSEEN_OF_ALL[0] and group is distributed.group.WORLD:
        number += UNSEEN_OF_ALL[0]
        UNSEEN_OF_ALL[0] = 0
    _counts[of.id] = number + 1
    return number


def payload_of(distributed: Any, group: Any, pair: bool = False, **fields: int) -> dict[str, int]:
    """The payload of the next collective of a group, which is counted by this.

    `pair`: a send or receive, which the other ranks know nothing of.
    """
    group, of = group_of(distributed, group)
    number = _number(distributed, group, of, pair)
    payload = {
        "group": of.id, "seq": number, "size": of.size, "rank": of.rank, "queued": of.queued,
        **fields,
    }  # fmt: skip
    # Who only queues what a GPU does is no later for want of a core.
    delayed = None if of.queued else run_delay()
    if delayed is not None:
        payload["delayed"] = delayed
    return payload
