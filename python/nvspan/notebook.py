# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The cell magic ``%%nvspan``: records a cell of a notebook and shows the recording below it.

>>> # %load_ext nvspan
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile

from nvspan.profiler import Profile
from nvspan.recorder import record
from nvspan.recording import Recording, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAGIC = "%%nvspan"
_VARIABLE = "_nvspan"
USAGE = """\
%%nvspan [--profile] [--steps] [--modules] [-o FILE]

  --profile   every Python call of the cell as a range, without the standard library's
  --steps     where each step went, as well
  --modules   what each module of a model cost, as well
  -o FILE     keep the recording there"""


class _Options:
    def __init__(self, line: str) -> None:
        self.profile = self.steps = self.modules = False
        self.output: str | None = None
        words = iter(shlex.split(line))
        for word in words:
            if word in ("--profile", "--steps", "--modules"):
                setattr(self, word[2:], True)
            elif word == "-o":
                self.output = next(words, None)
                if self.output is None:
                    raise ValueError("-o needs the name of a file")
            else:
                raise ValueError(f"unknown option {word!r}")


class Magic:
    """Records the cells of one IPython shell that begin with ``%%nvspan``.

    The cell itself runs as it does without the first line: what it shows, awaits and raises, and
    the lines of a traceback, are the same. A recording begins before it and ends after it.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._folder = tempfile.TemporaryDirectory(prefix="nvspan-notebook-")
        self._cells = 0
        self._running: tuple[_Options, record, Profile | None] | None = None

    def load(self) -> None:
        """Registers ``%%nvspan`` and what runs around each cell."""
        self._shell.input_transformers_cleanup.insert(0, self._without_magic)
        self._shell.events.register("pre_run_cell", self._before)
        self._shell.events.register("post_run_cell", self._after)
        self._shell.register_magic_function(self.run, "cell", "nvspan")

    def unload(self) -> None:
        """Takes back what `load` did, and removes the recordings of cells."""
        self._shell.input_transformers_cleanup.remove(self._without_magic)
        self._shell.events.unregister("pre_run_cell", self._before)
        self._shell.events.unregister("post_run_cell", self._after)
        self._shell.magics_manager.magics["cell"].pop("nvspan", None)
        self._folder.cleanup()

    def run(self, line: str, cell: str) -> None:
        """What runs the magic below another one, as ``%%capture``."""
        self._start(_Options(line))
        try:
            result = self._shell.run_cell(cell)
        finally:
            self._stop()
        result.raise_error()

    run.__doc__ = USAGE

    def _without_magic(self, lines: list[str]) -> list[str]:
        """The cell without its first line, or what says what is wrong with that. Called often."""
        found = _split(lines)
        if found is None:
            return lines
        line, at = found
        try:
            _Options(line)
        except ValueError as error:
            text = f"{_MAGIC}: {error}\n\n{USAGE}"
            return [f"raise __import__('IPython').core.error.UsageError({text!r})\n"]
        rest = lines[at + 1 :]
        first = next((text for text in rest if text.strip()), "")
        # Another magic must be in the first line; any other line keeps its number.
        return rest if first.startswith("%%") else [*lines[:at], "# nvspan\n", *rest]

    def _before(self, info: Any) -> None:
        found = _split(info.raw_cell.splitlines(keepends=True))
        if found is None or self._running is not None:
            return
        try:
            options = _Options(found[0])
        except ValueError:
            return
        self._start(options)

    def _after(self, result: Any) -> None:
        info = getattr(result, "info", None)
        cell = "" if info is None or info.raw_cell is None else info.raw_cell
        if _split(cell.splitlines(keepends=True)) is not None:
            self._stop()

    def _start(self, options: _Options) -> None:
        self._cells += 1
        path = options.output or os.path.join(self._folder.name, f"cell-{self._cells}.nvspan")
        recorder = record(path)
        try:
            recorder.start()
        except (RuntimeError, OSError) as error:
            print(f"nvspan: the cell is not recorded: {error}", file=sys.stderr)
            return
        profile = Profile(hide_stdlib=True) if options.profile else None
        if profile is not None:
            try:
                profile.enable()
            except (RuntimeError, ValueError) as error:
                print(f"nvspan: the cell is not profiled: {error}", file=sys.stderr)
                profile = None
        self._running = options, recorder, profile

    def _stop(self) -> None:
        if self._running is None:
            return
        options, recorder, profile = self._running
        self._running = None
        if profile is not None:
            profile.disable()
        recorder.stop()
        recording = read(*recorder.paths)
        self._shell.user_ns[_VARIABLE] = recording
        self._show(recording, options)

    def _show(self, recording: Recording, options: _Options) -> None:
        from IPython.display import display

        if not len(recording.ranges) and not len(recording.marks):
            print("nvspan: the cell has no ranges (try %%nvspan --profile)", file=sys.stderr)
            return
        display(recording)
        try:
            if options.steps:
                display(recording.steps())
            if options.modules:
                display(recording.modules())
        except ValueError as error:
            print(f"nvspan: {error}", file=sys.stderr)


def _split(lines: list[str]) -> tuple[str, int] | None:
    """The options of a cell's magic, and its line; None: the cell has none."""
    for at, line in enumerate(lines):
        if line.strip():
            word, _, options = line.strip().partition(" ")
            return (options, at) if word == _MAGIC and line.startswith("%%") else None
    return None


_loaded: dict[int, Magic] = {}


def load_ipython_extension(shell: Any) -> None:
    """Adds ``%%nvspan`` to an IPython shell: what ``%load_ext nvspan`` calls."""
    if id(shell) not in _loaded:
        magic = _loaded[id(shell)] = Magic(shell)
        magic.load()


def unload_ipython_extension(shell: Any) -> None:
    """Takes it away again: what ``%unload_ext nvspan`` calls."""
    magic = _loaded.pop(id(shell), None)
    if magic is not None:
        magic.unload()
