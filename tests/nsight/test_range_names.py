# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Plain names and patterns become the filters that find them: domain and kind from a recording."""

from __future__ import annotations

import sys

import pytest

from helpers.recorded import record_command
from helpers.traced import needs_library
from nvspan.nsight import Between, RangeFilter, range_filters

pytestmark = needs_library
PROGRAM = """
import nvspan

def layers(domain):
    for i in range(3):
        with nvspan.annotate(f"layers.{i}", domain=domain):
            with nvspan.annotate(f"layers.{i}.attention", domain=domain):
                pass
            with nvspan.annotate(f"layers.{i}.mlp", domain=domain):
                pass

with nvspan.annotate("forward", domain="torch"):
    layers("torch")
with nvspan.annotate("backward", domain="torch"):
    pass
with nvspan.annotate("a;b"), nvspan.annotate("x > y"), nvspan.annotate("f[0]"):
    pass
with nvspan.annotate("app::add"), nvspan.annotate("forward"):
    pass
nvspan.end_range(nvspan.start_range("load", domain="data"))
nvspan.end_range(nvspan.start_range("both"))
with nvspan.annotate("both"):
    pass
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    return record_command([sys.executable, "-c", PROGRAM], folder=folder).recording


@pytest.mark.parametrize(
    ("ranges", "texts"),
    [
        ("layers.2.attention", ["torch@layers.2.attention/"]),
        ("torch:layers.2", ["torch@layers.2/"]),
        ("torch:layers.*.mlp", [f"torch@layers.{i}.mlp/" for i in range(3)]),
        ("layers.?", [f"torch@layers.{i}/" for i in range(3)]),
        ("forward > layers.1.mlp", ["torch@forward/*/layers.1.mlp"]),
        ("torch:forward  >  layers.1  > *.mlp", ["torch@forward/*/layers.1/*/layers.1.mlp"]),
        ("load", ["data@load"]),
        ("both", ["both/", "both"]),
        ("NVTX:both", ["both/", "both"]),
        ("forward", ["torch@forward/", "forward/"]),
        ("NVTX:forward", ["forward/"]),
        ("app::add", ["app::add/"]),
        ("a;b", ["a;b/"]),
        ("x > y", ["x > y/"]),
        ("f[0]", [r"f\[0\]/"]),
        ("load; backward ;load;", ["data@load", "torch@backward/"]),
        (["load", "backward;both"], ["data@load", "torch@backward/", "both/", "both"]),
        ("torch@forward/+/layers.1.mlp", ["torch@forward/+/layers.1.mlp"]),
        ("[forward", ["[forward"]),
        (r"regex:layers\..*/", [r"regex:layers\..*/"]),
        ([RangeFilter("absent")], ["absent/"]),
    ],
)
def test_names(recording, ranges, texts):
    assert sorted(map(str, range_filters(ranges, recording))) == sorted(texts)


def test_a_name_that_ncu_reads_only_as_a_regular_expression(tmp_path):
    """None stands in a plain filter; "." is in place of what ncu cannot read."""
    names = ["@load", "w\\[0]", "c:\\dir", "p@@q", "p.@q"]
    end, domain = "end\\", "x\\\\y"
    code = f"""
import nvspan
for name in {names!r}:
    with nvspan.annotate(name), nvspan.annotate("in"):
        pass
nvspan.end_range(nvspan.start_range({end!r}, domain={domain!r}))
"""
    recording = record_command([sys.executable, "-c", code], folder=tmp_path).recording
    found = {
        "@load": r"regex:^.load$/",
        r"w\[0]": r"regex:^w.\[0\]$/",
        r"c:\dir": r"c:\dir/",
        r"w\[0] > in": r"regex:w.\[0\]/*/in",
        "end\\": r"regex:^x.\\y$@^end.$",
    }
    for name, text in found.items():
        (filter,) = range_filters(name, recording)
        assert str(filter) == text
        hits = filter.evaluate(recording)
        assert [row.name for row in hits.rows] == [name.rpartition(" > ")[2]]
        assert RangeFilter.parse(text) == filter
    with pytest.raises(ValueError, match="'@@' and no domain"):
        range_filters("p@@q", recording)


def test_the_order_is_that_of_the_names(recording):
    found = range_filters("load; torch:forward > layers.0", recording)
    assert found == [
        RangeFilter("load", domain="data", span=True),
        RangeFilter("forward", Between.ANY, "layers.0", domain="torch"),
    ]


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ("layers.1.atention", "ranges: no range 'layers.1.atention' in the recording; the nearest "
         "are 'layers.1.attention', 'layers.2.attention', 'layers.0.attention'"),
        ("load; forwad > layers.1", "no range 'forwad' in the recording; the nearest are "
         "'forward'"),
        ("data:forward", "no range 'data:forward' in the recording; the nearest are 'data:load', "
         "'forward', 'torch:forward'"),
        ("backward > layers.1", "never as push/pop ranges of one thread within each other"),
        ("load > forward", "no domain has all of 'load', 'forward'"),
        ("", "ranges names no range: ''"),
        (" ; ", "ranges names no range"),
        ([], "ranges names no range"),
        ("torch@forward[0]/", r"write '\['"),
    ],
)  # fmt: skip
def test_a_name_that_is_not_there(recording, ranges, words):
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        range_filters(ranges, recording)
    assert words in str(raised.value)


def test_what_is_no_name(recording):
    with pytest.raises(TypeError, match="ranges must hold str and RangeFilter, not int"):
        range_filters(["load", 3], recording)


def test_too_many_names(tmp_path):
    code = "import nvspan\nfor i in range(300):\n    with nvspan.annotate(f'step {i}'): pass\n"
    recording = record_command([sys.executable, "-c", code], folder=tmp_path).recording
    with pytest.raises(ValueError, match="needs 300 filters, more than 256"):
        range_filters("step *", recording)
    assert len(range_filters("step 2*", recording)) == 111
