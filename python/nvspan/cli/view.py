# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan view``: a recording's timeline in the Perfetto UI, without a network."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Sequence

import nvspan
from nvspan.cli.common import many
from nvspan.cli.common.options import FILES, RANKS, SELECTION
from nvspan.cli.common.parser import Parser, parser_of
from nvspan.cli.common.reading import note, open_recording, selected, stem_of
from nvspan.export import perfetto
from nvspan.report import emptiness, viewer, viewer_start
from nvspan.report.progress import Progress

_DESCRIPTION = """\
Shows the timeline of recordings in the browser, in the Perfetto UI. Only this machine
can open it, and nothing is sent anywhere. To install the UI: pip install 'nvspan[view]'"""


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) < 1 << 16:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a number from 0 to 65535, not {text!r}")


def main(argv: Sequence[str]) -> int:
    """Runs ``nvspan view`` with the arguments `argv`, until it is interrupted."""
    parser = parser_of("view", _DESCRIPTION, FILES, SELECTION, RANKS)
    parser.option("--no-browser", "only print the address")
    parser.option("--port N", "the port (default: a free one)", type=_port, default=0)
    options = parser.parse_args(argv)
    many.choose_files(parser, options)
    recording = selected(open_recording(parser, options.files), options)
    note(emptiness.events(recording, "the timeline"))
    name = os.path.basename(stem_of(options.files[0])) + ".pftrace"
    folder = viewer.ui_folder()
    if folder is None:
        _write(parser, recording, name)
        parser.exit(
            1,
            f"wrote {name}\n{parser.prog}: the viewer is not installed: "
            "pip install 'nvspan[view]', or open the file in any Perfetto UI\n",
        )
    with tempfile.TemporaryDirectory(prefix="nvspan-view-") as scratch:
        trace = os.path.join(scratch, name)
        _write(parser, recording, trace)
        try:
            server = viewer.Viewer(folder, trace, options.port, viewer_start.commands(recording))
        except OSError as error:
            parser.fail(f"port {options.port}: {error.strerror}")
        with server:
            # A plain kill, too, removes the trace.
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            try:
                print(server.start, flush=True)
                print("Ctrl-C ends the viewer", file=sys.stderr)
                if not options.no_browser:
                    import webbrowser

                    webbrowser.open(server.start)
                server.serve_forever()
            except KeyboardInterrupt:
                print(file=sys.stderr)
    return 0


def _write(parser: Parser, recording: nvspan.Recording, path: str) -> None:
    try:
        with Progress("preparing the timeline") as progress:
            perfetto.write(recording, path, progress)
    except OSError as error:
        parser.fail(f"cannot write {path!r}: {error.strerror}")
