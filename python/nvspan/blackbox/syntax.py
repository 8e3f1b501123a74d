# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Triggers as they are written: ``slow:step>3; stall:30s; keep:5``."""

from __future__ import annotations

import fnmatch
import signal
from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SLOW, STALL, KILLED = range(3)  # TriggerKind in src/reader/watch/judge.hpp
WATCHED = ("slow", "stall", "killed")  # kinds that nobody asks for
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_WORDS = (
    "slow:RANGE>FACTOR, stall:TIME, killed, signal:NAME, exception, last:TIME, every:TIME, "
    "keep:COUNT, env:NAMES"
)


@dataclass
class Triggers:
    """What is watched for, and what becomes of it.

    Attributes:
        rules: (kind, pattern of a range, number) of each, as the watcher takes them.
        signals: numbers of signals.
        exception: an exception that ends the program is one.
        last: how many seconds a bundle holds.
        every: the seconds between two bundles that nobody asked for.
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
        """As text, without what can be seen from outside the process."""
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


def _signal(text: str) -> int:
    name = text.upper()
    known = {each.name: each.value for each in signal.Signals}
    number = known.get(name, known.get(f"SIG{name}"))
    if number is None and text.isdigit() and int(text) in known.values():
        number = int(text)
    if number is None:
        raise ValueError(f"must be a signal such as USR2, not {text!r}")
    if number in (signal.SIGKILL, signal.SIGSTOP):
        raise ValueError(f"{text} cannot be caught by a process; killed is a trigger of its own")
    if number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL):
        raise ValueError(f"{text} ends the process before anything is written; use killed")
    return int(number)


def _slow(text: str) -> tuple[int, str, float]:
    name, sign, factor = text.rpartition(">")
    if not sign or not name:
        raise ValueError("needs a range and a factor, as in slow:step>3")
    try:
        value = float(factor)
    except ValueError:
        value = 0.0
    if not 1 <= value < 1e6:
        raise ValueError(f"needs a factor of 1 or more behind '>', not {factor.strip()!r}")
    return SLOW, name.strip(), value


def _add(triggers: Triggers, word: str, value: str, given: bool) -> None:
    if word in ("killed", "exception") and given:
        raise ValueError("takes no value")
    if word == "slow":
        triggers.rules.append(_slow(value))
    elif word == "change":
        raise ValueError(
            f"changes are not watched for; write slow:{value or '*'}>2 for calls that take longer "
            "than twice the p99"
        )
    elif word == "stall":
        triggers.rules.append((STALL, "", seconds(value)))
    elif word == "killed":
        triggers.rules.append((KILLED, "", 0.0))
    elif word == "signal":
        triggers.signals.append(_signal(value))
    elif word == "exception":
        triggers.exception = True
    elif word == "last":
        triggers.last = seconds(value)
    elif word == "every":
        triggers.every = seconds(value)
    elif word == "keep":
        if not value.isdigit() or int(value) == 0:
            raise ValueError(f"must be a number above 0, not {value!r}")
        triggers.keep = int(value)
    elif word == "env":
        triggers.env += [name.strip() for name in value.split(",") if name.strip()]
    else:
        raise ValueError(f"is none of {_WORDS}")


def parse(texts: str | Iterable[str]) -> Triggers:
    """The triggers in a text, or in several; in each they are separated by semicolons.

    Raises:
        ValueError: one of them cannot be understood; it is named, and what is wrong with it.

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
