# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A pipeline over batches of orders. Nearly all of its time goes into the join, which looks for
each order's customer in a list."""

import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from nvspan import annotate

Rows = list[dict[str, Any]]


def batches(count: int) -> Iterator[Rows]:
    for _ in range(count):
        with annotate("load"):
            rows = [{"id": random.randrange(4_000), "price": f" {n}.50 "} for n in range(400)]
        yield rows


def find(customers: Rows, number: int) -> dict[str, Any]:
    for customer in customers:
        if customer["id"] == number:
            return customer
    raise KeyError(number)


def main() -> None:
    customers = [{"id": number, "region": number % 7} for number in range(4_000)]
    totals: dict[int, float] = defaultdict(float)
    for rows in batches(60):
        with annotate("clean"):
            rows = [{**row, "price": float(row["price"].strip())} for row in rows]
        with annotate("join"):
            rows = [{**row, **find(customers, row["id"])} for row in rows]
        with annotate("sum"):
            for row in rows:
                totals[row["region"]] += row["price"]
    print({region: round(total) for region, total in sorted(totals.items())})


if __name__ == "__main__":
    main()
