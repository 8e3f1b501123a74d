# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Every function takes what the function of nvtx 0.2.17 takes, in the same places."""

from __future__ import annotations

import inspect

import pytest

import nvspan

nvtx = pytest.importorskip("nvtx", reason="nvtx 0.2.17 is not installed")

FUNCTIONS = ["annotate", "mark", "push_range", "pop_range", "start_range", "end_range",
             "get_domain", "enabled", "Domain"]  # fmt: skip
METHODS = ["get_registered_string", "get_category_id", "get_event_attributes", "pop_range",
           "end_range", "set_event_attributes", "mark", "push_range", "start_range"]  # fmt: skip
EVENT_KEYWORDS = ["message", "color", "category", "payload"]


def parameters(function):
    found = list(inspect.signature(function).parameters.values())
    return found[1:] if found and found[0].name == "self" else found


def takes_all_of(ours, theirs):
    """Asserts that what the peer takes stands first, and that what we add has a default."""
    ours, theirs = parameters(ours), parameters(theirs)
    wanted = [(p.name, p.kind, p.default) for p in theirs if p.kind is not p.VAR_KEYWORD]
    assert [(p.name, p.kind, p.default) for p in ours[: len(wanted)]] == wanted
    assert all(p.kind is p.KEYWORD_ONLY for p in ours[len(wanted) :])
    assert all(p.default is not p.empty for p in ours[len(wanted) :])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    takes_all_of(getattr(nvspan, name), getattr(nvtx, name))


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_domain(name):
    ours, theirs = getattr(nvspan.Domain, name), getattr(nvtx.Domain, name)
    if name == "set_event_attributes":  # the peer's defaults are a private marker
        names = [p.name for p in parameters(ours)]
        assert names == ["attributes", *EVENT_KEYWORDS]
    elif name in ("mark", "push_range", "start_range"):
        takes_all_of(ours, theirs)
        assert [p.name for p in parameters(ours)] == ["attributes", *EVENT_KEYWORDS]
    else:
        wanted = list(inspect.signature(getattr(theirs, "__wrapped__", theirs)).parameters)[1:]
        assert [p.name for p in parameters(ours)] == wanted


@pytest.mark.parametrize("name", ["kind", "level", "name_from"])
def test_annotate_adds_keywords_only(name):
    parameter = inspect.signature(nvspan.annotate).parameters[name]
    assert parameter.kind is parameter.KEYWORD_ONLY


def test_everything_public_has_a_docstring():
    missing = [name for name in nvspan.__all__ if not getattr(nvspan, name).__doc__]
    methods = [name for name in dir(nvspan.Domain) if name[0] != "_"]
    missing += [f"Domain.{n}" for n in methods if not getattr(nvspan.Domain, n).__doc__]
    assert missing == []
