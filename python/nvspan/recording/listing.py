# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Words and numbers of a sentence, one after the other."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def listing(words: Sequence[str]) -> str:
    """Words of a sentence.

    >>> listing(["0", "2", "3"]), listing(["0"])
    ('0, 2 and 3', '0')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def runs(numbers: Iterable[int]) -> list[str]:
    """Numbers in order; three or more in a row as one text.

    >>> runs([4, 0, 1, 2, 6, 7])
    ['0-2', '4', '6', '7']
    """
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return [
        text
        for run in found
        for text in ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run))
    ]
