# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Start of the Perfetto UI: the tracks that it unfolds and pins, and its queries."""

from __future__ import annotations

import json

from nvspan.recording import Recording

# Perfetto's SQL; the comment is what the UI's list of queries shows first.
QUERIES = (
    """\
-- Ranges by their total time
select slice.name, count(*) as calls, sum(dur) / 1e6 as total_ms,
  avg(dur) / 1e6 as mean_ms, max(dur) / 1e6 as max_ms
from slice group by slice.name order by total_ms desc limit 100""",
    """\
-- The longest calls, with their lanes
select slice.id, slice.name, track.name as lane, slice.ts, dur / 1e6 as ms
from slice join track on slice.track_id = track.id order by dur desc limit 100""",
    """\
-- How long each lane had a range open
select coalesce(track.name, 'start/end ranges') as lane, count(*) as ranges, sum(dur) / 1e6 as ms
from slice join track on slice.track_id = track.id
where depth = 0 group by track.id order by ms desc""",
    """\
-- The GPU's time, by the range of the CPU that asked for it
select asked.name, count(*) as launches, sum(work.dur) / 1e6 as gpu_ms
from flow join slice asked on flow.slice_out = asked.id join slice work on flow.slice_in = work.id
group by asked.name order by gpu_ms desc""",
)
_MOST_PINNED, _MOST_OPEN = 8, 200


def commands(recording: Recording) -> list[dict[str, object]]:
    """The UI's startup commands: tracks are open, those of main threads and GPUs at the top.

    Of many processes those of the first 8 are at the top; of many threads only the processes are
    open.
    """
    threads = list(recording.threads.rows())
    main: dict[int, int] = {}
    for thread in threads:
        if thread["process"] not in main or thread["tid"] == thread["pid"]:
            main[thread["process"]] = thread["tid"]
    # A lane is called "MainThread · torch (1234)", a process and a thread "python train.py 1234".
    lanes = "|".join(str(tid) for tid in list(main.values())[:_MOST_PINNED])
    opened = "." if len(threads) <= _MOST_OPEN else r"^(?!.*\(\d+\)$)"
    return [
        {"id": "dev.perfetto.ExpandTracksByRegex", "args": [opened]},
        {"id": "dev.perfetto.PinTracksByRegex", "args": [rf"^GPU \d|\(({lanes})\)$"]},
    ]


def page(address: str) -> bytes:
    """A page that gives the UI at `address` the queries and goes there.

    The UI keeps queries in the browser, by the address that it is served at: those that the user
    made there stay.
    """
    queries = json.dumps([{"query": query, "starred": True} for query in QUERIES])
    script = f"""
const ours = {queries}, key = "queryHistory";
try {{
  const kept = JSON.parse(localStorage.getItem(key) || "[]");
  const known = new Set(kept.map((entry) => entry.query));
  const all = kept.concat(ours.filter((entry) => !known.has(entry.query)).reverse());
  localStorage.setItem(key, JSON.stringify(all));
}} catch (error) {{
  console.warn("the queries are not kept:", error);
}}
location.replace({json.dumps(address)});
"""
    script = script.replace("</", "<\\/")
    head = '<!doctype html><meta charset="utf-8"><title>nvspan</title>'
    return f"{head}<script>{script}</script>".encode()
