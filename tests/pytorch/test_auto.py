# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""auto: the whole list of ranges of each training loop of programs/auto.py."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from helpers.loops import by_case, in_short
from helpers.traced import run_plain, run_traced

torch = pytest.importorskip("torch", reason="torch is not installed")

import nvspan.torch  # noqa: E402

PROGRAM = Path(__file__).with_name("programs") / "auto.py"
EXPECTED = {
    "two_epochs": (
        "step:0( next zero forward backward opt ) step:1( next zero forward backward opt ) next "
        "step:2( next zero forward backward opt ) step:3( next zero forward backward opt ) next "
        ".end"
    ),
    "removed": ".end",
    "removed_within": "step:0( next forward ) .end",
    "left_by_break": "step:0( next forward ) .out step:10( next forward ) .end",
    "left_by_an_exception": "step:0( next forward ) .out .end",
    "data_set_that_raises": "step:0( next ) step:1( next ) step:2( next ) step:3( next ) .end",
    "stream_without_a_length": (
        "step:0( next forward ) step:1( next forward ) step:2( next ) step:2( next forward ) "
        "step:3( next forward ) step:4( next ) .end"
    ),
    "workers_that_persist": (
        "step:0( next forward ) step:1( next forward ) next step:2( next forward ) step:3( next "
        "forward ) next .end"
    ),
    "two_iterators": "step:0( next ) step:1( next ) step:2( next ) step:3( next ) next .end",
    "loader_that_fetches_ahead": (
        "step:0( next next zero forward backward opt ) next step:1( zero forward backward opt ) "
        ".end"
    ),
    "list_of_batches": (
        "step:0( next zero forward backward opt ) step:1( next zero forward backward opt ) next "
        ".end"
    ),
    "generator_of_batches": (
        "step:0( next zero forward backward opt ) step:1( next zero forward backward opt ) "
        "step:2( next ) .end"
    ),
    "names_of_ones_own": (
        "iteration:0@mine( next@mine zero@mine forward@mine backward@mine opt@mine ) next@mine .end"
    ),
    "no_steps": "next zero forward backward opt next .end",
    "device_ranges_without_a_device": "step:0( next zero forward backward opt ) next .end",
    "steps_from_zero_grad": (
        "step:0( next zero forward backward opt ) step:1( next zero forward backward opt ) next "
        ".end"
    ),
    "steps_from_forward": (
        "step:0( next forward backward opt ) zero step:1( next forward backward opt ) zero next "
        "forward forward .end"
    ),
    "steps_of_several_passes": (
        "step:0( next forward backward next forward backward opt ) step:1( next forward backward "
        "next forward backward opt ) next .end"
    ),
    "steps_that_are_given_up": (
        "step:0( next zero forward next ) step:1( zero forward backward opt ) next .end"
    ),
    "two_optimizers": (
        "step:0( zero forward backward opt zero forward backward opt ) step:1( zero forward "
        "backward opt zero forward backward opt ) .end"
    ),
    "model_alone": "forward backward .end",
    "optimizer_with_a_closure": "step:0( opt( zero forward backward ) ) .end",
    "schedulers_before_and_after": (
        "step:0( next forward backward opt ) step:1( next forward backward opt ) next step:0( opt "
        ") .end"
    ),
    "scaled_gradients": (
        "step:0( next forward backward opt ) step:1( next forward backward opt ) next .end"
    ),
    "one_range_for_a_backward_pass": (
        "forward backward( forward (recompute) ) forward backward forward .end"
    ),
    "backward_that_raises": "forward backward .out .end",
    "two_autos": "forward forward@second backward@second forward backward .end",
    "modules_annotated_before_and_after": (
        "forward( Sequential ) backward( <Sequential >Sequential ) forward( "
        "Sequential ) .one Sequential .none forward( Sequential ) backward( "
        "<Sequential >Sequential ) forward( Sequential ) .one forward .none .end"
    ),
    "copies_have_no_ranges": "backward backward backward .end",
    "compiled_before_and_after": (
        "step:0( next zero forward backward opt ) next .after step:0( next zero backward opt ) "
        "next .in place step:0( next zero forward backward opt ) next .end"
    ),
    "compiled_step": "step:0( zero opt ) .end",
    "steps_within_compiled_code": ".end",
    "transfers": "step:0( next h2d h2d h2d h2d h2d forward ) next .end",
    "transfers_by_hand": "step:0( next h2d:152 h2d ) next h2d:0 .end",
    "window_with_a_loader": (
        "step:0( next forward backward opt ) <profile step:1( next forward backward opt ) step:2( "
        "next forward backward opt ) >profile step:3( next forward backward opt ) next .end"
    ),
    "window_without_a_loader": (
        "step:0( next forward backward opt ) <profile step:1( next forward backward opt ) step:2( "
        "next forward backward opt ) >profile step:3( next forward backward opt ) next .end"
    ),
    "losses": "loss loss loss@mine .end",
}


def test_every_loop():
    traced, plain = run_traced(PROGRAM), run_plain(PROGRAM)
    cases = by_case(traced.events, in_short)
    assert list(cases) == list(EXPECTED)
    for name, expected in EXPECTED.items():
        assert (name, cases[name]) == (name, expected)
    assert plain.stdout == traced.stdout
    assert plain.stderr == ""
    # Of the case that compiles the annotated model with fullgraph=True.
    (told,) = [line for line in traced.stderr.splitlines() if "NvspanWarning" in line]
    assert "compile first, and give auto the result of torch.compile()" in told


# ---- the objects --------------------------------------------------------------------------------


def parts():
    model = torch.nn.Linear(4, 1)
    data = torch.utils.data.TensorDataset(torch.zeros(4, 4))
    return (
        model, torch.optim.SGD(model.parameters()), torch.utils.data.DataLoader(data, batch_size=2),
    )  # fmt: skip


def test_the_objects_are_as_before_afterwards():
    made = parts()
    before = [dict(vars(each)) for each in made]
    with nvspan.torch.auto(*made) as handle:
        assert [type(each) for each in made] == [
            torch.nn.Linear, torch.optim.SGD, torch.utils.data.DataLoader,
        ]  # fmt: skip
        assert [vars(each) != one for each, one in zip(made, before, strict=True)] == [True] * 3
        assert handle.dataloader is made[2]
        assert made[1].step.__func__.__qualname__ == "SGD.step"
        assert made[1].step.__name__ == "step"
    assert [vars(each) for each in made] == before


def test_an_iterator_goes_when_the_loop_is_left():
    model, optimizer, loader = parts()
    with nvspan.torch.auto(model, optimizer, loader):
        iterator = iter(loader)
        next(iterator)
        dead = weakref.ref(iterator)
        del iterator
        assert dead() is None


def test_the_optimizer_goes_with_its_last_reference():
    model, optimizer, loader = parts()
    handle = nvspan.torch.auto(model, optimizer, loader)
    dead = [weakref.ref(optimizer), weakref.ref(loader)]
    handle.dataloader = None
    del optimizer, loader
    assert [each() for each in dead] == [None, None]
    handle.remove()


def test_the_model_goes_with_its_last_reference():
    model, optimizer, _ = parts()
    handle = nvspan.torch.auto(model, optimizer)
    dead = weakref.ref(model)
    del model, optimizer
    handle.remove()
    del handle
    gc.collect()
    assert dead() is None


def test_a_second_auto_is_refused_until_the_first_is_removed():
    model, optimizer, loader = parts()
    other_model, other_optimizer, _ = parts()
    handle = nvspan.torch.auto(model, optimizer, loader)
    refused = [(model,), (other_model, optimizer), (other_model, other_optimizer, loader)]
    for given, what in zip(refused, ["model", "optimizer", "loader"], strict=True):
        with pytest.raises(ValueError, match=f"the {what} already has the ranges of an auto"):
            nvspan.torch.auto(*given)
    assert "forward" not in vars(other_model)
    assert "step" not in vars(other_optimizer)
    handle.remove()
    nvspan.torch.auto(model, optimizer, loader).remove()


def test_what_auto_does_not_take():
    model, optimizer, _ = parts()
    before = dict(vars(model))
    with pytest.raises(TypeError, match=r"a torch\.nn\.Module, not 3"):
        nvspan.torch.auto(3)
    with pytest.raises(TypeError, match="auto takes optimizers, not 3"):
        nvspan.torch.auto(model, [optimizer, 3])
    with pytest.raises(TypeError, match="an iterable of batches, not 3"):
        nvspan.torch.auto(model, optimizer, 3)
    assert vars(model) == before


def test_backward_is_torchs_own_afterwards():
    backward = torch.autograd.backward
    one, other = (nvspan.torch.auto(parts()[0]) for _ in range(2))
    assert torch.autograd.backward is not backward
    assert torch.autograd.backward.__wrapped__ is backward
    one.remove()
    one.remove()
    assert torch.autograd.backward is not backward
    other.remove()
    assert torch.autograd.backward is backward
