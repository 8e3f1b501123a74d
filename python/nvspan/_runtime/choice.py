# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What :class:`enum.Enum` does for us, at a small part of its cost: ``import nvspan`` makes ten of
these, and most programs use none."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


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
