# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Drives generators and coroutines step by step and writes down all that can be observed."""

from __future__ import annotations

import itertools
import types


class Boom(Exception):
    pass


def described(error, depth=0):
    """The type, text and chain of an exception."""
    if error is None or depth > 4:
        return None
    return (
        type(error).__name__,
        str(error),
        described(error.__cause__, depth + 1),
        described(error.__context__, depth + 1),
        error.__suppress_context__,
    )


def outcome(call):
    try:
        return ("yielded", call())
    except StopIteration as stop:
        value = stop.value
        return ("returned", described(value) if isinstance(value, BaseException) else value)
    except BaseException as error:
        return ("raised", described(error))


OPERATIONS = {
    "next": lambda it: it.send(None),
    "send": lambda it: it.send("sent"),
    "throw": lambda it: it.throw(Boom("thrown")),
    "throw class": lambda it: it.throw(Boom),
    "exit": lambda it: it.throw(GeneratorExit),
    "stop": lambda it: it.throw(StopIteration("odd")),
    "close": lambda it: ("closed", it.close()),
}


def transcript(make, operations, state_of):
    log = []
    iterator = make(log)
    for name in operations:
        result = outcome(lambda name=name: OPERATIONS[name](iterator))
        log.append((name, result, state_of(iterator)))
    return log, iterator


def sequences(longest):
    for length in range(1, longest + 1):
        yield from itertools.product(OPERATIONS, repeat=length)


def compare(body, decorated, operations, state_of):
    expected, kept = transcript(body, operations, state_of)
    actual, other = transcript(decorated, operations, state_of)
    assert actual == expected, operations
    # What happens when it is dropped half-way.
    expected.clear()
    actual.clear()
    del kept, other
    assert actual == expected, operations


@types.coroutine
def suspend(value):
    """Awaits once: `value` goes out, what is sent in comes back."""
    return (yield value)
