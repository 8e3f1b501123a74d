# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Which `for` is taken for a training loop that waits for a batch. Needs no torch."""

from __future__ import annotations

import contextlib
import sys
import weakref

import pytest

from nvspan.torch._loop.training_loops import waits


class Optimizer:
    """Steps nothing."""

    def step(self):
        pass

    def zero_grad(self):
        pass


class Wrapper(Optimizer):
    """As Accelerate's and Lightning Fabric's."""

    def __init__(self, wrapped):
        self.wrapped = wrapped


OURS = Optimizer()


class Loader:
    """Notes for each fetch whether a loop that steps OURS waits for it; gives one batch."""

    def __init__(self):
        self.seen = []
        self._left = 1

    def __iter__(self):
        self._left = 1
        return self

    def __next__(self):
        if not self._left:
            raise StopIteration
        self._left -= 1
        self.seen.append(waits([OURS]))
        return 1


def passed_on(loader):
    yield from loader


def shown(loader):
    for batch in loader:
        yield batch + 1


def after_a_look(loader):
    for _ in loader:
        pass
    yield from loader


def steps(loader, optimizer=OURS):
    for _ in loader:
        with contextlib.nullcontext():
            optimizer.step()


def by_a_generator(loader):
    steps(shown(loader))


def by_a_generator_that_delegates(loader):
    steps(passed_on(loader))


def by_builtins(loader):
    steps(enumerate(zip(loader, [0], strict=False)))


def of_a_wrapper(loader):
    steps(loader, Wrapper(OURS))


def by_a_generator_after_a_look(loader):
    steps(after_a_look(loader))


def of_another(loader):
    steps(loader, Optimizer())


def of_another_s_wrapper(loader):
    steps(loader, Wrapper(Optimizer()))


def given_to_a_function(loader, optimizer=OURS):
    def train(batch, optimizer):
        pass

    for batch in loader:
        train(batch, optimizer)


def in_a_list(loader, optimizers=(OURS,)):
    for _ in loader:
        for each in optimizers:
            each.step()


def in_a_cell(loader):
    optimizer = OURS

    def closure():
        return optimizer

    for _ in loader:
        optimizer.step()


def at_an_object(loader):
    class Trainer:
        def __init__(self):
            self.optimizer = OURS

        def fit(self):
            for _ in loader:
                self.optimizer.step()

    Trainer().fit()


def at_a_module(loader):
    exec("for _ in loader: optimizer.step()", {"loader": loader, "optimizer": OURS})


def beside_a_method_called_eval(loader, optimizer=OURS):
    class Model:
        def eval(self):
            pass

    Model().eval()
    for _ in loader:
        optimizer.step()


def looks(loader, optimizer=OURS):
    next(iter(loader))
    list(loader)
    [batch for batch in loader]  # noqa: C416
    sum(batch for batch in loader)
    for _ in loader:
        pass
    optimizer.step()


def of_an_object_that_has_it(loader):
    class Trainer:
        def __init__(self):
            self.optimizer = OURS
            self.total = 0

        def look(self):
            for batch in loader:
                self.total += batch

    Trainer().look()


def as_a_function_that_closes_over_it(loader, step=OURS.step):
    for _ in loader:
        step()


class Stubborn:
    """Cannot be looked into."""

    def __getattribute__(self, name):
        raise RuntimeError


def beside_what_cannot_be_looked_into(loader, optimizer=OURS):
    stubborn = Stubborn()
    for _ in loader:
        id(stubborn)
        optimizer.step()


EXPECTED = {
    steps: [True],
    by_a_generator: [True],
    by_a_generator_that_delegates: [True],
    by_builtins: [True],
    of_a_wrapper: [True],
    given_to_a_function: [True],
    in_a_list: [True],
    in_a_cell: [True],
    at_an_object: [True],
    at_a_module: [True],
    beside_what_cannot_be_looked_into: [True],
    beside_a_method_called_eval: [True],
    by_a_generator_after_a_look: [False, True],
    of_another: [False],
    of_another_s_wrapper: [False],
    looks: [False] * 5,
    of_an_object_that_has_it: [False],
    as_a_function_that_closes_over_it: [False],
}


@pytest.mark.parametrize("loop", EXPECTED, ids=lambda loop: loop.__name__)
def test_loops(loop):
    loader = Loader()
    loop(loader)
    assert loader.seen == EXPECTED[loop]


def test_a_loop_that_python_has_specialized():
    for _ in range(100):
        loader = Loader()
        steps(shown(loader))
        assert loader.seen == [True]


def test_the_frame_keeps_nothing_alive():
    def train(loader, optimizer):
        batches = Loader()
        gone = weakref.ref(batches)
        for _ in loader:
            optimizer.step()
        del batches
        return gone() is None

    assert train(Loader(), OURS)


def test_the_program_s_locals_stay_as_they_were():
    def train(loader, optimizer):
        before = locals()
        for _ in loader:
            optimizer.step()
        return sorted(before)

    loader = Loader()
    assert train(loader, OURS) == ["loader", "optimizer"]
    # Before 3.13 it cannot be looked into without a change of that dictionary.
    assert loader.seen == [sys.version_info >= (3, 13)]
