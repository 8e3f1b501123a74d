# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What bench_annotate.py measures: the statements, and the targets they are held to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Subject = Literal["nvspan", "nvtx", "nullcontext", "bare"]
# none: no tool.  tool: the null injection, from the first annotation on.  asyncio: `tool` with
# asyncio imported.  gone: the null injection was attached in process and detached again.
State = Literal["none", "tool", "asyncio", "gone"]


@dataclass(frozen=True)
class Case:
    """A statement that is timed in a loop; `setup` and `statement` may use {module}."""

    name: str
    title: str
    setup: str
    statement: str
    null_setup: str = ""
    null_statement: str = ""
    bare_setup: str = ""
    bare_statement: str = ""
    states: tuple[State, ...] = ("none", "tool", "asyncio")


@dataclass(frozen=True)
class Target:
    """A limit on one measured quantity of one case.

    kind: `ratio` nvspan / reference <= limit; `times` peer / nvspan >= limit; `over` ns of nvspan
    minus ns of `bare` <= limit; `added` ns in `state` minus ns with no tool <= limit.
    """

    case: str
    kind: Literal["ratio", "times", "over", "added"]
    state: State
    limit: float
    required: bool = False


NULL = "from contextlib import nullcontext"
ANNOTATE = "from {module} import annotate"
FIVE = '"x", color="red", domain="bench", category="loop", payload=7'

CASES: tuple[Case, ...] = (
    Case(
        "with", '`with annotate("x")`', ANNOTATE, 'with annotate("x"): pass',
        NULL, "with nullcontext(): pass",
    ),
    Case(
        "with_all", "`with annotate(...)`, all five fields", ANNOTATE,
        f"with annotate({FIVE}): pass", NULL, "with nullcontext(): pass",
    ),
    Case(
        "kept", "`with r` on a kept object", ANNOTATE + '\nr = annotate("x")', "with r: pass",
        NULL + "\nr = nullcontext()", "with r: pass",
    ),
    Case(
        "decorated", "decorated call minus bare call",
        ANNOTATE + '\n@annotate("x")\ndef call(a): return a', "call(i)",
        bare_setup="def call(a): return a", bare_statement="call(i)",
        states=("none", "gone", "tool", "asyncio"),
    ),
    Case(
        "payload", '`with annotate("x", payload=i)`', ANNOTATE,
        'with annotate("x", payload=i): pass', NULL, "with nullcontext(): pass",
    ),
    Case(
        "push_pop", "push_range + pop_range", "from {module} import push_range, pop_range",
        'push_range("x"); pop_range()',
    ),
    Case(
        "start_end", "start_range + end_range", "from {module} import start_range, end_range",
        'end_range(start_range("x"))',
    ),
    Case("mark", "mark", "from {module} import mark", 'mark("x")'),
    Case(
        "domain", "Domain push + pop with kept attributes",
        'from {module} import get_domain\nd = get_domain("bench")\n'
        'a = d.get_event_attributes(message="x")',
        "d.push_range(a); d.pop_range()",
    ),
)  # fmt: skip

TARGETS: tuple[Target, ...] = (
    Target("with", "ratio", "none", 0.18, required=True),
    Target("with", "times", "none", 8, required=True),
    Target("with", "times", "tool", 14, required=True),
    Target("with_all", "ratio", "none", 0.35),
    Target("with_all", "times", "none", 6),
    Target("with_all", "times", "tool", 10),
    Target("kept", "ratio", "none", 0.25),
    Target("kept", "times", "none", 4),
    Target("kept", "times", "tool", 5),
    Target("decorated", "over", "none", 3, required=True),
    Target("decorated", "over", "gone", 3, required=True),
    Target("decorated", "over", "tool", 100, required=True),
    Target("payload", "ratio", "none", 0.4),
    Target("push_pop", "times", "none", 7),
    Target("push_pop", "times", "tool", 14),
    Target("start_end", "times", "none", 4),
    Target("start_end", "times", "tool", 9),
    Target("mark", "times", "none", 7),
    Target("mark", "times", "tool", 15),
    Target("domain", "times", "none", 1.6),
    Target("domain", "times", "tool", 2),
    *(Target(case, "added", "tool", 25) for case in ("with", "kept", "push_pop", "mark")),
    *(Target(case, "added", "asyncio", 70) for case in ("with", "kept", "push_pop", "mark")),
)

IMPORT_LIMIT_MS = 10.0


def limit_of(target: Target, version: tuple[int, int]) -> float:
    """The limit of a target on one CPython: idle decorated calls may cost 35 ns on 3.10."""
    idle = target.kind == "over" and target.state in ("none", "gone")
    return 35.0 if idle and version == (3, 10) else target.limit


@dataclass
class Measured:
    """Medians in ns per statement, loop overhead subtracted, of one case in one state."""

    case: str
    state: str
    empty: float = 0.0
    ns: dict[str, float] = field(default_factory=dict)
    spread: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
