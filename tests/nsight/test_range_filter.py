# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The grammar of ncu's range filters: written, read, and refused."""

from __future__ import annotations

import copy
import pickle
import random
import re

import pytest

from helpers.filtered_kernels import INVALID, NEVER_HIT
from helpers.length import length
from helpers.ncu import find, refuses
from nvspan.nsight import Between, RangeFilter

ONE, ANY = Between.ONE, Between.ANY
TEXTS = [
    (RangeFilter("step"), "step/"),
    (RangeFilter("A range"), "A range/"),
    (RangeFilter("step", domain="app"), "app@step/"),
    (RangeFilter("step", "layer"), "step/layer"),
    (RangeFilter("a", ANY, "b"), "a/*/b"),
    (RangeFilter("a", ONE, "b"), "a/+/b"),
    (RangeFilter("a", ONE, ANY, ONE, "b"), "a/+/*/+/b"),
    (RangeFilter("a", bottom=True), "[a"),
    (RangeFilter("a", top=True), "a]"),
    (RangeFilter("a", "b", bottom=True, top=True), "[a/b]"),
    (RangeFilter("a", ONE, top=True), "a/+]"),
    (RangeFilter("a", ONE, "z", domain="d", bottom=True, top=True), "d@[a/+/z]"),
    (RangeFilter("step", span=True), "step"),
    (RangeFilter("a", "b c", "d", span=True, domain="Domain A"), "Domain A@a,b c,d"),
    (RangeFilter("a[i]"), r"a\[i\]/"),
    (RangeFilter("a[i]", span=True), r"a\[i\]"),
    (RangeFilter("a/b", "c,d"), r"a\/b/c\,d"),
    (RangeFilter("*", "+"), r"\*/\+"),
    (RangeFilter("x@y", domain="d@e/f"), r"d\@e\/f@x\@y/"),
    (RangeFilter(r"C:\dir", domain=r"x\y"), r"x\y@C:\dir/"),
    (RangeFilter(r"a\.b"), r"a\.b/"),
    (RangeFilter("regex:a", domain="d"), "d@regex:a/"),
    (RangeFilter("ü €", span=True), "ü €"),
    (RangeFilter("Range[0-9]", domain="Domain[A-Z]", regex=True), "regex:Domain[A-Z]@Range[0-9]/"),
    (
        RangeFilter("[0-9]rangeA", "RangeC[0-9]", domain="[0-9]domainA", span=True, regex=True),
        "regex:[0-9]domainA@/[0-9]rangeA,RangeC[0-9/]",
    ),
    (RangeFilter("[ab]c", regex=True), "regex:/[ab]c/"),
    (RangeFilter("[ab]", bottom=True, regex=True), "regex:[[ab/]"),
    (RangeFilter("x", "[ab]", top=True, regex=True), "regex:x/[ab]]"),
    (RangeFilter("x", "[ab]", regex=True), "regex:x/[ab/]"),
    (RangeFilter(r"a\]", span=True, regex=True), r"regex:a\]"),
    (RangeFilter("a/b", "c.*", regex=True), r"regex:a\/b/c.*"),
]


@pytest.mark.parametrize(("filter", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_a_filter_is_written_and_read(filter, text):
    assert str(filter) == text
    assert RangeFilter.parse(text) == filter
    assert filter.arguments() == ["--nvtx-include", text]
    assert filter.arguments(exclude=True) == ["--nvtx-exclude", text]


def test_a_single_name_of_a_path_may_end_with_the_slash_of_a_stack():
    assert RangeFilter.parse("a/b/") == RangeFilter("a", "b")
    assert RangeFilter.parse("[a/") == RangeFilter("a", bottom=True)


def test_any_ranges_at_the_end_are_left_out():
    assert RangeFilter("a", ANY, ANY) == RangeFilter("a") == RangeFilter.parse("a/*")
    assert RangeFilter.parse("[a/b/*") == RangeFilter("a", "b", bottom=True)
    assert str(RangeFilter("a", ANY, top=True)) == "a/*]"


def test_separators_in_a_regular_expression_are_quoted_once():
    assert RangeFilter(r"a\/b", regex=True) == RangeFilter("a/b", regex=True)


REFUSED = {
    "": "empty name",
    "@": "empty name",
    "@a/": "empty name",
    "d@": "empty name",
    "/": "empty name",
    "/a": "empty name",
    "a//b": "empty name",
    ",a": "empty name",
    "a,": "empty name",
    "[": "empty name",
    "a@b@c": "more than one '@'",
    "a[0]/": r"'\[' in 'a\[0\]/' stands in a name",
    "a]b": r"write '\\\]'",
    "a*": r"write '\\\*'",
    "a*/": r"write '\\\*'",
    "a/b@c": r"write '\\/'",
    "*": r"write '\\\*'",
    "*/a": "must have a name first, not '\\*'",
    "[*/a": "must have a name first, not '\\*'",
    "[+/a]": "must have a name first, not '\\+'",
    "a/+/*": "must have a name last, not '\\+'",
    "a/+": "must have a name last",
    "a,b/": "mixes ','",
    "a/,b": "mixes ','",
    "[a,b": "mixes ','",
    "regex:a,b/": "mixes ','",
    "a\\": "ends with a backslash",
    r"a\\n": "a single backslash",
    r"a\\\/b/": "a single backslash",
    r"a\\/": "a single backslash",
    r"regex:a\\/b": "cannot read a backslash",
    r"regex:a\\*/": "cannot read a backslash",
    r"regex:a\\\[/": "cannot read a backslash",
    "regex:(a/": "not a regular expression",
    "regex:*": "not a regular expression",
    "regex:a{1\\,2}/": "reads the comma",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_filter_is_refused(text):
    with pytest.raises(ValueError, match=REFUSED[text]):
        RangeFilter.parse(text)


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ((), {}, "at least one range"),
        ((ANY,), {"bottom": True, "top": True}, "at least one range"),
        (("a", ANY, "b"), {"span": True}, "have no stack"),
        (("a",), {"span": True, "top": True}, "have no stack"),
        ((ANY, "a"), {}, "name first, not '\\*'"),
        (("a", ONE), {"bottom": True}, "name last, not '\\+'"),
        (("a", ""), {}, "empty name"),
        (("a",), {"domain": ""}, "empty name"),
        (("a\0b",), {}, "null character"),
        (("regex:a",), {}, "reads 'regex:a/' as a regular expression"),
        (("@a",), {}, "filter that starts with '@'"),
        (("@a",), {"domain": "@d"}, "filter that starts with '@'"),
        (("@a",), {"regex": True}, "filter that starts with '@'"),
        (("a@@b",), {}, "has '@@' and no domain"),
        ((ANY, "a"), {"bottom": True}, "name first, not '\\*'"),
        (("a",), {"bottom": True, "top": True}, "bottom and top of one name, 'a'"),
        (("a",), {"bottom": True, "top": True, "regex": True}, "bottom and top of one name"),
        (
            ("a\\",),
            {"span": True},
            r"path: .* at the end of a name: .*'\^a\.\$', span=True, regex=",
        ),
        (("b", "a\\[i]"), {}, r"path: .*RangeFilter\('b', 'a\.\\\\\[i\\\\\]', regex=True\)"),
        (("a",), {"domain": r"\\d"}, r"domain: ncu has no way to quote a backslash"),
        (("a",), {"domain": "(", "regex": True}, "domain: not a regular expression"),
        (("a", ONE), {"regex": True, "top": True}, "only between two names"),
        (("a",), {"domain": "regex:d"}, "as a regular expression"),
    ],
)
def test_what_ncu_has_no_words_for_is_refused(path, options, words):
    with pytest.raises(ValueError, match=words):
        RangeFilter(*path, **options)


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (("regex:a.b",), {}),
        (("@a",), {"top": True}),
        (("a@@b", "c\\"), {}),
        ((r"a\[0]*+",), {"domain": "\\\\d.x", "bottom": True}),
        ((r"\\server\dir\\",), {}),
        (("a\\,", "b{1,2}"), {"span": True}),
        (("a", ANY, "x\\/y"), {"domain": "d"}),
        (("a",), {"domain": "regex:d"}),
    ],
)
def test_the_regular_expression_of_the_advice_is_one_for_the_whole_name(names, options):
    with pytest.raises(ValueError, match="use RangeFilter") as raised:
        RangeFilter(*names, **options)
    advised = eval(str(raised.value).partition("; use ")[2])
    assert advised.regex
    assert RangeFilter.parse(str(advised)) == advised
    assert advised.bottom == options.get("bottom", False)
    assert advised.top == options.get("top", False)
    pairs = [(name, given) for name, given in zip(advised.path, names, strict=True)
             if isinstance(given, str)]  # fmt: skip
    if "domain" in options:
        pairs.append((advised.domain, options["domain"]))
    alone = advised.span or len(names) == 1
    for expression, given in pairs:
        match = re.search if alone or given == options.get("domain") else re.fullmatch
        assert match(expression, given)
        assert not match(expression, f"{given}x")
        assert not match(expression, f"x{given}")


@pytest.mark.parametrize("text", [*NEVER_HIT, *INVALID])
def test_what_hits_nothing_under_ncu_is_refused(text):
    with pytest.raises(ValueError, match={**NEVER_HIT, **INVALID}[text]):
        RangeFilter.parse(text)


def test_what_is_no_text_is_refused():
    with pytest.raises(TypeError, match="path must hold str and Between, not int"):
        RangeFilter("a", 1)
    with pytest.raises(TypeError, match="domain must be str or None, not bytes"):
        RangeFilter("a", domain=b"d")
    with pytest.raises(TypeError, match="text must be str, not bytes"):
        RangeFilter.parse(b"a/")


def test_a_filter_is_a_value():
    filter = RangeFilter("a", ANY, "b", domain="d", top=True)
    assert repr(filter) == "RangeFilter('a', Between.ANY, 'b', domain='d', top=True)"
    assert eval(repr(filter)) == filter
    assert {filter, RangeFilter("a", ANY, "b", domain="d", top=True)} == {filter}
    assert pickle.loads(pickle.dumps(filter)) == copy.deepcopy(filter) == filter
    assert filter != RangeFilter("a", ANY, "b", domain="d")
    with pytest.raises(AttributeError):
        filter.span = True


# --- every filter is read back as it was written ---

PLAIN = "ab Z09.:_-()^$?{}|#\"'<>=;!~ü@,[]/*+\\"
EXPRESSIONS = ["a", "b+", ".*", "[ab]", "[a-z/]", "]", "(x|y)", r"\d", r"\.", r"\\", r"\[", r"\]",
               "@", ",", "/", "{2}", "^", "$", " "]  # fmt: skip


pytestmark = pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")


def random_name(chance, is_regex):
    while True:
        alphabet = EXPRESSIONS if is_regex else PLAIN
        name = "".join(chance.choices(alphabet, k=chance.randint(1, 6)))
        try:
            return RangeFilter(name, domain="d", regex=is_regex).names[0]
        except ValueError:
            continue


def random_filter(chance):
    regex, span = chance.random() < 0.3, chance.random() < 0.3
    bottom, top = (not span and chance.random() < 0.3 for _ in range(2))
    names = [random_name(chance, regex) for _ in range(chance.randint(1, 4))]
    path = list(names)
    if not span:
        for place in range(len(path) - 1, 0, -1):
            path[place:place] = chance.choices([ONE, ANY], k=chance.choice([0, 0, 1, 2]))
        bottom = bottom and not (top and len(path) == 1)
        path += [ONE] * (top and not regex and chance.random() < 0.2)
    domain = random_name(chance, regex) if chance.random() < 0.5 else None
    if (domain or ("" if bottom else path[0])).startswith("@") or "@@" in "/".join(names):
        return random_filter(chance)
    return RangeFilter(*path, domain=domain, span=span, bottom=bottom, top=top, regex=regex)


@pytest.mark.parametrize("seed", range(4))
def test_every_filter_comes_back(seed):
    chance = random.Random(seed)
    for _ in range(length(2500, 250)):
        filter = random_filter(chance)
        assert RangeFilter.parse(str(filter)) == filter, str(filter)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_read_is_written_the_same(seed):
    """Any text is refused, or has one meaning."""
    chance = random.Random(seed)
    pieces = ["a", "b c", "\\/", "\\@", "\\x", "regex:", *"@,[]/*+.?$"]
    read = 0
    for _ in range(length(5000, 1000)):
        text = "".join(chance.choices(pieces, k=chance.randint(1, 7)))
        try:
            filter = RangeFilter.parse(text)
        except ValueError:
            continue
        read += 1
        assert RangeFilter.parse(str(filter)) == filter, text
        assert str(filter) in (text, text.removesuffix("/")) or re.search(r"regex:|[/*]$", text), (
            text
        )
    assert read > 100


# --- the real tool reads all that we write ---


def test_ncu_refuses_no_filter_of_ours():
    ncu, chance = find(), random.Random(5)
    filters = [filter for filter, _ in TEXTS] + [random_filter(chance) for _ in range(100)]
    assert refuses(ncu, "A@B@C/")
    # One that is refused ends the command, so all of them can be given at once.
    assert not refuses(ncu, *map(str, filters))
