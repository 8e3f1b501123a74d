# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The closed sets of values that payloads and counters take. Users import them from `nvspan`,
`nvspan.payloads` and `nvspan.counters`, under whose names they are pickled."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import Enum as Choice
    from typing import Any


# What enum.Enum does for us, at a small part of its cost: `import nvspan` makes ten of these, and
# most programs use none.


class _ChoiceType(type):
    _members: dict[str, Any]

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        super().__init__(name, bases, body)
        members = {}
        for key, value in body.items():
            # CPython 3.13 puts __firstlineno__, an int, into the body of a class.
            if isinstance(value, int) and not key.startswith("__"):
                kind: Any = cls
                member: Any = object.__new__(kind)
                member.__dict__.update(name=key, value=value)
                members[key] = member
                type.__setattr__(cls, key, member)
        type.__setattr__(cls, "_members", members)

    def __call__(cls, value: Any) -> Any:
        for member in cls._members.values():
            if value is member or value == member.value:
                return member
        raise ValueError(f"{value!r} is not a valid {cls.__qualname__}")

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls._members.values())

    def __len__(cls) -> int:
        return len(cls._members)

    def __getitem__(cls, name: str) -> Any:
        return cls._members[name]

    def __contains__(cls, value: object) -> bool:
        return any(value is member or value == member.value for member in cls._members.values())

    @property
    def __members__(cls) -> dict[str, Any]:
        return dict(cls._members)

    def __setattr__(cls, name: str, value: Any) -> None:
        if name in cls._members:
            raise AttributeError(f"cannot reassign member {name!r}")
        super().__setattr__(name, value)


if not TYPE_CHECKING:

    class Choice(metaclass=_ChoiceType):
        """A closed set of named ints: each member has ``name`` and ``value`` and is unique."""

        name: str
        value: int

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(f"{self!r} cannot be changed")

        def __repr__(self) -> str:
            return f"<{self!s}: {self.value}>"

        def __str__(self) -> str:
            return f"{type(self).__name__}.{self.name}"

        def __reduce__(self) -> tuple[type, tuple[int]]:
            return type(self), (self.value,)

        def __copy__(self) -> Choice:
            return self

        def __deepcopy__(self, memo: object) -> Choice:
            return self


class EntryKind(Choice):
    """What a field of a structured dtype is for, as ``entry_kind`` of :func:`numpy_dtype`.

    ``RANGE_BEGIN``, ``RANGE_END``, ``MARK``: the time of an event. ``COUNTER_TIMESTAMP``: the time
    of a sample within a counter group. These need a 64-bit integer. ``MESSAGE``: the event's text.
    """

    __module__ = "nvspan.payloads"

    RANGE_BEGIN = 1 << 12 | 2 << 10
    RANGE_END = 2 << 12 | 2 << 10
    MARK = 3 << 12 | 2 << 10
    MESSAGE = 1 << 10
    COUNTER_TIMESTAMP = 2 << 10


class PayloadEntryType(Choice):
    """How a field's number is to be read, as ``entry_type`` of :func:`numpy_dtype`.

    ``RANGE_ID`` and ``SCOPE_ID`` need ``uint64``, ``CATEGORY`` and ``COLOR_ARGB`` ``uint32``,
    ``REGISTERED_STRING`` (a :attr:`RegisteredString.handle`) ``uintp``, in this machine's byte
    order.
    """

    __module__ = "nvspan.payloads"

    RANGE_ID = 67
    CATEGORY = 68
    COLOR_ARGB = 69
    SCOPE_ID = 70
    REGISTERED_STRING = 80


class EventKind(Choice):
    """What the rows of :meth:`Domain.event_batch` are."""

    __module__ = "nvspan.payloads"

    MARK = 4 << 3
    RANGE_PUSHPOP = 2 << 3
    RANGE_STARTEND = 3 << 3
    RANGE_PUSH = 5 << 3
    RANGE_POP = 6 << 3
    RANGE_START = 7 << 3
    RANGE_END = 8 << 3


class BatchOrdering(Choice):
    """How the rows of a batch are ordered by time."""

    __module__ = "nvspan.payloads"

    SORTED = 0
    PARTIALLY_SORTED = 1 << 1
    SORTED_PER_SCOPE = 2 << 1
    UNSORTED = 3 << 1


class PredefinedScope(Choice):
    """Where a counter or an event belongs: the machine, a processor, the process, a thread."""

    __module__ = "nvspan.payloads"

    NONE = 0
    ROOT = 1
    CURRENT_HW_MACHINE = 2
    CURRENT_HW_SOCKET = 3
    CURRENT_HW_CPU_PHYSICAL = 4
    CURRENT_HW_CPU_LOGICAL = 5
    CURRENT_HW_INNERMOST = 15
    CURRENT_HYPERVISOR = 16
    CURRENT_VM = 17
    CURRENT_KERNEL = 18
    CURRENT_CONTAINER = 19
    CURRENT_OS = 20
    CURRENT_SW_PROCESS = 21
    CURRENT_SW_THREAD = 22
    CURRENT_SW_INNERMOST = 31


class TimestampType(Choice):
    """Which clock times are of. ``TOOL_PROVIDED`` is that of :meth:`Domain.get_timestamp`."""

    __module__ = "nvspan.payloads"

    NONE = 0
    TOOL_PROVIDED = 1
    CPU_TSC = 10
    CPU_TSC_NONVIRTUALIZED = 11
    CPU_CLOCK_GETTIME_REALTIME = 12
    CPU_CLOCK_GETTIME_REALTIME_COARSE = 13
    CPU_CLOCK_GETTIME_MONOTONIC = 14
    CPU_CLOCK_GETTIME_MONOTONIC_RAW = 15
    CPU_CLOCK_GETTIME_MONOTONIC_COARSE = 16
    CPU_CLOCK_GETTIME_BOOTTIME = 17
    CPU_CLOCK_GETTIME_PROCESS_CPUTIME_ID = 18
    CPU_CLOCK_GETTIME_THREAD_CPUTIME_ID = 19
    WIN_QPC = 30
    WIN_GSTAFT = 31
    WIN_GSTAFTP = 32
    C_TIME = 40
    C_CLOCK = 41
    C_TIMESPEC_GET = 42
    CPP_STEADY_CLOCK = 50
    CPP_HIGH_RESOLUTION_CLOCK = 51
    CPP_SYSTEM_CLOCK = 52
    CPP_UTC_CLOCK = 53
    CPP_TAI_CLOCK = 54
    CPP_GPS_CLOCK = 55
    CPP_FILE_CLOCK = 56
    GPU_GLOBALTIMER = 80


class CounterNoValueReason(Choice):
    """Why there is no value, for :meth:`Counter.sample_no_value`."""

    __module__ = "nvspan.counters"

    ZERO = 0
    UNCHANGED = 1
    UNAVAILABLE = 2


class CounterValueType(Choice):
    """What a sample is: the value, its change since the last sample, or since the first."""

    __module__ = "nvspan.counters"

    ABSOLUTE = 1 << 4
    DELTA = 2 << 4
    DELTA_SINCE_START = 3 << 4


class CounterInterpolation(Choice):
    """What a counter is between two samples: nothing, the later one's value, the earlier one's, or
    on the line between them."""

    __module__ = "nvspan.counters"

    POINT = 1 << 8
    SINCE_LAST = 2 << 8
    UNTIL_NEXT = 3 << 8
    LINEAR = 4 << 8
