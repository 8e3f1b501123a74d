# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What each module of a model costs, of the ranks of a job together."""

from __future__ import annotations

from nvspan import _reader
from nvspan._results.jobs import ModuleFigures
from nvspan.recording import Modules
from nvspan.recording.modules import CALL, CLASS, TIMES


class ManyModules(Modules):
    """The models of a job as trees of modules, all ranks together. Made by
    `ManyRecordings.modules`.

    Times are sums over the ranks, and `span` is the sum of what each of them recorded, so a share
    is that of the ranks' time; the modules within one are in the order of their first calls.

    Attributes:
        figures: a `ModuleFigures` for each module and each of its four times: `model`, `path`,
            `caller` (the module that calls it, where it is in another part of the model, else
            None), `time` (as "forward_cpu"), and of its calls `calls`, `total`, `mean`, `std`,
            `min`, `p50`, `p90`, `p99` and `max` in ns. Fields may be read by key, too.
    """

    __module__ = "nvspan.ranks"

    def __init__(self, summary: _reader.RankSummary) -> None:
        self.figures: list[ModuleFigures] = []
        for row, module in self._read(summary):
            model, way = row.domain or "", row.name or ""
            caller = self._module(model, way[: way.rindex(CALL)]).path if CALL in way else None
            self.figures.append(
                row.into(
                    ModuleFigures,
                    model=model.partition(CLASS)[0],
                    path=module.path,
                    caller=caller,
                    time=TIMES[row.time],
                )
            )
