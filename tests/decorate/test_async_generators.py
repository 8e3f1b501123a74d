# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorated async generators behave as the bare ones, step by step.

Every body is driven through every short sequence of operations, bare and decorated, and all that
can be observed is compared: what comes out, exceptions and their chains, the state afterwards.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import sys

import pytest

import nvspan
from helpers.listening import STATES, listening
from helpers.stepping import Boom, described, outcome, suspend

pytestmark = pytest.mark.parametrize("state", STATES)


async def a_plain(log):
    log.append((yield 1))
    log.append(await suspend("s1"))
    log.append((yield 2))


async def a_catching(log):
    while True:
        try:
            log.append((yield "waiting"))
            log.append(await suspend("s"))
        except Boom as error:
            log.append(described(error))


async def a_finishing(log):
    try:
        yield 1
        await suspend("s1")
        yield 2
    finally:
        log.append(("finally", described(sys.exc_info()[1])))
        await suspend("cleanup")
        log.append("cleaned")


async def a_yielding_on_exit(log):
    try:
        yield 1
    except GeneratorExit:
        yield "not yet"


async def a_returning_on_exit(log):
    try:
        yield 1
    except GeneratorExit:
        return


async def a_translating(log):
    try:
        yield 1
    except Boom as error:
        raise KeyError("translated") from error


async def a_raising_stop(log):
    yield 1
    raise StopAsyncIteration("inside")


async def a_awaiting_first(log):
    await suspend("s0")
    yield 1


async def a_empty(log):
    return
    yield


ASYNC_GENERATORS = [
    a_plain, a_catching, a_finishing, a_yielding_on_exit, a_returning_on_exit, a_translating,
    a_raising_stop, a_awaiting_first, a_empty,
]  # fmt: skip

AWAITABLES = {
    "anext": lambda ag: ag.__anext__(),
    "asend": lambda ag: ag.asend("sent"),
    "athrow": lambda ag: ag.athrow(Boom("thrown")),
    "aexit": lambda ag: ag.athrow(GeneratorExit),
    "aclose": lambda ag: ag.aclose(),
}

# What is done at a suspension point inside the awaitable.
REACTIONS = ("send", "throw", "exit", "close", "leave")


def drive_awaitable(awaitable, reaction):
    """Runs one awaitable: everything that comes out of it."""
    seen = []
    iterator = awaitable.__await__()
    step = outcome(lambda: iterator.send(None))
    while step[0] == "yielded" and len(seen) < 6:
        seen.append(step)
        if reaction == "leave":
            return seen
        if reaction == "throw":
            step = outcome(lambda: iterator.throw(Boom("into the await")))
        elif reaction == "exit":
            step = outcome(lambda: iterator.throw(GeneratorExit))
        elif reaction == "close":
            step = ("closed", outcome(lambda: iterator.close()))
        else:
            step = outcome(lambda: iterator.send("reply"))
    seen.append(step)
    return seen


def async_transcript(make, operations, reaction):
    log = []
    generator = make(log)
    for name in operations:
        try:
            awaitable = AWAITABLES[name](generator)
        except Exception as error:
            log.append(described(error))
            continue
        log.append((name, drive_awaitable(awaitable, reaction)))
        del awaitable
        state = (inspect.isasyncgen(generator), generator.ag_running, generator.ag_frame is None)
        log.append(state)
    return log


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:coroutine method .* was never awaited")
@pytest.mark.parametrize("kind", [None, "span"])
@pytest.mark.parametrize("reaction", REACTIONS)
@pytest.mark.parametrize("body", ASYNC_GENERATORS, ids=lambda body: body.__name__)
def test_async_generator(state, body, reaction, kind):
    decorated = nvspan.annotate(kind=kind)(body)
    with listening(state) as trace:
        for length in range(1, 4):
            for operations in itertools.product(AWAITABLES, repeat=length):
                expected = async_transcript(body, operations, reaction)
                actual = async_transcript(decorated, operations, reaction)
                assert actual == expected, operations
    assert trace.balanced()


def test_async_generator_is_suspended_without_a_push(state):
    @nvspan.annotate("ag")
    async def body():
        await suspend("s")
        yield 1

    with listening(state) as trace:
        generator = body()
        awaitable = generator.__anext__()
        awaitable.send(None)
        nvspan.mark("suspended")
        with pytest.raises(StopIteration):
            awaitable.send(None)
        nvspan.mark("yielded")
    if state == "active":
        turn = [("push", "ag"), ("pop", "ag")]
        assert trace.calls("kind", "message") == [
            *turn, ("mark", "suspended"), *turn, ("mark", "yielded"),
        ]  # fmt: skip


def test_async_generator_hooks_see_the_decorated_one_only(state):
    async def body():
        yield 1

    def observe(function):
        seen = []
        old = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(firstiter=lambda g: seen.append("first"),
                               finalizer=lambda g: seen.append("finalizer"))  # fmt: skip
        try:
            generator = function()
            outcome(functools.partial(generator.__anext__().send, None))
            del generator
        finally:
            sys.set_asyncgen_hooks(*old)
        return seen

    with listening(state):
        assert observe(nvspan.annotate(body)) == observe(body) == ["first", "finalizer"]
