# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Step boundaries of a training loop, from the calls of its loader, optimizers and model."""

from __future__ import annotations

import weakref
from _thread import get_ident

from nvspan import _core
from nvspan._runtime import steps
from nvspan.torch._loop import training_loops, transfers

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def is_expected(iterator: Any) -> bool:
    """Whether a DataLoader's iterator has another batch, as far as it knows; of an iterable data
    set, it does not.
    """
    try:
        return bool(iterator._num_yielded < len(iterator))
    except Exception:
        return True


class Loop:
    """The step that is open, and its number. Steps are counted also while nothing listens.

    With a loader that tells when it is asked for the next batch, a step reaches from one asking to
    the next. Otherwise it reaches to the end of the last optimizer's `step`, from what is called
    first: the fetch from a DataLoader whose batches it trains on, `zero_grad`, if the very first
    step had it before a forward pass, else the forward pass. It trains on the loader that was last
    fetched from when an optimizer's step began; before the first one, on a loader that was made of
    the given one, or that a training loop fetches from.
    """

    def __init__(self, name: str | None, domain: Any, optimizers: Sequence[Any]) -> None:
        self.number = 0  # of the next step
        self.alive = True
        self.by_loader = False
        self._fetched = 0  # the last loader, by its sampler's id
        self._trained = 0  # likewise, that of the last optimizer step
        self._has_trained = False
        self._is_by_hand = False  # `next` in a loop of the program began the very first step
        self._given: Any = None  # a reference to the given loader's sampler
        self._home = get_ident()
        self._iterator: Any = None  # a reference to that whose fetch began the open step
        self._name = name
        self._domain = domain
        self._optimizers = [weakref.ref(each) for each in optimizers]
        self._last_optimizer = len(optimizers) - 1
        self._first: str | None = None
        self._calls: set[str] = set()  # made in the open step
        self._open = False
        self._range: Any = None  # of the open step, if a tool listens
        self._owner = 0  # the id of the iterator that began it
        self._thread = 0

    def begin(self, owner: int = 0) -> None:
        """Begins a step, after the end of the open one."""
        transfers.look_who_listens()
        self.end()
        self._iterator = None
        if self._name is None or not self.alive:
            return
        number = self.number
        self.number = number + 1
        self._calls.clear()
        steps.tell_begin(number)
        self._range = None
        if _core.listening():
            self._range = _core.annotate(self._name, domain=self._domain, payload=number)
            self._range.__enter__()
        self._open, self._owner, self._thread = True, owner, get_ident()

    def end(self, owner: int = 0) -> None:
        """Ends the open step, if it is the owner's. Another thread's range cannot be ended."""
        if not self._open or (owner and owner != self._owner):
            return
        self._open = False
        if self._range is not None and self._thread == get_ident():
            self._range.__exit__(None, None, None)
        steps.tell_end(self.number - 1)

    def end_empty(self) -> None:
        """Ends a step for which there was no batch: its number is the next one's."""
        if self._open:
            self.end()
            self.number -= 1

    # ---- without a loader -----------------------------------------------------------------------

    def takes(self, loader: Any) -> None:
        """This is the loader that the loop was given; others may be made of it."""
        try:
            self._given = weakref.ref(loader._index_sampler)
        except (AttributeError, TypeError):
            pass

    def _is_made_of_given(self, sampler: Any) -> bool:
        """Whether Accelerate made the loader of the given one: it has its batches, or a shard."""
        given = self._given and self._given()
        while given is not None and sampler is not None:
            if sampler is given:
                # A copy of the loader has its sampler too, and may be for a copy of the model.
                return training_loops.is_prepared()
            sampler = getattr(sampler, "__dict__", {}).get("batch_sampler")
        return False

    def _is_first(self, iterator: Any) -> bool:
        """Whether a training loop fetches there, before its first optimizer step."""
        optimizers = [one for each in self._optimizers if (one := each()) is not None]
        if not self._open:
            at_home = self._home == get_ident()
            if at_home and self._is_made_of_given(iterator._index_sampler):
                return True
            if training_loops.waits(optimizers):
                return True
        elif not self._is_by_hand or self._calls:
            return False
        # Of several loaders, such as one of an evaluation, the last before the forward pass.
        if not training_loops.waits_by_hand(optimizers, iterator):
            return False
        self._is_by_hand = True
        return True

    def _is_fetched_ahead(self, sampler: Any) -> bool:
        """Whether a thread fetches there what the loop trains on: no step begins with it."""
        if not self._thread and self._is_made_of_given(sampler):
            self._trained, self.by_loader = id(sampler), False
        return not self.by_loader and self._trained == id(sampler)

    def fetch_begins(self, iterator: Any) -> bool:
        """Whether the fetch is one of this loop's; begins a step where a batch is expected."""
        sampler = iterator._index_sampler
        if self._thread and get_ident() != self._thread:
            return self._is_fetched_ahead(sampler)
        loader = self._fetched = id(sampler)
        if not self._has_trained:
            if self._is_first(iterator):
                self._trained, self.by_loader = loader, False
            elif not self._thread and get_ident() != self._home:
                return self._is_fetched_ahead(sampler)
        if self.by_loader or (self._trained and loader != self._trained):
            return False
        if loader == self._trained and not self._open and is_expected(iterator):
            self.begin()
            # That of next(iter(loader)) is gone with the fetch, and the loop is not left.
            if not self._is_by_hand or getattr(iterator, "_num_yielded", False):
                self._iterator = weakref.ref(iterator, self._iterator_is_gone)
        return True

    def fetch_ahead_begins(self, expected: bool) -> None:
        """Likewise, of a loader that the loop was given and that may fetch ahead of it."""
        if expected and not self._open and _core.listening():
            self.begin()

    def fetch_was_empty(self) -> None:
        """It has raised: nothing of a step that it began is there."""
        if not self._calls and self._thread == get_ident():
            self.end_empty()

    def _iterator_is_gone(self, iterator: Any) -> None:
        if iterator is self._iterator:  # the loop was left after the fetch
            self.fetch_was_empty()

    def zero_grad_begins(self, optimizer: int) -> None:
        if self.by_loader:
            return
        if self._first is None:
            self._first = "zero_grad"
        if self._first != "zero_grad":
            return
        if not self._open:
            self.begin()
        elif optimizer == 0 and "forward" in self._calls and "step" not in self._calls:
            self.begin()  # the loop gave the step up: an exception, a loss to skip

    def forward_begins(self) -> None:
        if self.by_loader:
            return
        self._first = self._first or "forward"
        if not self._open:
            self.begin()
        self._calls.add("forward")

    def optimizer_begins(self) -> None:
        self._has_trained = True
        if not self._open or self._iterator is None:
            self._trained = self._fetched
        if self.by_loader:
            # Without a step, the loop goes over another loader, such as one that was prepared.
            self.by_loader = self._open
            return
        self._first = self._first or "forward"
        if not self._open:
            self.begin()
        self._calls.add("step")

    def optimizer_ends(self, optimizer: int) -> None:
        if not self.by_loader and optimizer == self._last_optimizer:
            self.end()
            if self._name is not None and not _core.listening():
                # A forward pass begins a step only while a tool listens; windows open without one.
                steps.tell_begin(self.number)
