# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A type of src/ has a name of its own: no other room, and no anonymous namespace, has it too."""

from __future__ import annotations

import re

from helpers.tree import ROOT, cpp_files, read

# Comments, preprocessor lines, and literals: what may hold a brace that is none.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<!\w)'(?:\\.|[^'\\\n])+'",
    re.DOTALL | re.MULTILINE,
)
NAMESPACE = re.compile(r"\b(?:namespace\b(?: [\w:]+)?|extern)$")
TYPE = re.compile(
    r"\b(?:struct|class|union|enum(?: class| struct)?)(?: alignas\([^)]*\))? (\w+)(?: final)?"
    r"(?: ?:(?!:)[^()]*)?$"
)


def type_names(text):
    """The types that the source defines outside of other types and of functions."""
    names, scopes, head = [], [], ""
    for part in re.split(r"([{};])", NO_CODE.sub("", text)):
        if part == "{":
            head = " ".join(head.split())
            is_namespace = NAMESPACE.search(head) is not None
            found = None if is_namespace else TYPE.search(head)
            if found and all(scopes):
                names.append(found[1])
            scopes.append(is_namespace)
        elif part == "}":
            scopes.pop()
        head = "" if part in "{};" else part
    return names


def test_types_are_found_where_they_are():
    text = """
    // struct Comment {
    #define MACRO struct Macro {
    extern "C" { struct InC {}; }
    namespace a::b { namespace {
    template <typename T> class Derived final : public Base<T>, Other { struct Inner {}; };
    enum class Kind : std::uint8_t { one = '{', two }; enum Plain { three };
    struct Declared; class Derived<int>::Outside final : public Base {};
    struct alignas(64) Slot { const char* text = "}"; } slots[2] = {};
    struct Slot* function(struct Argument* argument) { struct Local {}; return {}; }
    } }
    union After { int a; float b; };
    """
    assert type_names(text) == ["InC", "Derived", "Kind", "Plain", "Slot", "After"]


def test_no_two_types_have_one_name():
    places = {}
    for path in cpp_files("src"):
        for name in type_names(read(path)):
            # A set: two branches of an #if may define it twice in one file.
            places.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    assert len(places) > 400
    assert {name: sorted(found) for name, found in places.items() if len(found) > 1} == {}
