# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan ranks --clocks``: measured offsets bound the clocks of a job's hosts."""

from __future__ import annotations

import json

import pytest

import nvspan
from helpers.reported import run_nvspan
from helpers.written_ranks import MS, write_job
from nvspan.ranks.clocks import Clocks


def write_clocks(file, root, hosts):
    """A file of clocks: of each host its boot, and (at, low, high) of each measurement."""
    file.write_text(
        json.dumps(
            {
                "format": "nvspan clocks 1",
                "root": root,
                "hosts": {
                    host: {
                        "boot_id": boot,
                        "measured": [
                            {"at": at, "low": low, "high": high} for at, low, high in offsets
                        ],
                    }
                    for host, (boot, offsets) in hosts.items()
                },
            }
        )
    )


def test_a_clock_that_drifts_is_followed_from_the_start_to_the_end_of_a_job(tmp_path):
    # Collectives of which the CPU's request alone is known bound the clocks from one side.
    def shows(host, at):
        return at + (10**9 + round(at * 80e-6) if host else 0)

    paths = write_job(tmp_path, 4, hosts=2, clock=shows, steps=400)
    true = {at: at - shows(1, at) for at in (10**9, 20 * 10**9)}
    measured = [(at, offset - 300, offset + 500) for at, offset in true.items()]
    root = ("boot of host0", [])
    file = tmp_path / "clocks.json"
    write_clocks(file, "host0", {"host0": root, "host1": ("boot of host1", measured)})
    found = nvspan.analyze_ranks(paths, priors=file)
    assert 0 < max(rank.uncertainty for rank in found.ranks) <= 700
    # A single measurement says little of what is seconds away, and nothing that is wrong.
    write_clocks(file, "host0", {"host0": root, "host1": ("boot of host1", measured[:1])})
    wide = nvspan.analyze_ranks(paths, priors=file)
    assert wide.counts["contradictions"] == found.counts["contradictions"] == 0
    assert wide.verdict.kind == found.verdict.kind == "none"


def test_ranks_take_the_clocks(tmp_path):
    def shows(host, at):
        return at + (3_000_000_000 if host else 0)

    paths = write_job(tmp_path, 4, hosts=2, clock=shows, extra=lambda rank, _, name: (
        2 * MS if (rank, name) == (3, "forward") else 0))  # fmt: skip
    file = tmp_path / "clocks.json"
    # Before and after the job; the root is not the first file's host.
    measured = [(4 * 10**9 + at, 3 * 10**9 - 400, 3 * 10**9 + 400) for at in (0, 10**9)]
    write_clocks(
        file,
        "host1",
        {
            "host1": ("boot of host1", []),
            "host0": ("boot of host0", measured),
        },
    )
    plain = nvspan.analyze_ranks(paths)
    found = nvspan.analyze_ranks(paths, priors=file)
    assert nvspan.analyze_ranks(
        paths, priors={"host0": (0, 0), "host1": (-(3 * 10**9) - 400, -(3 * 10**9) + 400)}
    ).ranks[3].uncertainty == pytest.approx(found.ranks[3].uncertainty, abs=20)
    assert (found.verdict.rank, found.verdict.range) == (3, "forward")
    of_other = max(rank.uncertainty for rank in found.ranks)
    assert of_other <= 800
    assert max(rank.uncertainty for rank in plain.ranks) > of_other
    text = run_nvspan("ranks", "--clocks", file, *paths).stdout
    assert text.splitlines()[1].startswith("| rank 3's forward costs the job ")
    write_clocks(file, "host0", {"host0": ("a boot before", [])})
    done = run_nvspan("ranks", "--clocks", file, *paths, check=1)
    assert "was measured in another boot of host 'host0'" in done.stderr
    done = run_nvspan("ranks", "--clocks", tmp_path / "none.json", *paths, check=1)
    assert f"cannot read '{tmp_path}/none.json'" in done.stderr


def test_offsets_are_those_to_any_host(tmp_path):
    file = tmp_path / "clocks.json"
    offsets = [(3000, -1120, -1080), (1000, -1020, -980)]  # in any order
    write_clocks(
        file,
        "a",
        {
            "a": ("boot a", []),
            "b": ("boot b", offsets),
            "c": ("boot c", [(2000, 499, 501)]),
            "unmeasured": ("boot d", []),
        },
    )
    clocks = Clocks(file)
    assert clocks.boot_ids == {"a": "boot a", "b": "boot b", "c": "boot c"}
    assert clocks.priors("a") == {
        "a": [],
        "b": [(2000, -1020, -980), (4100, -1120, -1080)],
        "c": [(1500, 499, 501)],
    }
    # Between two measurements of the reference, and at the time of one.
    assert clocks.priors("b") == {
        "a": [(1000, 980, 1020), (3000, 1080, 1120)],
        "b": [(2000, 0, 0), (4100, 0, 0)],
        "c": [(1500, 499 + 1030, 501 + 1070)],
    }
    # Away from its only measurement: wider by the drift of 200 ppm, rounded up.
    assert clocks.priors("c")["b"] == [
        (2000, -1020 - 501 - 1, -980 - 499 + 1),
        (4100, -1120 - 501 - 1, -1080 - 499 + 1),
    ]
    with pytest.raises(ValueError, match="no clock is known of host 'x'; there are a, b, c"):
        clocks.priors("x")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "\xff",
        '{"format": "nvspan clocks 2", "root": "a", "hosts": {}}',
        '{"format": "nvspan clocks 1", "root": "a", "hosts": {}}',
        '{"format": "nvspan clocks 1", "root": "a", "hosts": {"a": {"boot_id": "b"}}}',
        '{"format": "nvspan clocks 1", "root": "a", "hosts": {"a": {"boot_id": "b", "measured": '
        '[{"at": 1, "low": 3, "high": 2}]}}}',
        *(
            '{"format": "nvspan clocks 1", "root": "a", "hosts": {"a": {"boot_id": "b", '
            f'"measured": [{{"at": 1, "low": 3, "high": {number}}}]}}}}}}'
            for number in ("Infinity", "NaN", "1e30")
        ),
    ],
)
def test_what_is_not_a_file_of_clocks_is_refused(tmp_path, text):
    file = tmp_path / "clocks.json"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=r"clocks\.json' is not a file of clocks, as docs/ranks"):
        Clocks(file)
