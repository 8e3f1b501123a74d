# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A recursive parser of arithmetic, whose tokenizer is what takes the time."""

import random
import re

from measured import phase

random.seed(3)


def expression(depth: int) -> str:
    if depth == 0:
        return str(random.randrange(1000))
    return f"({expression(depth - 1)} {random.choice('+*-')} {expression(depth - 1)})"


def parse(tokens: list[str]) -> object:
    token = tokens.pop()
    if token != "(":
        return int(token)
    left = nested(tokens)
    sign = tokens.pop()
    right = nested(tokens)
    tokens.pop()
    return sign, left, right


def nested(tokens: list[str]) -> object:
    with phase("parse_expression"):
        return parse(tokens)


with phase("main"):
    with phase("generate"):
        text = expression(11)
    with phase("tokenize"):
        for _ in range(40):
            tokens = re.findall(r"\d+|[()+*-]", text)[::-1]
    with phase("parse"):
        nested(tokens)
