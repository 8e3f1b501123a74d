# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Process groups as ranges show them: an id that all ranks agree on, and a number for each call."""

from __future__ import annotations

import weakref
from hashlib import blake2b

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from typing import Any

DOMAIN = "torch.distributed"

_counts: dict[int, int] = {}  # by group id: the collectives so far


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


def payload_of(distributed: Any, group: Any, **fields: int) -> dict[str, int]:
    """The payload of the next collective of a group, which is counted by this."""
    _, of = group_of(distributed, group)
    number = _counts.get(of.id, 0)
    _counts[of.id] = number + 1
    return {
        "group": of.id, "seq": number, "size": of.size, "rank": of.rank, "queued": of.queued,
        **fields,
    }  # fmt: skip
