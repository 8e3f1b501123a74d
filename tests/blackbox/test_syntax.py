# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Triggers as they are written, and what is said of those that cannot be understood."""

from __future__ import annotations

import re
import signal

import pytest

from nvspan.blackbox.syntax import KILLED, SLOW, STALL, Triggers, chosen, parse


def test_all_of_them_are_understood():
    assert parse(
        ["slow:step>3; slow:NCCL:*>2 ", "stall:30s;killed;signal:usr2; exception",
         "last:2min;every:500ms;keep:5;env:SLURM_*, RANK"]
    ) == Triggers(
        rules=[(SLOW, "step", 3.0), (SLOW, "NCCL:*", 2.0), (STALL, "", 30.0), (KILLED, "", 0.0)],
        signals=[signal.SIGUSR2], exception=True, last=120.0, every=0.5, keep=5,
        env=["SLURM_*", "RANK"],
    )  # fmt: skip


@pytest.mark.parametrize("text", ["", " ", ";;"])
def test_nothing_is_nothing(text):
    assert parse(text) == Triggers()
    assert not parse(text).watches


def test_a_range_may_have_any_name():
    assert parse("slow:a > b: c>2.5").rules == [(SLOW, "a > b: c", 2.5)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("slow:step", "trigger 'slow:step': needs a range and a factor, as in slow:step>3"),
        ("slow:>3", "trigger 'slow:>3': needs a range and a factor, as in slow:step>3"),
        ("slow:step>", "trigger 'slow:step>': needs a factor of 1 or more after '>', not ''"),
        ("slow:step>0.5",
         "trigger 'slow:step>0.5': needs a factor of 1 or more after '>', not '0.5'"),
        ("stall:30", "trigger 'stall:30': must be a time such as 30s, 200ms or 5min, not '30'"),
        ("stall", "trigger 'stall': must be a time such as 30s, 200ms or 5min, not ''"),
        ("stall:-1s", "trigger 'stall:-1s': must be a time above 0, not '-1s'"),
        ("last:nans", "trigger 'last:nans': must be a time such as 30s, 200ms or 5min, not 'nans'"),
        ("keep:0", "trigger 'keep:0': must be a number above 0, not '0'"),
        ("signal:HELLO", "trigger 'signal:HELLO': must be a signal such as USR2, not 'HELLO'"),
        ("signal:KILL", "trigger 'signal:KILL': KILL cannot be caught by a process; killed is a "
         "separate trigger"),
        ("signal:SEGV", "trigger 'signal:SEGV': SEGV ends the process before anything is written; "
         "use killed"),
        ("killed:now", "trigger 'killed:now': takes no value"),
        ("stal:30s", "trigger 'stal:30s': is none of slow:RANGE>FACTOR, stall:TIME, killed, "
         "signal:NAME, exception, last:TIME, every:TIME, keep:COUNT, env:NAMES"),
        ("change:NCCL:*", "trigger 'change:NCCL:*': changes are not watched for; write "
         "slow:NCCL:*>2 for calls that take longer than twice the p99"),
        ("change", "trigger 'change': changes are not watched for; write slow:*>2 for calls that "
         "take longer than twice the p99"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(text, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        parse(f"killed; {text}")


def test_the_inner_part_is_what_only_the_process_can_see():
    triggers = parse("slow:step>3;stall:30s;signal:USR1;exception;last:5s;every:1s;env:A,B*")
    assert parse(triggers.inner()) == Triggers(
        signals=[signal.SIGUSR1], exception=True, last=5.0, every=1.0, env=["A", "B*"]
    )


def test_only_chosen_variables_are_taken():
    environment = {"RANK": "1", "SLURM_JOB_ID": "7", "SLURMX": "no", "TOKEN": "secret"}
    assert chosen(parse("env:SLURM_*,RANK"), environment) == {"RANK": "1", "SLURM_JOB_ID": "7"}
    assert chosen(parse("killed"), environment) == {}
