# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names that libraries reach for, and what annotation objects are as Python objects."""

from __future__ import annotations

import copy
import importlib
import pickle
import weakref

import pytest

import nvspan
from helpers.traced import python


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("_lib", "Domain DummyDomain dummy_domain RegisteredString EventAttributes NvtxWarning"),
        (
            "_lib.lib",
            "Domain NvtxWarning DummyDomain dummy_domain EventAttributes RegisteredString"
            " DomainHandle StringHandle DONT_SET initialize",
        ),
        (
            "nvtx",
            "annotate mark push_range pop_range start_range end_range get_domain Domain enabled"
            " DummyDomain dummy_domain NvtxWarning",
        ),
        ("_lib.profiler", "Profile"),
        ("colors", "color_to_hex _NVTX_COLORS"),
    ],
)
def test_semi_public_names_exist(module, names):
    imported = importlib.import_module(f"nvspan.{module}")
    assert [name for name in names.split() if not hasattr(imported, name)] == []


def test_every_public_name_exists():
    assert [name for name in nvspan.__all__ if not hasattr(nvspan, name)] == []
    assert set(nvspan.__all__) <= set(dir(nvspan))


def test_nvspan_torch_needs_no_import_of_its_own():
    code = (
        "import nvspan, sys; assert not {'torch', 'nvspan.torch'} & set(sys.modules)\n"
        "lazy = nvspan.torch; assert 'nvspan.torch' not in sys.modules\n"
        "assert nvspan.torch.auto is lazy.auto; assert 'auto' in dir(lazy)\n"
        "assert nvspan.torch is sys.modules['nvspan.torch']; assert 'torch' not in sys.modules\n"
        "from nvspan import torch; assert torch is nvspan.torch\n"
    )
    done = python("-c", code)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_domain_is_no_dummy():
    assert not isinstance(nvspan.get_domain("d"), nvspan.DummyDomain)
    assert nvspan.get_domain() is not importlib.import_module("nvspan._lib.lib").dummy_domain


def test_the_profile_of_the_peer_shows_c_functions_unless_told():
    profiler = importlib.import_module("nvspan._lib.profiler")
    made = profiler.Profile()
    assert isinstance(made, nvspan.Profile)
    assert repr(made) == repr(nvspan.Profile(linenos=True, annotate_cfuncs=True))
    assert repr(profiler.Profile(False, False)) == repr(nvspan.Profile(linenos=False))


def test_the_warning_is_a_user_warning_under_both_names():
    assert nvspan.NvtxWarning is nvspan.NvspanWarning
    assert issubclass(nvspan.NvspanWarning, UserWarning)


def test_names_of_the_peer_that_are_missing_say_so():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = nvspan.no_such_name


ARGUMENTS = ("m", "red", "d", "c", 5)


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))]
)
def test_annotate_objects_are_copied_and_pickled_by_their_arguments(make):
    original = nvspan.annotate(*ARGUMENTS)
    made = make(original)
    assert type(made) is nvspan.annotate
    assert made.init_args == original.init_args == ARGUMENTS
    assert made.attributes.message.string == "m"
    assert made.domain is original.domain is nvspan.get_domain("d")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_keeps_the_keyword_only_options(protocol):
    original = nvspan.annotate("m", kind="span", level=2)
    made = pickle.loads(pickle.dumps(original, protocol))
    assert repr(made) == repr(original)


def test_annotate_objects_take_weak_references_and_attributes():
    made = nvspan.annotate("m", payload=object)
    assert weakref.ref(made)() is made


class Sub(nvspan.annotate):
    """A subclass that fixes a domain, as libraries make them."""

    def __init__(self, name, extra=None):
        super().__init__(f"sub {name}", domain="sub")
        self.extra = extra

    def __reduce__(self):
        return type(self), (self.init_args[0].removeprefix("sub "), self.extra)


def test_annotate_can_be_subclassed():
    made = Sub("x", extra=3)
    assert (made.extra, made.init_args[0], made.domain.name) == (3, "sub x", "sub")
    assert Sub("x") is not Sub("x")
    with made as entered:
        assert entered is made
    again = pickle.loads(pickle.dumps(made))
    assert (type(again), again.extra, again.init_args[0]) == (Sub, 3, "sub x")


def test_exit_does_not_swallow_exceptions():
    assert nvspan.annotate("m").__exit__(None, None, None) is False
    with pytest.raises(KeyError), nvspan.annotate("m"):
        raise KeyError


def test_domains_are_pickled_and_copied_as_the_same_object():
    domain = nvspan.get_domain("pickled")
    assert pickle.loads(pickle.dumps(domain)) is domain
    assert copy.copy(domain) is copy.deepcopy(domain) is domain
    assert weakref.ref(domain)() is domain


def test_domain_equality_and_hash_are_identity():
    one, two = nvspan.get_domain("one"), nvspan.get_domain("two")
    assert len({one, two, nvspan.Domain("one")}) == 2
    assert one != two


def test_range_handles_unpack():
    handle = nvspan.start_range("m", domain="d")
    range_id, domain = handle
    assert isinstance(range_id, int)
    assert handle[0] == range_id
    assert len(handle) == 2
    nvspan.end_range(handle)
    nvspan.end_range(handle)
    nvspan.end_range((range_id, domain))


def test_reprs_say_what_the_objects_are():
    assert "annotate" in repr(nvspan.annotate("m"))
    assert "'m'" in repr(nvspan.annotate("m"))
    assert "'d'" in repr(nvspan.get_domain("d"))
    assert repr(nvspan.get_domain("d").get_event_attributes("m"))


def test_attributes_hold_what_they_were_given():
    domain = nvspan.get_domain("d")
    attributes = domain.get_event_attributes("m", "red", "c", 5)
    assert attributes.message.string == "m"
    assert (attributes.color, attributes.payload) == ("red", 5)
    assert attributes.category == domain.get_category_id("c")
    assert attributes.domain is domain
    attributes.category = None
    assert attributes.category == 0


def test_registered_strings_and_categories_are_cached():
    domain = nvspan.get_domain("d")
    assert domain.get_registered_string("x") is domain.get_registered_string("x")
    string = domain.get_registered_string("x")
    assert (string.string, string.domain.name) == ("x", "d")
    assert domain.get_category_id("k") == domain.get_category_id("k")
    assert domain.categories["k"] == domain.get_category_id("k")


@pytest.mark.parametrize(
    ("color", "argb"),
    [
        (None, 0x0000FF), ("green", 0x008000), ("blue", 0x0000FF), ("yellow", 0xFFFF00),
        ("purple", 0x800080), ("rapids", 0x7400FF), ("cyan", 0x00FFFF), ("red", 0xFF0000),
        ("white", 0xFFFFFF), ("darkgreen", 0x006400), ("orange", 0xFFA500), (5, 5),
        ("rebeccapurple", 0xFF663399), ("aliceblue", 0xFFF0F8FF), ("grey", 0xFF808080),
        ("#abc", 0xFFAABBCC), ("#01020304", 0x01020304), ((0, 128, 255), 0xFF0080FF),
        ((1.0, 0.5, 0.0), 0xFFFF8000),
    ],
)  # fmt: skip
def test_colors(color, argb):
    assert nvspan.colors.color_to_hex(color) == argb


CSS_NAMES = """
aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet
brown burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue
darkcyan darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange
darkorchid darkred darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise
darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen
fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew hotpink indianred
indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen
lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen magenta
maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue
mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin
navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen
paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple rebeccapurple
red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue
slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet
wheat white whitesmoke yellow yellowgreen
""".split()  # fmt: skip  # noqa: SIM905


def test_all_148_css_names_are_known():
    assert len(CSS_NAMES) == 148
    assert [
        name for name in CSS_NAMES if not isinstance(nvspan.colors.color_to_hex(name), int)
    ] == []
