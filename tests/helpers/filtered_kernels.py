# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels in ranges, and which of them ncu 2025.3.1 profiles with a filter, as measured."""

from __future__ import annotations

# Kernel: the domain of the ranges that are open around it, their kind, and their names.
STACKS = {
    1: ("app", "push_pop", ("step",)),
    2: ("app", "push_pop", ("step", "forward")),
    3: ("app", "push_pop", ("step", "forward", "layer[0]")),
    4: ("app", "push_pop", ("step", "layer[0]")),
    5: ("app", "push_pop", ("layer[0]",)),
    6: (None, "push_pop", ("step",)),
    7: ("app", "start_end", ("load",)),
    8: ("app", "start_end", ("load", "copy")),
    9: ("app", "push_pop", ("step", "a.b")),
    10: ("app", "push_pop", ("step", "axb")),
    11: ("app", "push_pop", ("x@y",)),
    12: ("app", "push_pop", ("back\\slash",)),
    13: ("app", "push_pop", ()),
}

_STEP = {1, 2, 3, 4, 9, 10}

PLAIN = {
    "step/": {6},
    "app@step/": _STEP,
    "app@forward/": {2, 3},
    "app@axb/": {10},
    "app@a.b/": {9},
    r"app@a\.b/": set(),
    r"app@x\@y/": {11},
    r"app@back\slash/": {12},
    "app@absent/": set(),
    "app@[step": _STEP,
    "app@[step/": _STEP,
    "app@step]": {1},
    "app@forward]": {2},
    r"app@layer\[0\]]": {3, 4, 5},
    r"app@[layer\[0\]": {5},
    "app@[forward": set(),
    "app@step/forward": {2, 3},
    "app@[step/forward]": {2},
    "app@[step/forward": {2, 3},
    "app@step/forward]": {2},
    r"app@step/layer\[0\]": {4},
    r"app@step/*/layer\[0\]": {3, 4},
    r"app@step/+/layer\[0\]": {3},
    "app@[step/*": _STEP,
    "app@step/*": _STEP,
    "app@load": {7, 8},
    "app@load,copy": {8},
    "app@[load": set(),
    "app@load]": set(),
}

REGEX = {
    "regex:app@for/": {2, 3},
    "regex:app@^for/": {2, 3},
    "regex:app@^for$/": set(),
    "regex:app@ward/": {2, 3},
    "regex:app@^forward$/": {2, 3},
    "regex:app@tep/": _STEP,
    "regex:app@^ste$/": set(),
    "regex:app@[ste": _STEP,
    "regex:app@[.*tep": _STEP,
    "regex:app@war]": {2},
    "regex:app@forward]": {2},
    "regex:app@.*ward]": {2},
    "regex:app@(forward|a.b)/": {2, 3, 9, 10},
    r"regex:app@l.*[0-9]\]/": {3, 4, 5},
    "regex:app@lo": {7, 8},
    "regex:app@^lo$": set(),
    "regex:app@loa[a-d/]": {7, 8},
    "regex:app@loa,cop": {8},
    "regex:app@load,copy": {8},
    "regex:app@step": set(),
    "regex:pp@forward/": {2, 3},
    "regex:p@load": {7, 8},
    "regex:ap@[step": _STEP,
    "regex:^app$@forward/": {2, 3},
    "regex:a@step/forward": {2, 3},
    "regex:a.*@step/for.*": {2, 3},
    "regex:app@step/ward": set(),
    "regex:app@step/for": set(),
    "regex:app@step/for/": set(),
    "regex:app@st/forward": set(),
    "regex:app@ste/for.*": set(),
    "regex:app@step/+/layer": set(),
    "regex:app@step/*/layer": set(),
    "regex:app@step/forward/layer": set(),
    "regex:app@step/for/layer.*": set(),
    "regex:app@step/forward": {2, 3},
    "regex:app@step/.*ward": {2, 3},
    "regex:app@step/(ward|forward)": {2, 3},
    "regex:app@step/for.*/layer.*": {3},
    r"regex:app@step/+/layer\[0\]": {3},
    "regex:app@step/*/lay.*": {3, 4},
    "regex:app@back.slash/": {12},
    r"regex:app@back\\slash/": {12},
    r"regex:app@back\\\\slash/": set(),
}

KERNELS = {**PLAIN, **REGEX}

# What ncu takes and finds nothing with, as no name can be like it: words of our error.
NEVER_HIT = {
    r"app@back\\slash/": "a single backslash",
    r"app@back\\\slash/": "a single backslash",
    "app@[step]": "bottom and top of one name",
    "app@[step/]": "empty name",
    "app@step/]": "empty name",
    r"app@[layer\[0\]]": "bottom and top of one name",
    "app@[*/forward]": "must have a name first",
    "app@*": r"write '\\\*'",
    "*@step/": r"write '\\\*'",
    "app@st*/": r"write '\\\*'",
    "app@layer[0]/": r"write '\\\['",
}

# What ncu refuses as well.
INVALID = {"app@*/": "at least one range", "app@x@y/": "more than one '@'"}
