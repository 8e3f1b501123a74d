# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What nvspan says of each recording of the key: all that must be said, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from answers.key.answer import answer
from answers.key.anything import anything
from answers.key.families import FAMILIES
from answers.key.program import Program
from answers.key.truth import RECORDINGS, make, problems, wording

from helpers.length import length

SEEDS = length(range(1, 9), range(1, 2))  # besides 0
OTHERWISE = length(list(RECORDINGS), list(RECORDINGS)[::4])  # those that have other seeds
MAX_WRONG = 0.02  # of the recordings with other seeds, whose noise may look like what it is not


def wrong(name: str, seed: int, path: Path) -> list[str]:
    """What is wrong in the answer, and the answer."""
    program, truth = make(name, seed, path)
    said = answer(path)
    found = problems(program, truth, said)
    return [name, *found, *said.sentences()] if found else []


def test_every_family_has_recordings():
    assert {build.__module__ for build in RECORDINGS.values()} == {f.__name__ for f in FAMILIES}


@pytest.mark.parametrize("name", RECORDINGS)
def test_all_is_said_and_nothing_else(name, tmp_path):
    lines = wrong(name, 0, tmp_path / "key.nvspan")
    assert not lines, "\n".join(lines)


def test_a_program_of_any_shape_has_a_headline(tmp_path):
    path = tmp_path / "key.nvspan"
    for seed in range(length(2000, 100)):
        program = Program(seed)
        anything(program)
        program.write(path)
        assert list(wording(answer(path))) == [], seed


@pytest.mark.parametrize("seed", SEEDS)
def test_other_noise_changes_few_answers(seed, tmp_path):
    answers = [wrong(name, seed, tmp_path / "key.nvspan") for name in OTHERWISE]
    misses = ["\n".join(lines) for lines in answers if lines]
    assert len(misses) <= MAX_WRONG * len(answers), "\n\n".join(misses)
