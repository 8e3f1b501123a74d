# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Roles of fields in structured payloads, and the kinds of events that they make.

>>> import nvspan
>>> nvspan.EntryKind.MESSAGE.name
'MESSAGE'
"""

from __future__ import annotations

from nvspan._runtime.enums import (
    BatchOrdering,
    EntryKind,
    EventKind,
    PayloadEntryType,
    PredefinedScope,
    TimestampType,
)
from nvspan._runtime.semantics import CounterSemantics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

__all__ = [
    "BatchOrdering",
    "EntryKind",
    "EventKind",
    "PayloadEntryType",
    "PredefinedScope",
    "TimestampType",
    "numpy_dtype",
]

METADATA_KEY = "nvidia_nvtx_payload_metadata"
NVTX_DTYPE_METADATA_KEY_NAME = METADATA_KEY  # as nvtx calls it


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
