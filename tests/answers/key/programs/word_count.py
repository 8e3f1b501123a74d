# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A command that counts the words of a file: no loop with ranges, one part takes most of it."""

import collections
import random
import re
import tempfile

from measured import phase

random.seed(2)
WORDS = [f"word{number}" for number in range(500)]

with phase("main"), tempfile.TemporaryFile("w+") as file:
    with phase("write"):
        for _ in range(4000):
            file.write(" ".join(random.choices(WORDS, k=12)) + "\n")
    with phase("read"):
        file.seek(0)
        lines = file.readlines()
    with phase("tokenize"):
        pattern = re.compile(r"(?:[a-z]+\d*)|(?:\d+[a-z]*)")
        words = [word for _ in range(8) for line in lines for word in pattern.findall(line)]
    with phase("count"):
        counts = collections.Counter(words)
    with phase("report"):
        text = "\n".join(f"{word} {count}" for word, count in counts.most_common())
