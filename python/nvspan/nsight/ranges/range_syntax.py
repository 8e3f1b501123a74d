# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Syntax of ncu's range filters: quoting and parsing."""

from __future__ import annotations

import enum
import re
from dataclasses import KW_ONLY, dataclass

REGEX_PREFIX = "regex:"
# What a backslash quotes. Before any other character it is itself, and nothing quotes it (measured
# with ncu 2025.3.1).
SPECIAL = frozenset("@,[]/*+")
# In a regular expression only what separates names is quoted: the rest is the expression's own.
_SEPARATORS = frozenset("@,/")


class Between(enum.Enum):
    """Ranges whose names do not matter, between two others of a stack."""

    ONE = "+"
    ANY = "*"

    def __repr__(self) -> str:
        return f"Between.{self.name}"


@dataclass(frozen=True, slots=True)
class FilterParts:
    """The parts of a filter; `RangeFilter` says what they mean."""

    path: tuple[str | Between, ...]
    domain: str | None = None
    _: KW_ONLY
    span: bool = False
    bottom: bool = False
    top: bool = False
    regex: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the path, without what is between them."""
        return tuple(name for name in self.path if isinstance(name, str))

    @property
    def is_searched(self) -> bool:
        """Whether ncu searches for a regular expression in names; in a path it must match whole
        ones."""
        return self.span or len(self.path) == 1

    def as_regex(self) -> FilterParts:
        """The same filter by regular expressions, with "." for what ncu cannot read in a name."""
        form = "^{}$" if self.is_searched else "{}"
        path = [form.format(exact_regex(i)) if isinstance(i, str) else i for i in self.path]
        domain = None if self.domain is None else f"^{exact_regex(self.domain)}$"
        flags = {"span": self.span, "bottom": self.bottom, "top": self.top}
        return FilterParts(tuple(path), domain, **flags, regex=True)


def _pieces(text: str) -> list[str]:
    """The characters of `text`, each with the backslash before it."""
    return re.findall(r"\\.|.", text, re.DOTALL)


def plain_regex(name: str) -> str:
    """A regular expression without the backslashes that only a filter's text needs."""
    return "".join(
        p[1] if p[0] == "\\" and p[1:] in _SEPARATORS and p[1:] else p for p in _pieces(name)
    )


def exact_regex(name: str) -> str:
    """A regular expression for one name, with "." for what ncu cannot read in it."""
    pieces = []
    for at, char in enumerate(name):
        following = name[at + 1 : at + 2]
        if char == "@" or (char == "\\" and (not following or following in "@,[]/*+\\^$.|?(){}")):
            pieces.append(".")
        else:
            pieces.append(f"\\{char}" if char in "\\^$.|?*+()[]{}" else char)
    return "".join(pieces)


def _quoted(name: str, *, is_regex: bool) -> str:
    if not is_regex:
        return "".join(f"\\{char}" if char in SPECIAL else char for char in name)
    return "".join(f"\\{piece}" if piece in _SEPARATORS else piece for piece in _pieces(name))


def render(parts: FilterParts) -> str:
    """The text that ncu takes."""
    regex, bottom, top = parts.regex, parts.bottom, parts.top
    words = [i.value if isinstance(i, Between) else _quoted(i, is_regex=regex) for i in parts.path]
    is_closed = not parts.span and not (bottom or top) and len(words) == 1
    if regex:
        # A bracket that begins or ends the expression is none of the stack's.
        if words[0][0] == "[" and not bottom:
            words[0] = "/" + words[0]
        if not top and not is_closed and _pieces(words[-1])[-1] == "]":
            words[-1] = words[-1][:-1] + "/]"
    if parts.span:
        body = ",".join(words)
    else:
        body = f"{'[' * bottom}{'/'.join(words)}{']' * top}{'/' * is_closed}"
    domain = "" if parts.domain is None else _quoted(parts.domain, is_regex=regex) + "@"
    return f"{REGEX_PREFIX * regex}{domain}{body}"


def _split(found: list[str], sign: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for piece in found:
        if piece == sign:
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


def _name(found: list[str], text: str, *, is_regex: bool) -> str:
    if is_regex:
        return plain_regex("".join(found))
    for piece in found:
        if piece in SPECIAL:
            raise ValueError(
                f"{piece!r} in {text!r} stands in a name: write '\\{piece}' where the name has it"
                + _patterns(text)
            )
        if piece == "\\\\":
            raise ValueError(
                f"{text!r} has two backslashes in a row: ncu reads a single backslash before an "
                "ordinary character as it is, and has no way to quote one; 'regex:' takes '\\\\'"
            )
        if piece == "\\":
            raise ValueError(f"{text!r} ends with a backslash, which quotes nothing there")
    return "".join(piece[-1] if piece[-1] in SPECIAL else piece for piece in found)


def _patterns(text: str) -> str:
    """What to write where the one name of a filter is meant as a pattern."""
    domain, at, name = text.removesuffix("/").rpartition("@")
    if "*" not in name or SPECIAL & set(domain + name.replace("*", "")):
        return ""
    expression = ".*".join(map(exact_regex, name.split("*")))
    form = render(FilterParts((f"^{expression}$",), span=text[-1] != "/", regex=True))
    within = f"{REGEX_PREFIX}^{exact_regex(domain)}$@" if at else REGEX_PREFIX
    plain = f"{domain}:{name}" if at else name
    return (
        f"; for any text in its place '{plain}', a plain name of 'nvspan ncu', or "
        f"'{within}{form.removeprefix(REGEX_PREFIX)}'"
    )


def _anchors(body: list[str], *, is_regex: bool) -> tuple[list[str], bool, bool]:
    """The body without the brackets around it, and which of them were there."""
    bottom = top = False
    if is_regex and body[:2] == ["/", "["]:
        body = body[1:]
    elif body[:1] == ["["]:
        bottom, body = True, body[1:]
    if is_regex and body[-2:] == ["/", "]"]:
        body = [*body[:-2], "]"]
    elif body[-1:] == ["]"]:
        top, body = True, body[:-1]
    return body, bottom, top


def parse(text: str) -> FilterParts:
    """The parts of the filter that is written in `text`."""
    if not isinstance(text, str):
        raise TypeError(f"text must be str, not {type(text).__name__}")
    regex = text.startswith(REGEX_PREFIX)
    halves = _split(_pieces(text[len(REGEX_PREFIX) :] if regex else text), "@")
    if len(halves) > 2:
        raise ValueError(
            f"{text!r} has more than one '@': ranges of several domains need a filter each, and an "
            "'@' in a name is written '\\@'"
        )

    def name(found: list[str]) -> str:
        return _name(found, text, is_regex=regex)

    domain = name(halves[0]) if len(halves) == 2 else None
    body, bottom, top = _anchors(halves[-1], is_regex=regex)
    names = _split(body, "/")
    if not (bottom or top or len(names) > 1):
        spans = tuple(name(part) for part in _split(body, ","))
        return FilterParts(spans, domain, span=True, regex=regex)
    if "," in body:
        raise ValueError(
            f"{text!r} mixes ',' of start/end ranges with what only push/pop ranges have: write a "
            "filter for each"
        )
    if not names[-1] and not top and len(names) > 1:
        names.pop()  # what a single name of a push/pop range ends with
    signs = {"*": Between.ANY, "+": Between.ONE}
    path = tuple(
        signs[part[0]] if len(part) == 1 and part[0] in signs else name(part) for part in names
    )
    return FilterParts(path, domain, bottom=bottom, top=top, regex=regex)
