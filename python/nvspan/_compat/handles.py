# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Views of a tool's handles, as code written for ``nvtx`` expects them."""

from __future__ import annotations

import os

from nvspan import _core
from nvspan._core import Domain


class RegisteredString:
    """A message of a domain; made by :meth:`nvspan.Domain.get_registered_string`.

    Attributes:
        string: The message as given.
        domain: The domain's :class:`DomainHandle`.
        handle: The attached tool's handle as an int; 0 with no tool, or past the domain's limit.
    """

    __slots__ = ("_domain", "string")

    def __init__(self, domain: Domain | DomainHandle, string: str | bytes) -> None:
        if isinstance(domain, DomainHandle):
            domain = domain._domain
        if not isinstance(domain, Domain):
            raise TypeError(f"domain must be a Domain or a DomainHandle, not {domain!r}")
        if not isinstance(string, (str, bytes)):
            raise TypeError(f"string must be a str or bytes, not {string!r}")
        self._domain = domain
        self.string = string
        _core.request_message(domain, string)

    @property
    def domain(self) -> DomainHandle:
        return DomainHandle(self._domain)

    @property
    def handle(self) -> int:
        return _core.string_handle(self._domain, self.string)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RegisteredString):
            return NotImplemented
        return self._domain is other._domain and self.string == other.string

    def __hash__(self) -> int:
        return hash((id(self._domain), self.string))

    def __repr__(self) -> str:
        return f"RegisteredString({self._domain.name!r}, {self.string!r})"


class DomainHandle:
    """A domain as the tool knows it.

    >>> import nvspan
    >>> nvspan.get_domain("mylib").handle.name
    'mylib'
    """

    __slots__ = ("_domain",)

    def __init__(self, domain: Domain | str | None = None) -> None:
        self._domain = _core.get_domain(domain)

    @property
    def name(self) -> str:
        """The domain's name; ``""`` for the default domain."""
        return self._domain.name or ""

    def enabled(self) -> bool:
        """Tell whether a tool listens to the domain now."""
        return self._domain._enabled()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DomainHandle) and self._domain is other._domain

    def __hash__(self) -> int:
        return hash(id(self._domain))


class StringHandle:
    """A registered string as the tool knows it: the name that ``nvtx`` has for it."""

    __slots__ = ("_string",)

    def __init__(self, domain: Domain | DomainHandle, string: str | bytes) -> None:
        self._string = RegisteredString(domain, string)

    def __int__(self) -> int:
        return self._string.handle


_most_kept = 4096
_kept: dict[tuple[Domain, str | bytes], RegisteredString] = {}


def registered_string(domain: Domain, string: str | bytes | os.PathLike[str]) -> RegisteredString:
    """For the extension module: one object for each string, while not too many are kept."""
    if isinstance(string, os.PathLike):
        string = os.fspath(string)
    if not isinstance(string, (str, bytes)):
        raise TypeError(f"string must be a str or bytes, not {string!r}")
    found = _kept.get((domain, string))
    if found is None:
        if len(_kept) >= _most_kept:
            _kept.clear()
        found = _kept.setdefault((domain, string), RegisteredString(domain, string))
    return found


def domain_handle(domain: Domain) -> DomainHandle:
    """For the extension module."""
    return DomainHandle(domain)
