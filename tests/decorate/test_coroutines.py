# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Decorated coroutines behave as the bare ones, step by step.

Every body is driven through every short sequence of operations, bare and decorated, and all that
can be observed is compared: what comes out, exceptions and their chains, the state afterwards.
"""

from __future__ import annotations

import gc
import inspect
import sys

import pytest

import nvspan
from helpers.length import length
from helpers.listening import STATES, listening
from helpers.stepping import Boom, compare, described, sequences, suspend

pytestmark = pytest.mark.parametrize("state", STATES)


async def c_plain(log):
    log.append(await suspend(1))
    log.append(await suspend(2))
    return "done"


async def c_catching(log):
    while True:
        try:
            log.append(await suspend("waiting"))
        except Boom as error:
            log.append(described(error))


async def c_finishing(log):
    try:
        await suspend(1)
    finally:
        log.append(("finally", described(sys.exc_info()[1])))


async def c_awaiting_on_exit(log):
    try:
        await suspend(1)
    except GeneratorExit:
        await suspend("not yet")


async def c_translating(log):
    try:
        await suspend(1)
    except Boom as error:
        raise KeyError("translated") from error
    except GeneratorExit as error:
        raise ValueError("instead of exit") from error


async def c_nested(log):
    return await c_plain(log), (1, 2)


async def c_raising_stop(log):
    await suspend(1)
    raise StopIteration("inside")


async def c_never_suspended(log):
    return (1, 2)


async def c_returning_on_exit(log):
    try:
        await suspend(1)
    except GeneratorExit:
        return "left"


COROUTINES = [
    c_plain, c_catching, c_finishing, c_awaiting_on_exit, c_translating, c_nested, c_raising_stop,
    c_never_suspended, c_returning_on_exit,
]  # fmt: skip


def coroutine_state(coroutine):
    return (
        inspect.iscoroutine(coroutine),
        inspect.getcoroutinestate(coroutine),
        coroutine.cr_running,
        coroutine.cr_frame is None,
        coroutine.__name__,
        coroutine.__qualname__,
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
@pytest.mark.parametrize("kind", [None, "nested"])
@pytest.mark.parametrize("body", COROUTINES, ids=lambda body: body.__name__)
def test_coroutine(state, body, kind):
    decorated = nvspan.annotate(kind=kind)(body)
    # The one difference, documented: a span leaves the awaiting to the interpreter, which makes
    # close() of a GeneratorExit that is thrown in. It shows where a coroutine stops the exception.
    swallows = kind is None and body in (c_awaiting_on_exit, c_returning_on_exit)
    with listening(state) as trace:
        for operations in sequences(length(4, 3)):
            if not (swallows and {"exit", "close"} & set(operations)):
                compare(body, decorated, operations, coroutine_state)
    assert trace.balanced()


def test_closing_a_coroutine_that_awaits_again(state):
    decorated = nvspan.annotate(c_awaiting_on_exit)
    with listening(state) as trace:
        for function in (c_awaiting_on_exit, decorated):
            coroutine = function([])
            coroutine.send(None)
            with pytest.raises(RuntimeError, match="coroutine ignored GeneratorExit"):
                coroutine.close()
            coroutine.close()
    assert trace.balanced()


def test_coroutine_is_one_span_over_all_its_resumptions(state):
    @nvspan.annotate("work")
    async def work():
        nvspan.mark("a")
        await suspend(1)
        nvspan.mark("b")

    with listening(state) as trace:
        coroutine = work()
        nvspan.mark("before")
        coroutine.send(None)
        nvspan.mark("suspended")
        with pytest.raises(StopIteration):
            coroutine.send(None)
    if state == "active":
        assert trace.calls("kind", "message") == [
            ("mark", "before"), ("start", "work"), ("mark", "a"), ("mark", "suspended"),
            ("mark", "b"), ("end", "work"),
        ]  # fmt: skip


def test_coroutine_ends_its_span_when_it_is_collected(state):
    @nvspan.annotate("work")
    async def work():
        await suspend(1)

    with listening(state) as trace:
        coroutine = work()
        coroutine.send(None)
        del coroutine
        gc.collect()
    if state == "active":
        assert trace.calls("kind", "message") == [("start", "work"), ("end", "work")]


def test_nested_coroutine_pushes_around_each_resumption(state):
    @nvspan.annotate("work", kind="nested")
    async def work():
        await suspend(1)
        await suspend(2)

    with listening(state) as trace:
        coroutine = work()
        for _ in range(2):
            coroutine.send(None)
            nvspan.mark("suspended")
        coroutine.close()
    if state == "active":
        turn = [("push", "work"), ("pop", "work")]
        suspended = [("mark", "suspended")]
        assert trace.calls("kind", "message") == turn + suspended + turn + suspended + turn
