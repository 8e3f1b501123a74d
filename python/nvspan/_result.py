# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The base of results: classes whose annotated fields are set once, by C++ or the constructor."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, ClassVar, TypeVar

    from typing_extensions import Self, dataclass_transform

    Other = TypeVar("Other", bound="Result")
    Keyed = Mapping[str, Any]
else:
    Keyed = Mapping

    def dataclass_transform(**_):
        return lambda decorated: decorated


@dataclass_transform(frozen_default=True)
class Fields(ABCMeta):
    """Makes a slot of each annotation of a class."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> Fields:
        types: dict[str, str] = {}
        for base in bases:
            types.update(getattr(base, "_types", {}))
        own: dict[str, str] = body.get("__annotations__", {})  # type: ignore[assignment]
        body["__slots__"] = tuple(field for field in own if field not in types)
        body["_types"] = types = {**types, **own}
        body["__match_args__"] = tuple(types)
        return super().__new__(cls, name, bases, body)


class Result(metaclass=Fields):
    """An immutable row or record, compared, hashed and pickled by its fields."""

    if TYPE_CHECKING:
        _types: ClassVar[dict[str, str]]
    else:

        def __init__(self, /, *values, **named):
            given = {**dict(zip(self._types, values, strict=False)), **named}
            if len(values) + len(named) != len(self._types) or given.keys() != self._types.keys():
                raise TypeError(f"{type(self).__name__}() takes {', '.join(self._types)}")
            for name, value in given.items():
                object.__setattr__(self, name, value)

        def __setattr__(self, name, value):
            raise AttributeError(f"{type(self).__name__}.{name} cannot be set")

        def __delattr__(self, name):
            raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted")

    def _values(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self._types])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result) or type(self) is not type(other):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._types)
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._values()

    def into(self, cls: type[Other], /, **fields: object) -> Other:
        """A `cls` with these `fields`, and those of this result that it has as well."""
        own = {name: getattr(self, name) for name in self._types if name in cls._types}
        return cls(**{**own, **fields})

    def replace(self, /, **changes: object) -> Self:
        """A copy with other values for some fields."""
        return self.into(type(self), **changes)

    def as_dict(self) -> dict[str, object]:
        """The fields by name, with results inside them as dicts: what ``--json`` prints."""
        return {name: plain(getattr(self, name)) for name in self._types}


class Row(Result, Keyed):
    """A result that is a mapping as well: ``row["calls"]`` is ``row.calls``."""

    def __getitem__(self, key: str) -> Any:
        if key not in self._types:
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)


def plain(value: object) -> object:
    """`value` with dicts in place of results."""
    if isinstance(value, Result):
        return value.as_dict()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value
