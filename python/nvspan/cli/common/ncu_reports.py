# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of Nsight Compute as arguments of commands; their readers are imported last."""

from __future__ import annotations

from collections.abc import Sequence

from nvspan.cli.common.parser import Parser
from nvspan.cli.common.reading import opened
from nvspan.nsight.lines.tools import COMPUTE_SUFFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.nsight.results.result import NcuResult


def names(text: str) -> list[str]:
    """What an option gives with commas between."""
    return [part for part in text.split(",") if part]


def is_ncu(files: Sequence[str]) -> bool:
    """Whether these are reports of Nsight Compute."""
    return bool(files) and all(path.endswith(COMPUTE_SUFFIX) for path in files)


def read_ncu(parser: Parser, files: Sequence[str]) -> NcuResult:
    """Reads such reports; what cannot be read ends the command with one line that says so."""
    from nvspan.nsight.results.result import read_reports

    return opened(parser, lambda: read_reports(files))
