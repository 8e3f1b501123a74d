# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The syntax of triggers: ``slow:step>3; stall:30s; keep:5``."""

from __future__ import annotations

import fnmatch
import signal
from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

SLOW, STALL, KILLED = range(3)  # TriggerKind in src/reader/watch/judge.hpp
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass
class Triggers:
    """When a bundle is written, and what is kept.

    Attributes:
        rules: (kind, pattern of a range, number) of each, as the watcher takes them.
        signals: numbers of signals.
        exception: whether an exception that ends the program is a trigger.
        last: how many seconds a bundle holds.
        every: the least seconds between two bundles that were not requested.
        keep: how many bundles a folder holds at most.
        env: patterns of the environment variables that go into a bundle.
    """

    rules: list[tuple[int, str, float]] = field(default_factory=list)
    signals: list[int] = field(default_factory=list)
    exception: bool = False
    last: float = 30.0
    every: float = 60.0
    keep: int = 10
    env: list[str] = field(default_factory=list)

    @property
    def watches(self) -> bool:
        """Whether there is anything to watch for."""
        return bool(self.rules or self.signals or self.exception)

    def inner(self) -> str:
        """The text of what can be seen only from inside the process."""
        parts = [f"signal:{number}" for number in self.signals]
        parts += ["exception"] if self.exception else []
        parts += [f"last:{self.last}s", f"every:{self.every}s", f"keep:{self.keep}"]
        parts += [f"env:{','.join(self.env)}"] if self.env else []
        return "; ".join(parts)


def seconds(text: str) -> float:
    """A time as ``30s``, ``200ms``, ``5min``.

    Raises:
        ValueError: it is none.
    """
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = text[len(number) :]
    try:
        value = float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        raise ValueError(f"must be a time such as 30s, 200ms or 5min, not {text!r}") from None
    if not 0 < value < 1e9:
        raise ValueError(f"must be a time above 0, not {text!r}")
    return value


def _signal(text: str) -> list[int]:
    name = text.upper()
    known = {each.name: each.value for each in signal.Signals}
    number = known.get(name, known.get(f"SIG{name}"))
    if number is None and text.isdigit() and int(text) in known.values():
        number = int(text)
    if number is None:
        raise ValueError(f"must be a signal such as USR2, not {text!r}")
    if number in (signal.SIGKILL, signal.SIGSTOP):
        raise ValueError(f"{text} cannot be caught by a process; killed is a separate trigger")
    if number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL):
        raise ValueError(f"{text} ends the process before anything is written; use killed")
    return [int(number)]


def _slow(text: str) -> list[tuple[int, str, float]]:
    name, sign, factor = text.rpartition(">")
    if not sign or not name:
        raise ValueError("needs a range and a factor, as in slow:step>3")
    try:
        value = float(factor)
    except ValueError:
        value = 0.0
    if not 1 <= value < 1e6:
        raise ValueError(f"needs a factor of 1 or more after '>', not {factor.strip()!r}")
    return [(SLOW, name.strip(), value)]


def _count(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise ValueError(f"must be a number above 0, not {text!r}")
    return int(text)


# word: how it is written, the attribute of Triggers, and what reads its value; lists are added up
_WORDS: dict[str, tuple[str, str, Callable[[str], Any]]] = {
    "slow": ("slow:RANGE>FACTOR", "rules", _slow),
    "stall": ("stall:TIME", "rules", lambda text: [(STALL, "", seconds(text))]),
    "killed": ("killed", "rules", lambda _: [(KILLED, "", 0.0)]),
    "signal": ("signal:NAME", "signals", _signal),
    "exception": ("exception", "exception", lambda _: True),
    "last": ("last:TIME", "last", seconds),
    "every": ("every:TIME", "every", seconds),
    "keep": ("keep:COUNT", "keep", _count),
    "env": ("env:NAMES", "env", lambda text: [*filter(None, map(str.strip, text.split(",")))]),
}


def _add(triggers: Triggers, word: str, value: str, has_value: bool) -> None:
    if word == "change":
        raise ValueError(
            f"changes are not watched for; write slow:{value or '*'}>2 for calls that take longer "
            "than twice the p99"
        )
    if word not in _WORDS:
        raise ValueError(f"is none of {', '.join(form for form, *_ in _WORDS.values())}")
    form, name, read = _WORDS[word]
    if has_value and form == word:
        raise ValueError("takes no value")
    found, before = read(value), getattr(triggers, name)
    setattr(triggers, name, before + found if isinstance(before, list) else found)


def parse(texts: str | Iterable[str]) -> Triggers:
    """The triggers in a text, or in several, separated by semicolons.

    Raises:
        ValueError: one of them is not valid; the text names it and what is wrong.

    >>> parse("slow:step>3; stall:30s").rules
    [(0, 'step', 3.0), (1, '', 30.0)]
    """
    triggers = Triggers()
    for text in [texts] if isinstance(texts, str) else texts:
        for part in text.split(";"):
            word, colon, value = part.strip().partition(":")
            if not word and not colon:
                continue
            try:
                _add(triggers, word.strip(), value.strip(), bool(colon))
            except ValueError as error:
                raise ValueError(f"trigger {part.strip()!r}: {error}") from None
    return triggers


def chosen(triggers: Triggers, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of `environment` that a bundle gets."""
    return {
        name: value
        for name, value in sorted(environment.items())
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in triggers.env)
    }
