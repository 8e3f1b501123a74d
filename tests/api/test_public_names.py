# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names, parameters and fields of public modules: `public/MODULE.txt`, as docs/api.md promises.

``python tests/api/test_public_names.py`` writes the listings again, for a change that is meant.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
import types
from pathlib import Path

import pytest

LISTINGS = Path(__file__).parent / "public"
API_PAGE = Path(__file__).parents[2] / "docs" / "api.md"
MODULES = [
    "nvspan",
    "nvspan._results",  # not imported by name: the classes of what calls return
    "nvspan.colors",
    "nvspan.counters",
    "nvspan.doctor",
    "nvspan.imports",
    "nvspan.launch",
    "nvspan.nsight",
    "nvspan.nvtx",
    "nvspan.payloads",
    "nvspan.ranks",
    "nvspan.recording",
    "nvspan.testing",
    "nvspan.torch",
    "nvspan.torch.nvtx",
    "nvspan.watch",
    "nvspan.writer",
]
READING = {"nvspan.nsight", "nvspan.ranks", "nvspan.recording", "nvspan.testing", "nvspan.watch"}


def public_names(module):
    """`__all__`, all results, or the functions, classes and constants that the module defines."""
    if hasattr(module, "RESULTS"):
        return sorted(result.__name__ for result in module.RESULTS)
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    own = [
        name
        for name, value in vars(module).items()
        if (getattr(value, "__module__", None) or "").startswith(module.__name__)
        or (name.isupper() and name != "TYPE_CHECKING")
    ]
    return sorted(name for name in own if name[0] != "_")


def parameters(function):
    """``(path, *, mode='full')``: names, kinds and defaults, as every CPython shows them."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in found]
    text = str(inspect.Signature(bare))
    return re.sub(r"<[^<>]* at 0x[0-9a-f]+>|<object object.*?>", "...", text)


def own_members(cls):
    """Public members of a class and its bases in nvspan, but not of `Result`, which all share."""
    members = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("nvspan") and base.__module__ != "nvspan._result":
            members.update({name: each for name, each in vars(base).items() if name[0] != "_"})
    return sorted(members.items())


def member_line(name, member):
    if isinstance(member, (staticmethod, classmethod)):
        kind = type(member).__name__
        return f"{kind} {name}{parameters(member.__func__) or '(...)'}"
    if isinstance(member, property) or inspect.isdatadescriptor(member):
        return name
    if callable(member) and not isinstance(member, type):
        return f"{name}{parameters(member) or '(...)'}"
    return name


def class_lines(name, cls):
    is_error = issubclass(cls, BaseException)
    kind = "exception" if is_error else "class"
    made_by_users = not (
        is_error or issubclass(cls, enum.Enum) or getattr(cls, "_is_protocol", False)
    )
    constructor = parameters(cls) or "" if made_by_users else ""
    typed = getattr(cls, "_types", {})
    lines = [f"  {field}: {annotation}" for field, annotation in typed.items()]
    lines += ["  " + member_line(*each) for each in own_members(cls) if each[0] not in typed]
    return [f"{kind} {name}{'' if typed else constructor}", *lines]


def listing(name):
    module = importlib.import_module(name)
    results = {result.__name__: result for result in getattr(module, "RESULTS", ())}
    lines = []
    for each in public_names(module):
        value = results.get(each) or getattr(module, each)
        if isinstance(value, type):
            lines += class_lines(each, value)
        elif isinstance(value, types.ModuleType):
            lines.append(f"module {each}")
        elif callable(value):
            lines.append(f"def {each}{parameters(value) or '(...)'}")
        else:
            lines.append(f"{each}: {type(value).__name__}")
    return "".join(line + "\n" for line in lines)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_the_names_and_parameters_of_its_listing(name):
    if name in READING:
        pytest.importorskip("nvspan._reader", reason="built without the reader")
    assert listing(name) == (LISTINGS / f"{name}.txt").read_text(encoding="utf-8")


def test_every_listing_is_of_a_public_module():
    assert {path.name for path in LISTINGS.iterdir()} == {f"{name}.txt" for name in MODULES}


def test_what_the_reference_documents_is_listed():
    pytest.importorskip("nvspan._reader", reason="built without the reader")
    directive = r"^\.\. auto(?:class|function|exception|data):: (nvspan[\w.]*)$"
    documented = re.findall(directive, API_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = set()
    for module in MODULES:
        listed |= {f"{module}.{name}" for name in public_names(importlib.import_module(module))}
    # A class is documented by the module that defines it where the package has it under that name.
    listed.add("nvspan.ranks.many.ManyRecordings")
    assert [name for name in documented if name not in listed] == []


if __name__ == "__main__":
    for module_name in MODULES:
        (LISTINGS / f"{module_name}.txt").write_text(listing(module_name), encoding="utf-8")
