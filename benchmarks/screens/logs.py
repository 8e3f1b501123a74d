# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A command line tool that counts the pages of a web server's log. Seven tenths of its time go
into the pattern that finds bots, once for each line."""

import json
import re
from collections import Counter

from nvspan import annotate

BOTS = re.compile(r"(.*)(bot|crawler|spider|slurp)(.*)", re.IGNORECASE)
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 "


def lines(count: int) -> list[str]:
    return [
        json.dumps({"page": f"/item/{number % 97}", "agent": AGENT * 3, "bytes": number})
        for number in range(count)
    ]


def is_bot(agent: str) -> bool:
    return BOTS.match(agent) is not None


@annotate("parse")
def parse(text: list[str]) -> list[dict[str, str]]:
    return [json.loads(line) for line in text]


@annotate("filter")
def people(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [row for row in rows if not is_bot(row["agent"])]


def main() -> None:
    with annotate("read"):
        text = lines(40_000)
    rows = people(parse(text))
    with annotate("count"):
        pages = Counter(row["page"] for row in rows)
    with annotate("print"):
        for page, count in pages.most_common(3):
            print(f"{count:8,} {page}")


if __name__ == "__main__":
    main()
