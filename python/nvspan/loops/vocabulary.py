# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the names of ranges say: steps, evaluation, loading, waits, functions of a profile."""

from __future__ import annotations

import re
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

PROFILE_DOMAIN = "nvtx.py"  # of the calls that a profile shows: their names say where they are


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STEP_WORDS = _words(
    """step train_step training_step trainstep trainingstep iteration iter train_iter
    train_iteration training_iteration batch train_batch training_batch minibatch mini_batch
    profilerstep run_training_batch train_one_batch process_batch global_step simulation_step
    time_step timestep frame tick request handle_request http_request req query job task
    message transaction"""
)
REQUEST_WORDS = _words("request req query job task message transaction frame")
# Rounds that often hold the steps.
COARSE_WORDS = _words(
    """epoch train_epoch training_epoch run_epoch train_one_epoch episode trial fold round phase
    generation pass sweep stage experiment"""
)
# Numbers after these count rounds.
COUNTER_WORDS = (
    STEP_WORDS
    | COARSE_WORDS
    | _words(
        """item sample doc document file image img page row record chunk shard_id user event cycle
    turn prompt token url rep repeat run case test simulation sim game match day period order
    rollout update loop microbatch micro_batch"""
    )
)
LAYER_WORDS = _words(
    """layer layers block blocks head heads expert experts conv fc linear attn attention mlp norm
    ln bn relu encoder decoder resblock res"""
)
# Numbers after these do not count rounds.
STRUCTURE_WORDS = LAYER_WORDS | _words(
    """h stage level pool worker thread gpu rank device stream core queue node replica shard
    module phase part pass"""
)
EVALUATION = _words("eval evaluate evaluation validate validation val valid test testing")
CHECKPOINT = _words("checkpoint checkpointing ckpt save saving snapshot")
LOADING = _words(
    """data dataloader loader load loading fetch fetching next_batch get_batch prefetch read
    reader input dataset collate next"""
)

_WAIT = _words(
    """wait waiting waits await acquire barrier recv synchronize synchronise semaphore idle
    blocked"""
)
_WAIT_LAST = frozenset(("lock", "join", "poll"))
_WAIT_PAIRS = frozenset(
    tuple(pair.split())
    for pair in (
        *("queue get", "queue put", "q get", "q put", "future result", "fut result"),
        *("futures result", "as completed", "pool map", "get queue", "from queue", "thread join"),
        *("join thread", "join threads", "join worker", "join workers", "pool join"),
        *("process join", "select select", "selector select", "selectors select"),
    )
)
# A recording may have a million names, and most have none of these in them.
_WAIT_STEMS = (
    *("wait", "acquire", "barrier", "recv", "synchroni", "semaphore", "idle", "blocked", "lock"),
    *("join", "poll", "select", "get", "put", "result", "completed", "map", "queue"),
)
# Work that has the name of a wait: "hash_join", "os.path.join", "open_barrier", "barrier_option".
_NO_WAIT = re.compile(
    r"(str|path|os|np|df|hash|merge|sql|table)s?[._ ]join"
    r"|(^|[_ ])(?<![.])(hash|inner|outer|left|right|loop)[_ ]join"
    r"|(open|close|raise|lower|lift)[_ ]barrier|barrier[_ ]option",
    re.I,
)
_FUNCTION = re.compile(r"^(.*):(\d+)\((.*)\)$")
_HUMP = re.compile(r"([a-z0-9])([A-Z])")
_NO_LETTER = re.compile(r"[^a-z]+")


def words_in(name: str) -> list[str]:
    """The words of a name, in lower case.

    >>> words_in("TrainStep#3 of data-loader")
    ['train', 'step', 'of', 'data', 'loader']
    """
    return [word for word in _NO_LETTER.split(_HUMP.sub(r"\1_\2", name).lower()) if word]


def snake(name: str) -> str:
    """The words of a name, joined.

    >>> snake("ProfilerStep#12")
    'profiler_step'
    """
    return "_".join(words_in(name))


def has_word(name: str, vocabulary: Set[str]) -> bool:
    """Whether a word of the name, or all of them together, are in the vocabulary."""
    words = words_in(name)
    return not vocabulary.isdisjoint(words) or "_".join(words) in vocabulary


def is_wait(name: str) -> bool:
    """Whether a range of this name waits for others. "join" alone is one of tables, too.

    >>> is_wait("queue.get"), is_wait("uploader.join"), is_wait("hash_join"), is_wait("join")
    (True, True, False, False)
    >>> is_wait("dist.barrier"), is_wait("open_barrier")
    (True, False)
    """
    lower = name.lower()
    if not any(stem in lower for stem in _WAIT_STEMS) or _NO_WAIT.search(name):
        return False
    words = words_in(name)
    if not words:
        return False
    is_call = "." in name or ":" in name or (len(words) == 1 and words != ["join"])
    return (
        not _WAIT.isdisjoint(words)
        or (words[-1] in _WAIT_LAST and is_call)
        or any(pair in _WAIT_PAIRS for pair in pairwise(words))
    )


def is_evaluation(name: str) -> bool:
    """Whether a range of this name evaluates what steps made.

    >>> is_evaluation("validation_epoch"), is_evaluation("interval")
    (True, False)
    """
    lower = name.lower()
    return ("val" in lower or "test" in lower) and has_word(name, EVALUATION)


def is_function(domain: str | None, name: str) -> bool:
    """Whether the range is a call in a profile."""
    if domain == PROFILE_DOMAIN:
        return True
    return name.endswith(")") and _FUNCTION.match(name) is not None


def place_in_code(name: str) -> tuple[str, str, int] | None:
    """Function, file and line of a call in a profile.

    >>> place_in_code("loader.py:8(clean)")
    ('clean', 'loader.py', 8)
    """
    found = _FUNCTION.match(name)
    return (found[3], found[1], int(found[2])) if found else None
