# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The interpreter's shortest call reaches the methods of a Domain, as it does those of a list."""

from __future__ import annotations

import dis
import io
import sys

import pytest

import nvspan


def instructions(function) -> list[list[str]]:
    """The instructions that the interpreter has put in place of the compiled ones."""
    text = io.StringIO()
    dis.dis(function, adaptive=True, file=text)
    return [line.split() for line in text.getvalue().splitlines() if line]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="CPython 3.10 does not adapt its code")
def test_methods_are_found_without_a_look_up():
    domain = nvspan.get_domain("method calls")
    attributes = domain.get_event_attributes(message="x")

    def loop(count):
        for _ in range(count):
            domain.push_range(attributes)
            domain.pop_range()

    loop(5000)
    found = [line for line in instructions(loop) if "push_range" in str(line)]
    assert found
    assert all("METHOD_" in str(line) and "ADAPTIVE" not in str(line) for line in found)


def test_a_domain_takes_attributes_of_the_program():
    domain = nvspan.Domain("method calls of a program")
    domain.owner = "me"
    assert domain.owner == "me"
    assert vars(domain) == {"owner": "me"}
    domain.push_range(message="x")
    domain.pop_range()
    domain.pop_range = lambda: "mine"
    assert domain.pop_range() == "mine"
