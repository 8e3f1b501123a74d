# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Effects in series of step times: their kinds, steps and figures."""

from __future__ import annotations

import math
import time
from array import array
from random import Random

import pytest

from nvspan import _reader
from nvspan._reader import cancelling, jump_index, mean_at, slow_change, variation

MS = 1_000_000
# examples/slow_loop.py on a busy machine: it grows, under bursts of other programs' load.
BUSY = (
    "5.0 1.3 1.5 5.9 1.9 6.4 6.4 2.9 7.6 9.7 7.7 8.2 4.5 9.3 8.0 9.9 6.6 5.5 6.2 5.8 6.3 6.5 6.3 "
    "7.2 7.9 7.6 8.0 8.4 8.5 8.9 9.0 9.0 8.8 9.2 9.5 9.7 10.9 11.4 16.4 26.8 26.8 18.1 30.1 23.4 "
    "20.7 23.3 13.5 12.6 14.7 13.4 13.4 15.1 13.9 13.2 16.0 17.6 36.5 36.2 28.1 30.0"
)


def series(factors, sigma=0.02, seed=1):
    """Steps of 1 ms times their factors, with noise."""
    random = Random(seed)
    return array("q", [int(MS * each * math.exp(sigma * random.gauss(0, 1))) for each in factors])


def only(times):
    (effect,) = variation(times)
    return effect


def figures(effect):
    """The fields of an effect beyond its steps and times that are set."""
    plain = {"kind", "high", "low", "size", "high_time", "low_time", "stretches"}
    return {
        name: value
        for name, value in effect.as_dict().items()
        if name not in plain and value is not None
    }


def about(effect, size, high, low):
    got = [effect.size / MS, effect.high_time / MS, effect.low_time / MS]
    assert got == pytest.approx([size, high, low], rel=0.05)


def test_slow_steps_that_follow_one_another_have_no_distance():
    effect = only(series([1 if number in (0, 5, 19, 32) else 3.5 for number in range(45)]))
    assert (effect.kind, len(effect.high), effect.every) == ("modes", 41, None)


@pytest.mark.parametrize("count", [0, 1, 4, 5, 11, 12, 100])
def test_equal_steps_have_no_effects(count):
    assert variation(array("q", [MS] * count)) == []


def test_warm_up():
    effect = only(series([3, 2] + [1] * 40))
    assert (effect.kind, list(effect.high), len(effect.low)) == ("warm_up", [0, 1], 40)
    about(effect, 1.5, 2, 1)  # of two, the median is the smaller
    assert figures(effect) == {}


def test_slow_steps_later_on_are_no_warm_up():
    slow = [0, 5, 9, 17, 22, 30]
    effect = only(series([3 if i in slow else 1 for i in range(60)]))
    assert (effect.kind, list(effect.high)) == ("modes", slow)


def test_a_jump_and_where_it_is():
    effect = only(series([1] * 60 + [1.5] * 40))
    assert (effect.kind, list(effect.high), list(effect.low)) == (
        "jump", [*range(60, 100)], [*range(60)],
    )  # fmt: skip
    about(effect, 0.5, 1.5, 1)
    assert figures(effect) == {"rises": True, "at": 60}
    effect = only(series([1.5] * 60 + [1] * 40))
    assert (effect.kind, list(effect.high)) == ("jump", [*range(60)])
    assert figures(effect) == {"rises": False, "at": 60}


def test_steps_count_from_the_first_also_after_a_warm_up():
    warm, jump = variation(series([4, 4, 4] + [1] * 57 + [1.5] * 40))
    assert (warm.kind, list(warm.high)) == ("warm_up", [0, 1, 2])
    assert (jump.kind, jump.at, jump.high[0], jump.low[0]) == ("jump", 60, 60, 3)


def test_a_trend_compares_the_quarters():
    effect = only(series([1 + i / 100 for i in range(100)]))
    assert (effect.kind, list(effect.high), list(effect.low)) == (
        "trend", [*range(75, 100)], [*range(25)],
    )  # fmt: skip
    about(effect, 0.75, 1.87, 1.12)
    assert figures(effect) == {"rises": True}
    assert figures(only(series([2 - i / 100 for i in range(100)]))) == {"rises": False}


def test_growth_is_found_on_a_busy_machine():
    effect = only(array("d", [float(each) * MS for each in BUSY.split()]))
    assert effect.kind == "trend"
    assert figures(effect) == {"rises": True}
    assert [effect.low_time / MS, effect.high_time / MS] == [6.4, 15.1]


def test_the_same_steps_in_another_order_are_no_growth():
    for seed in range(20):
        shuffled = array("d", [float(each) * MS for each in BUSY.split()])
        Random(seed).shuffle(shuffled)
        assert [e.kind for e in variation(shuffled) if e.kind in ("trend", "jump", "levels")] == []


def test_ups_and_downs():
    effect = only(series([1] * 40 + [1.5] * 40 + [1] * 40))
    assert (effect.kind, list(effect.high)) == ("levels", [*range(40, 80)])
    assert [(each.first, each.last) for each in effect.stretches] == [(0, 39), (40, 79), (80, 119)]
    assert [each.time / MS for each in effect.stretches] == pytest.approx([1, 1.5, 1], rel=0.03)
    about(effect, 0.5, 1.5, 1)


def test_a_period_with_one_and_with_two_slow_steps():
    effect = only(series([2 if i % 8 == 3 else 1 for i in range(200)]))
    assert (effect.kind, list(effect.high)) == ("period", [*range(3, 200, 8)])
    about(effect, 1, 2, 1)
    assert figures(effect) == {"period": 8, "slow_in_period": 1}
    effect = only(series([2 if i % 8 in (3, 6) else 1 for i in range(200)]))
    assert figures(effect) == {"period": 8, "slow_in_period": 2}


def test_four_slow_steps_at_one_distance():
    effect = only(series([3 if i % 10 == 9 else 1 for i in range(40)], sigma=0.1))
    assert (effect.kind, list(effect.high)) == ("period", [9, 19, 29, 39])
    assert (effect.period, effect.slow_in_period) == (10, 1)


def test_a_sawtooth_rises_or_falls():
    effect = only(series([1 + 0.1 * (i % 10) for i in range(200)]))
    assert (effect.kind, figures(effect)) == ("sawtooth", {"rises": True, "period": 10})
    assert sorted({i % 10 for i in effect.high}) == [7, 8, 9]
    assert sorted({i % 10 for i in effect.low}) == [0, 1, 2]
    assert only(series([2 - 0.1 * (i % 10) for i in range(200)])).rises is False


def test_two_modes():
    random = Random(3)
    slow = sorted(random.sample(range(200), 60))
    effect = only(series([1.5 if i in slow else 1 for i in range(200)]))
    assert (effect.kind, list(effect.high)) == ("modes", slow)
    about(effect, 0.5, 1.5, 1)
    assert figures(effect) == {}


def test_rare_slow_steps():
    slow = [17, 31, 90, 140]
    effect = only(series([5 if i in slow else 1 for i in range(200)]))
    assert (effect.kind, list(effect.high), len(effect.low)) == ("rare", slow, 196)
    about(effect, 4, 5, 1)
    assert figures(effect) == {"extra": pytest.approx(16 * MS, rel=0.05)}
    slow = [10, 31, 50, 72, 90, 111, 130]
    effect = only(series([5 if i in slow else 1 for i in range(140)]))
    assert (effect.kind, effect.every) == ("rare", 20)


def test_a_slow_change_alone():
    change = slow_change(series([1 + i / 100 for i in range(100)]))
    assert (change.kind, change.before < change.after) == ("trend", True)
    assert slow_change(series([1] * 100)) is None
    assert slow_change(series([2 if i % 8 == 3 else 1 for i in range(200)])) is None


def test_where_a_part_jumps():
    assert jump_index(series([1] * 33 + [1.2] * 67)) == 33
    assert jump_index(array("q", [1, 2])) == 0


def test_the_mean_at_places():
    assert mean_at(array("q", [1, 2, 4, 8]), array("q", [1, 3])) == 5.0
    with pytest.raises(IndexError):
        mean_at(array("q", [1, 2]), array("q", [2]))
    with pytest.raises(ValueError, match="mean_at\\(\\) needs places"):
        mean_at(array("q", [1, 2]), array("q"))


def test_parts_whose_changes_cancel():
    steady = series([1] * 100, seed=3)
    grows, shrinks = (
        series([1 + i / 100 for i in range(100)]),
        series([2 - i / 100 for i in range(100)]),
    )
    step = array("q", map(sum, zip(steady, grows, shrinks, strict=True)))
    pair = cancelling(step, [steady, grows, shrinks])
    assert (pair.grows, pair.shrinks, pair.over_time) == (1, 2, True)
    assert [pair.grows_from / MS, pair.grows_to / MS] == pytest.approx([1.12, 1.87], rel=0.05)
    assert [pair.shrinks_from / MS, pair.shrinks_to / MS] == pytest.approx([1.87, 1.12], rel=0.05)
    assert cancelling(step, [steady, grows]) is None
    random = Random(5)
    gains = [random.uniform(1, 3) for _ in range(100)]
    one, other = series(gains, seed=8), series([4 - each for each in gains], seed=9)
    pair = cancelling(array("q", map(sum, zip(one, other, strict=True))), [one, other])
    assert (pair.grows, pair.shrinks, pair.over_time) == (1, 0, False)


def test_a_series_is_a_buffer_of_64_bit_numbers():
    with pytest.raises(TypeError, match="contiguous buffer of int64 or float64, not of 'i'"):
        variation(array("i", [1, 2, 3]))
    with pytest.raises(TypeError, match="contiguous buffer of int64 or float64, not of 'q'"):
        variation(memoryview(array("q", [1, 2, 3, 4]))[::2])
    with pytest.raises(ValueError, match="finite"):
        variation(array("d", [1.0, math.nan]))
    with pytest.raises(ValueError, match="a part must have a time for each of the 2 steps, not 1"):
        cancelling(array("q", [1, 2]), [array("q", [1])])
    assert _reader.variation(series=array("d", [1.0] * 20), tests=3) == []


def test_a_hundred_thousand_steps_take_part_of_a_second():
    times = series([2 if i % 8 == 3 else 1 for i in range(100_000)], sigma=0.1)
    begin = time.process_time()
    assert only(times).kind == "period"
    # 240 ms where nothing else runs: benchmarks on a shared machine are slower.
    assert time.process_time() - begin < 1.0
