# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Roles of fields in structured payloads, and the kinds of events that they make.

>>> import nvspan
>>> nvspan.EntryKind.MESSAGE.name
'MESSAGE'
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enum import Enum as Choice
    from typing import Any

    import numpy as np

    from nvspan.counters import CounterSemantics
else:
    from nvspan._runtime.choice import Choice

METADATA_KEY = "nvidia_nvtx_payload_metadata"
NVTX_DTYPE_METADATA_KEY_NAME = METADATA_KEY  # as nvtx calls it


class EntryKind(Choice):
    """What a field of a structured dtype is for, as ``entry_kind`` of :func:`numpy_dtype`.

    ``RANGE_BEGIN``, ``RANGE_END``, ``MARK``: the time of an event. ``COUNTER_TIMESTAMP``: the time
    of a sample within a counter group. These need a 64-bit integer. ``MESSAGE``: the event's text.
    """

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

    RANGE_ID = 67
    CATEGORY = 68
    COLOR_ARGB = 69
    SCOPE_ID = 70
    REGISTERED_STRING = 80


class EventKind(Choice):
    """What the rows of :meth:`Domain.event_batch` are."""

    MARK = 4 << 3
    RANGE_PUSHPOP = 2 << 3
    RANGE_STARTEND = 3 << 3
    RANGE_PUSH = 5 << 3
    RANGE_POP = 6 << 3
    RANGE_START = 7 << 3
    RANGE_END = 8 << 3


class BatchOrdering(Choice):
    """How the rows of a batch are ordered by time."""

    SORTED = 0
    PARTIALLY_SORTED = 1 << 1
    SORTED_PER_SCOPE = 2 << 1
    UNSORTED = 3 << 1


class PredefinedScope(Choice):
    """Where a counter or an event belongs: the machine, a processor, the process, a thread."""

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


class _PayloadMetadata:
    """What :func:`numpy_dtype` keeps in a dtype's metadata."""

    __slots__ = ("counter_semantics", "entry_kind", "entry_type")

    def __init__(
        self,
        counter_semantics: CounterSemantics | None = None,
        entry_kind: EntryKind | None = None,
        entry_type: PayloadEntryType | None = None,
    ) -> None:
        self.counter_semantics = counter_semantics
        self.entry_kind = entry_kind
        self.entry_type = entry_type

    def _parts(self) -> tuple[object, ...]:
        return self.counter_semantics, self.entry_kind, self.entry_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PayloadMetadata) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"_PayloadMetadata{self._parts()!r}"


def _validate_storage(dtype: np.dtype[Any], role: EntryKind | PayloadEntryType | None) -> None:
    if isinstance(role, EntryKind):
        if role is EntryKind.MESSAGE:
            return
        fits, needs = dtype.kind in "iu" and dtype.itemsize == 8, "64-bit integer storage"
    elif role is not None:
        from struct import calcsize

        size, needs = {
            PayloadEntryType.CATEGORY: (4, "native uint32 storage"),
            PayloadEntryType.COLOR_ARGB: (4, "native uint32 storage"),
            PayloadEntryType.REGISTERED_STRING: (
                calcsize("P"), "native pointer-sized unsigned integer storage",
            ),
        }.get(role, (8, "native uint64 storage"))  # fmt: skip
        fits = dtype.kind == "u" and dtype.itemsize == size and dtype.isnative
    else:
        return
    if not fits:
        raise TypeError(f"{type(role).__name__}.{role.name} requires {needs}; got dtype {dtype}")


def numpy_dtype(
    *args: Any,
    counter_semantics: CounterSemantics | None = None,
    entry_kind: EntryKind | None = None,
    entry_type: PayloadEntryType | None = None,
    **kwargs: Any,
) -> np.dtype[Any]:
    """Return ``numpy.dtype(*args, **kwargs)`` that tells tools what its field is for.

    Args:
        *args: As for ``numpy.dtype``.
        counter_semantics: Unit, limits and interpolation of a field of a counter group.
        entry_kind: The field is an event's time or message.
        entry_type: The field is an id, a category, a color or a registered string.
        **kwargs: As for ``numpy.dtype``.

    Returns:
        The dtype; with none of the three, an ordinary one. A dtype that has a role already keeps
        it, and a :class:`NvspanWarning` says so.

    Raises:
        RuntimeError: numpy is not installed.
        TypeError: A role is of another type, or the dtype has not the storage that it needs.

    >>> import nvspan
    >>> time = nvspan.numpy_dtype("i8", entry_kind=nvspan.EntryKind.MARK)    # doctest: +SKIP
    >>> nvspan.numpy_dtype([("at", time), ("step", "i4")]).names             # doctest: +SKIP
    ('at', 'step')
    """
    try:
        import numpy
    except ImportError:
        raise RuntimeError("numpy_dtype needs numpy: pip install numpy") from None
    from nvspan.counters import CounterSemantics

    for name, value, expected in (
        ("counter_semantics", counter_semantics, CounterSemantics),
        ("entry_kind", entry_kind, EntryKind),
        ("entry_type", entry_type, PayloadEntryType),
    ):
        if value is not None and not isinstance(value, expected):
            raise TypeError(f"{name} must be a nvspan.{expected.__name__} or None, not {value!r}")
    dtype: np.dtype[Any] = numpy.dtype(*args, **kwargs)
    _validate_storage(dtype, entry_kind)
    _validate_storage(dtype, entry_type)
    if counter_semantics is None and entry_kind is None and entry_type is None:
        return dtype
    metadata = dict(dtype.metadata or {})
    if METADATA_KEY in metadata:
        import warnings

        from nvspan._core import NvspanWarning

        warnings.warn("the dtype already has a role, which is kept", NvspanWarning, stacklevel=2)
        return dtype
    metadata[METADATA_KEY] = _PayloadMetadata(counter_semantics, entry_kind, entry_type)
    dtype = numpy.dtype(dtype, metadata=metadata)
    return dtype
