# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorated generators behave as the bare ones, step by step.

Every body is driven through every short sequence of operations, bare and decorated, and all that
can be observed is compared: what comes out, exceptions and their chains, the state afterwards.
"""

from __future__ import annotations

import inspect
import sys
import types
import warnings
import weakref

import pytest

import nvspan
from helpers.length import length
from helpers.listening import STATES, listening
from helpers.stepping import Boom, compare, described, outcome, sequences

pytestmark = pytest.mark.parametrize("state", STATES)


def plain(log):
    log.append((yield 1))
    log.append((yield 2))
    return "done"


def catching(log):
    while True:
        try:
            log.append((yield "waiting"))
        except Boom as error:
            log.append(described(error))


def finishing(log):
    try:
        yield 1
        yield 2
    finally:
        log.append(("finally", described(sys.exc_info()[1])))


RETURNING_IN_FINALLY = """
def returning_in_finally(log):
    try:
        yield 1
    finally:
        return "from finally"
"""
with warnings.catch_warnings():
    warnings.simplefilter("ignore", SyntaxWarning)  # CPython 3.14 and newer
    made: dict = {}
    exec(compile(RETURNING_IN_FINALLY, __file__, "exec"), made)
returning_in_finally = made["returning_in_finally"]


def returning_on_exit(log):
    try:
        yield 1
        yield 2
    except GeneratorExit:
        return "left"


def yielding_on_exit(log):
    for _ in range(2):
        try:
            yield 1
        except GeneratorExit:
            log.append("refused")
            yield "not yet"


def translating(log):
    try:
        yield 1
    except Boom as error:
        raise KeyError("translated") from error
    except GeneratorExit as error:
        raise ValueError("instead of exit") from error


def raising_later(log):
    try:
        yield 1
    except Boom:
        pass
    yield 2
    raise LookupError("no context of Boom")


def within_handler(log):
    try:
        raise KeyError("outer")
    except KeyError:
        log.append(described(sys.exc_info()[1]))
        yield 1
        log.append(described(sys.exc_info()[1]))
        yield 2


def delegating(log):
    result = yield from plain(log)
    log.append(result)
    yield from iter("ab")
    return (result, StopIteration(3).value)


def returning_tuple(log):
    yield 1
    return (1, 2)


def returning_stop(log):
    yield 1
    return StopIteration("value")


def raising_stop(log):
    yield 1
    raise StopIteration("inside")


def reentering(log):
    me = log.me
    yield 1
    try:
        next(me)
    except ValueError as error:
        log.append(str(error))
    yield 2


def empty(log):
    return
    yield


GENERATORS = [
    plain, catching, finishing, returning_in_finally, returning_on_exit, yielding_on_exit,
    translating, raising_later, within_handler, delegating, returning_tuple, returning_stop,
    raising_stop, empty,
]  # fmt: skip


def generator_state(generator):
    return (
        inspect.isgenerator(generator),
        inspect.getgeneratorstate(generator),
        generator.gi_running,
        generator.gi_frame is None,
        generator.__name__,
        generator.__qualname__,
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", [None, "span"])
@pytest.mark.parametrize("body", GENERATORS, ids=lambda body: body.__name__)
def test_generator(state, body, kind):
    decorated = nvspan.annotate(kind=kind)(body)
    with listening(state) as trace:
        for operations in sequences(length(4, 3)):
            compare(body, decorated, operations, generator_state)
    assert trace.balanced()


class Log(list):
    me = None


def test_generator_that_resumes_itself(state):
    decorated = nvspan.annotate(reentering)
    with listening(state) as trace:
        logs = []
        for function in (reentering, decorated):
            log = Log()
            log.me = function(log)
            log.append(list(log.me))
            logs.append(log)
    assert logs[0] == logs[1]
    assert trace.balanced()


def test_generator_not_started_runs_nothing(state):
    def body():
        ran.append(1)
        yield

    ran = []
    decorated = nvspan.annotate(body)
    with listening(state) as trace:
        generator = decorated()
        generator.close()
        del generator
        decorated()
    assert ran == []
    assert trace.calls("kind") == []


def test_generator_keeps_no_value_alive(state):
    class Value:
        pass

    def body():
        received = yield Value()
        received = weakref.ref(received)
        yield received

    def observe(function):
        generator = function()
        first = weakref.ref(next(generator))
        dead_while_suspended = first() is None
        second = generator.send(Value())
        return dead_while_suspended, second() is None

    with listening(state):
        assert observe(nvspan.annotate(body)) == observe(body) == (True, True)


def test_traceback_of_an_exception_that_was_thrown_in(state):
    def body():
        yield

    def names(function):
        generator = function()
        next(generator)
        try:
            generator.throw(Boom())
        except Boom as error:
            traceback = error.__traceback__
        found = []
        while traceback is not None:
            found.append(traceback.tb_frame.f_code.co_name)
            traceback = traceback.tb_next
        return found

    with listening(state):
        extra = ["body"] if state == "active" else []
        assert names(nvspan.annotate(body)) == [*names(body), *extra]


def test_recursive_generators(state):
    @nvspan.annotate
    def walk(depth):
        if depth:
            yield from walk(depth - 1)
        yield depth

    with listening(state) as trace:
        assert list(walk(50)) == list(range(51))
    assert trace.balanced()


def test_generator_based_coroutine(state):
    @nvspan.annotate
    @types.coroutine
    def inside():
        return (yield "suspended")

    @types.coroutine
    @nvspan.annotate
    def outside():
        return (yield "suspended")

    with listening(state) as trace:
        for function in (inside, outside):
            assert inspect.isawaitable(function())

            async def main(function=function):
                return await function()

            coroutine = main()
            assert coroutine.send(None) == "suspended"
            assert outcome(lambda c=coroutine: c.send(3)) == ("returned", 3)
    assert trace.balanced()
