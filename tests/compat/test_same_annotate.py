# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`annotate` sends a tool what nvtx 0.2.17 sends, apart from the differences stated here."""

from __future__ import annotations

import pytest

from helpers.conformance import Difference, Program, compare

PROGRAMS = [
    Program("with_message", "with nvtx.annotate('a'): pass"),
    Program("with_nothing_at_all", "with nvtx.annotate(): pass"),
    Program("with_as_gives_the_object", "r = nvtx.annotate('a')\nwith r as s: print(r is s)"),
    Program(
        "with_all_keywords",
        "with nvtx.annotate(message='a', color='red', domain='d', category='c', payload=3): pass",
    ),
    Program("with_all_positional", "with nvtx.annotate('a', 'red', 'd', 'c', 3): pass"),
    Program("with_int_category", "with nvtx.annotate('a', category=7): pass"),
    Program("with_int_color", "with nvtx.annotate('a', color=0x80123456): pass"),
    Program("with_float_payload", "with nvtx.annotate('a', payload=2.5): pass"),
    Program("with_negative_payload", "with nvtx.annotate('a', payload=-2): pass"),
    Program("with_empty_message", "with nvtx.annotate(''): pass"),
    Program("with_empty_domain", "with nvtx.annotate('a', domain=''): pass"),
    Program("with_unicode", "with nvtx.annotate('größe 寸 🙂', domain='dömäne'): pass"),
    Program("with_long_message", "with nvtx.annotate('x' * 1500): pass"),
    Program(
        "nested",
        "with nvtx.annotate('a'):\n with nvtx.annotate('b', domain='d'):\n"
        "  with nvtx.annotate('c', domain='d'): pass\n with nvtx.annotate('e'): pass",
    ),
    Program("kept_object", "r = nvtx.annotate('a', payload=1)\nfor _ in range(3):\n with r: pass"),
    Program("kept_object_nested_in_itself", "r = nvtx.annotate('a')\nwith r:\n with r: pass"),
    Program(
        "exception_in_the_body",
        "try:\n with nvtx.annotate('a'): raise KeyError(1)\nexcept KeyError as e: print(repr(e))\n"
        "with nvtx.annotate('b'): pass",
    ),
    Program(
        "break_continue_return",
        "def f():\n for i in range(3):\n  with nvtx.annotate('loop', payload=i):\n"
        "   if i == 0: continue\n   return i\nprint(f())",
    ),
    Program(
        "enter_and_exit_by_hand",
        "r = nvtx.annotate('a')\nprint(r.__enter__() is r)\nprint(r.__exit__(None, None, None))",
    ),
    Program(
        "exit_stack",
        "import contextlib\nwith contextlib.ExitStack() as s:\n"
        " s.enter_context(nvtx.annotate('a'))\n s.enter_context(nvtx.annotate('b'))\n"
        " nvtx.mark('m')",
    ),
    Program(
        "context_manager_generator",
        "import contextlib\n@contextlib.contextmanager\ndef cm(name):\n"
        " with nvtx.annotate(name): yield\nwith cm('a'):\n with cm('b'): pass",
    ),
    Program("several_in_one_with", "with nvtx.annotate('a'), nvtx.annotate('b'): pass"),
    Program("decorator", "@nvtx.annotate('a')\ndef f(x): return x + 1\nprint(f(1), f(2))"),
    Program("decorator_default_name", "@nvtx.annotate()\ndef f(): return 5\nprint(f())"),
    Program(
        "decorator_all_fields",
        "@nvtx.annotate(color='rapids', domain='d', category='c', payload=9)\ndef f(): pass\nf()",
    ),
    Program(
        "decorator_keeps_metadata",
        "@nvtx.annotate('a')\ndef f(x: int, *, y: str = 'k') -> float:\n 'doc'\n return 1.0\n"
        "import inspect\nf(1)\n"
        "print(f.__name__, f.__doc__, f.__qualname__, f.__module__, inspect.signature(f))\n"
        "print(f.__wrapped__.__name__, f.__annotations__)",
    ),
    Program(
        "decorator_exception",
        "@nvtx.annotate('a')\ndef f(): raise ValueError('x')\n"
        "try: f()\nexcept ValueError as e: print(e)\nwith nvtx.annotate('b'): pass",
    ),
    Program(
        "decorator_recursion",
        "@nvtx.annotate('fact')\ndef fact(n): return 1 if n < 2 else n * fact(n - 1)\n"
        "print(fact(5))",
    ),
    Program(
        "decorator_method",
        "class A:\n @nvtx.annotate()\n def m(self, x): return x\n"
        " @staticmethod\n @nvtx.annotate('s')\n def s(x): return x\n"
        " @classmethod\n @nvtx.annotate('c')\n def c(cls): return cls.__name__\n"
        " @property\n @nvtx.annotate('p')\n def p(self): return 4\n"
        "a = A()\nprint(a.m(1), a.s(2), A.s(3), a.c(), a.p)",
    ),
    Program(
        "decorator_lambda_and_partial",
        "import functools\nf = nvtx.annotate('l')(lambda x, *a, **k: (x, a, k))\n"
        "print(f(1, 2, k=3), functools.partial(f, 1)(5))",
    ),
    Program(
        "decorator_default_name_of_lambda_and_nested_function",
        "def outer():\n @nvtx.annotate()\n def inner(): pass\n inner()\nouter()\n"
        "nvtx.annotate()(lambda: 0)()",
    ),
    Program(
        "stacked_decorators",
        "@nvtx.annotate('outer')\n@nvtx.annotate('inner', domain='d')\ndef f(): pass\nf()",
    ),
    Program(
        "two_annotates_on_two_functions",
        "@nvtx.annotate()\ndef f(): pass\n@nvtx.annotate()\ndef g(): pass\nf()\ng()\nf()",
    ),
    Program(
        "one_object_on_two_functions",
        "a = nvtx.annotate()\n@a\ndef f(): pass\n@a\ndef g(): pass\nf()\ng()",
        (
            Difference(
                "each function has its own name",
                ("push [] 'f' color=000000FF depth=0", "pop [] 'f' depth=0") * 2,
                (
                    "push [] 'f' color=000000FF depth=0", "pop [] 'f' depth=0",
                    "push [] 'g' color=000000FF depth=0", "pop [] 'g' depth=0",
                ),
            ),
        ),
    ),
    Program(
        "object_used_as_decorator_and_context_manager",
        "a = nvtx.annotate()\n@a\ndef f(): pass\nf()\nwith a: pass",
        (
            Difference(
                "decorating does not change the object",
                ("push [] 'f' color=000000FF depth=0", "pop [] 'f' depth=0") * 2,
                (
                    "push [] 'f' color=000000FF depth=0", "pop [] 'f' depth=0",
                    "push [] - color=000000FF depth=0", "pop [] - depth=0",
                ),
            ),
        ),
    ),
    Program(
        "pickled_annotate",
        "import pickle\nr = pickle.loads(pickle.dumps(nvtx.annotate('a', 'red', 'd', 'c', 5)))\n"
        "print(r.init_args)\nwith r: pass",
    ),
    Program(
        "copied_annotate",
        "import copy\nr = nvtx.annotate('a', payload=5)\n"
        "for c in copy.copy(r), copy.deepcopy(r):\n"
        " print(type(c) is type(r), c.init_args)\n with c: pass",
    ),
    Program(
        "pickled_decorated_function",
        "import pickle\n@nvtx.annotate('a')\ndef f(x): return x\n"
        "g = pickle.loads(pickle.dumps(f))\nprint(g is f, g(3))",
    ),
    Program(
        "subclass",
        "class mine(nvtx.annotate):\n"
        " def __init__(self, name): super().__init__('my ' + name, domain='mine')\n"
        "with mine('a') as m: print(isinstance(m, nvtx.annotate))\n"
        "@mine('b')\ndef f(): return 1\nprint(f())",
    ),
    Program(
        "subclass_with_overridden_enter",
        "class mine(nvtx.annotate):\n def __enter__(self):\n  print('in')\n"
        "  return super().__enter__()\n def __exit__(self, *e):\n  print('out')\n"
        "  return super().__exit__(*e)\nwith mine('a'): pass",
    ),
    Program(
        "attributes_of_the_object",
        "a = nvtx.annotate('m', 'red', 'd', 'c', 5)\n"
        "print(a.attributes.message.string, a.init_args, a.domain.name)\nwith a: pass",
    ),
    Program("exit_with_no_enter_is_nothing", "nvtx.annotate('a').__exit__(None, None, None)",
        (Difference("closes nothing that it did not open", ("pop [] - depth=-1",), ()),)),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_sends_what_the_peer_sends(program, outcomes):
    compare(program, outcomes["nvspan"][program.name], outcomes["nvtx"][program.name])
