# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m nvtx`` where nvspan is in its place: runs a script with every call a range."""

from __future__ import annotations

import sys

from nvspan.cli.program.parse import Program
from nvspan.cli.program.run import run

_USAGE = """usage: python -m nvtx [--linenos | --no-linenos] [--annotate-cfuncs] script.py [args]

Runs the script with every Python function call a range, by nvspan in place of nvtx.

  --linenos          name the ranges file:line(function) (default)
  --no-linenos       name them by the function alone
  --annotate-cfuncs  ranges for calls of C functions, too
"""


def main(words: list[str]) -> int:
    """All that follows the script belongs to it."""
    options = {"linenos": True, "annotate_cfuncs": False}
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in ("-h", "--help"):
            sys.stdout.write(_USAGE)
            return 0
        if word in ("--linenos", "--no-linenos"):
            options["linenos"] = word == "--linenos"
        elif word == "--annotate-cfuncs":
            options["annotate_cfuncs"] = True
        else:
            sys.stderr.write(f"{_USAGE}\nnvtx: error: no such option: {word}\n")
            return 2
    if not words:
        sys.stderr.write(f"{_USAGE}\nnvtx: error: no script to run\n")
        return 2
    program = Program("script", words[0], words[1:])
    program.profile = options
    return run(program)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
