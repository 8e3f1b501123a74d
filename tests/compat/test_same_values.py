# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Colors, categories, payloads and messages arrive as with nvtx 0.2.17, or as stated here."""

from __future__ import annotations

import pytest

from helpers.conformance import Difference, Program, compare

PEER_COLORS = ("green", "blue", "yellow", "purple", "rapids", "cyan", "red", "white", "darkgreen",
               "orange")  # fmt: skip
MARK = "mark [] 'm' color=000000FF"


def dropped_by_the_peer(name: str, value: str, ours: str, setup: str = "") -> Program:
    """A payload that the peer refuses with a warning and nvspan sends."""
    return Program(
        name,
        f"import warnings; warnings.simplefilter('ignore')\n{setup}\n"
        f"nvtx.mark('m', payload={value})",
        (Difference("the value is sent", (MARK,), (f"{MARK} payload={ours}",)),),
    )


def extended(name: str, value: str) -> Program:
    """A payload of the extension; tests/payload compares the bytes."""
    return Program(name, f"nvtx.mark('m', payload={value})")


PROGRAMS = [
    Program("the_ten_colors", "\n".join(f"nvtx.mark('m', color='{c}')" for c in PEER_COLORS)),
    Program("no_color", "nvtx.mark('m', color=None)\nwith nvtx.annotate('a'): pass"),
    Program("int_colors", "for c in 0, 1, 0x80FFFFFF, 0xFFFFFFFF: nvtx.mark('m', color=c)"),
    Program("bool_color", "nvtx.mark('m', color=True)"),
    Program("color_to_hex", "from importlib import import_module\n"
        "hex = import_module(nvtx.__name__ + '.colors').color_to_hex\n"
        "print(hex(), hex(None), hex('red'), hex('rapids'), hex(77))\nnvtx.mark('m')"),
    Program("color_table", "from importlib import import_module\n"
        "table = import_module(nvtx.__name__ + '.colors')._NVTX_COLORS\n"
        f"print([table[n] for n in {(None, *PEER_COLORS)}])\nnvtx.mark('m')"),
    Program("int_payloads", "for p in 0, 1, -1, 2**63 - 1, -2**63: nvtx.mark('m', payload=p)"),
    Program("float_payloads", "for p in 0.0, -1.5, 1e300, float('inf'), -float('inf'):\n"
        " nvtx.mark('m', payload=p)"),
    Program("nan_payload", "nvtx.mark('m', payload=float('nan'))"),
    Program("none_payload", "nvtx.mark('m', payload=None)"),
    dropped_by_the_peer("bool_payload", "True", "i64:1"),
    dropped_by_the_peer("int_enum_payload", "E.A", "i64:4",
        "import enum\nE = enum.IntEnum('E', {'A': 4})"),
    dropped_by_the_peer("numpy_int_payload", "numpy.int32(-5)", "i64:-5", "import numpy"),
    dropped_by_the_peer("numpy_float_payload", "numpy.float32(0.5)", "f64:0.5", "import numpy"),
    dropped_by_the_peer("int_subclass_payload", "I(6)", "i64:6", "class I(int): pass"),
    dropped_by_the_peer("float_subclass_payload", "F(6)", "f64:6.0", "class F(float): pass"),
    dropped_by_the_peer("str_payload", "'text'", "ext:None"),
    extended("bytes_payload", "b'ab'"),
    extended("list_payload", "[1, 2]"),
    extended("tuple_payload", "(1, 2)"),
    extended("range_payload", "range(3)"),
    Program("int_categories", "for c in 0, 1, 77, 2**31: nvtx.mark('m', category=c)"),
    Program("str_categories", "for c in 'abab': nvtx.mark('m', category=c)"),
    Program("str_categories_per_domain", "for d in 'xy':\n for c in 'ab':\n"
        "  nvtx.mark('m', domain=d, category=c)"),
    Program("unicode_category", "nvtx.mark('m', category='größe')"),
    Program("str_category_after_an_int_category",
        "nvtx.mark('m', category=1)\nnvtx.mark('m', category='c')"),
    Program("same_message_is_registered_once", "for _ in range(3): nvtx.mark('m')"),
    Program("many_messages", "for i in range(100): nvtx.mark(f'm{i}')"),
    Program("bytes_message", "nvtx.mark(b'abc')"),
    Program("bytes_message_in_annotate", "with nvtx.annotate('gr\\xf6\\xdfe'.encode()): pass"),
    Program("message_with_control_characters", "nvtx.mark('a\\tb\\nc\\x7f\\x1b')"),
    Program("message_with_embedded_nul", "nvtx.mark('a\\0b')",
        (Difference("the NUL is shown", ("mark [] 'a' color=000000FF",),
                    ("mark [] 'a\\\\0b' color=000000FF",)),)),
    Program("str_subclass_message", "class S(str): pass\nnvtx.mark(S('abc'))"),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_sends_what_the_peer_sends(program, outcomes):
    compare(program, outcomes["nvspan"][program.name], outcomes["nvtx"][program.name])
