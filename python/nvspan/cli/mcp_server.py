# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The tools of ``nvspan mcp``. The only module that imports the MCP SDK."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shlex
import sys
import threading
from collections.abc import Sequence
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

import nvspan
from nvspan import _core
from nvspan.cli import _command
from nvspan.live import where as snapshot_of
from nvspan.report.summary import COLUMNS, GROUPS
from nvspan.report.text import printable_lines

MAX_TEXT, MAX_JSON = 40_000, 60_000  # characters; what a model reads costs tokens
_CONVERTED = (".json", ".json.gz", ".nsys-rep", ".ncu-rep", ".sqlite")
_INSTRUCTIONS = """\
Answers about recordings of nvspan (.nvspan): where the time of a Python program went. Start with
explain. steps, stats and diff have the figures, ranks the waits among the ranks of a job, where the
state of processes that run or hang. 'nvspan record program.py', which this server cannot run, makes
a recording."""
_READS_ONLY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

Files = Annotated[list[str], Field(description="recordings of one run, or their directory")]
Step = Annotated[str | None, Field(description="the range that is a step: name or domain:name")]
Names = Annotated[list[str] | None, Field(description="only ranges like these: * and ?")]
From = Annotated[str | None, Field(description="only ranges from this time on: 1.5s, 20ms")]
To = Annotated[str | None, Field(description="only ranges that start before this time")]
Top = Annotated[int | None, Field(description="only the first rows")]

_one_at_a_time = threading.Lock()  # sys.stdout belongs to the process


def explain(
    files: Files,
    step: Step = None,
    start: From = None,
    stop: To = None,
    baseline: Annotated[
        list[str] | None, Field(description="earlier runs: also list what became slower")
    ] = None,
) -> CallToolResult:
    """What to fix first in a recording, with evidence and the next command."""
    options = _options(step=step, start=start, stop=stop)
    if baseline:
        options += ["--baseline", *_paths(baseline), "--"]
    return _answer("explain", [*options, *_paths(files)])


def steps(
    files: Files,
    step: Step = None,
    phases: Annotated[list[str] | None, Field(description="the ranges that are phases")] = None,
    each: Annotated[bool, Field(description="every step, not only those that differ")] = False,
    start: From = None,
    stop: To = None,
    top: Top = None,
) -> CallToolResult:
    """Each step divided among its phases, on CPU and GPU, and the steps that differ."""
    chosen = ",".join(phases) if phases else None
    options = _options(step=step, phases=chosen, each=each, start=start, stop=stop, top=top)
    return _answer("steps", [*options, *_paths(files)])


def stats(
    files: Files,
    filter: Names = None,
    by: Annotated[
        str | None, Field(description=f"split rows: {', '.join(GROUPS[1:])}, payload.FIELD")
    ] = None,
    sort: Annotated[
        str | None, Field(description=f"the largest first: {', '.join(COLUMNS)}")
    ] = None,
    gpu: Annotated[bool, Field(description="the GPU's work for each range")] = False,
    lines: Annotated[
        str | None, Field(description="lines of Python instead, in ranges like this; '': in all")
    ] = None,
    start: From = None,
    stop: To = None,
    top: Top = None,
) -> CallToolResult:
    """A table of ranges: calls, total and self time, percentiles; or of lines of Python."""
    options = _options(
        filter=filter, by=by, sort=sort, gpu=gpu, lines=lines, start=start, stop=stop, top=top
    )
    return _answer("stats", [*options, *_paths(files)])


def diff(
    before: Annotated[list[str], Field(description="recordings of the earlier runs")],
    after: Annotated[list[str], Field(description="recordings of the later runs")],
    step: Step = None,
    filter: Names = None,
    threshold: Annotated[
        str | None, Field(description="ignore changes of the mean up to this: 5%, the default")
    ] = None,
) -> CallToolResult:
    """Steps and ranges of runs compared: slower, faster, gone, new. Three runs of each side or more
    show what is certain."""
    options = _options(step=step, filter=filter, threshold=threshold)
    return _answer("diff", [*options, *_paths(before), "--", *_paths(after)])


def where(
    targets: Annotated[
        list[str | int], Field(description="process ids, or recordings, or their directory")
    ],
    waits: Annotated[
        list[str] | None, Field(description="ranges in which a process waits for others")
    ] = None,
) -> CallToolResult:
    """What every thread of processes is doing now, and which rank blocks a job. They run under
    nvspan's recorder, and are not interrupted; of a dead one it is the last state."""
    chosen = [target if _is_pid(target) else _path(str(target)) for target in targets]
    try:
        found = snapshot_of(*chosen, waits=waits or ())
    except (ValueError, OSError) as error:
        raise ToolError(f"nvspan where: {error}") from None
    text = printable_lines(str(found)).rstrip("\n") + "\n"
    if not found.processes:
        raise ToolError(text)
    words = [*_options(waits=waits), *map(str, chosen)]
    return _result("where", words, text, json.dumps(found.as_dict()))


def ranks(
    files: Annotated[list[str], Field(description="recordings of a job's ranks: the directory")],
    step: Step = None,
    domain: Annotated[
        list[str] | None, Field(description="domains whose ranges count as collectives")
    ] = None,
) -> CallToolResult:
    """Which rank of a job made the others wait, in which range, and what that costs."""
    return _answer("ranks", [*_options(step=step, domain=domain), *_paths(files)], "--json")


TOOLS = (explain, steps, stats, diff, where, ranks)


def serve() -> None:
    """Answers on standard input and output until the input ends."""
    server = MCPServer(
        "nvspan",
        instructions=_INSTRUCTIONS,
        version=_core.__version__,
        log_level="WARNING",
    )
    for tool in TOOLS:
        server.add_tool(tool, annotations=_READS_ONLY)
    _refuse_from_now_on()
    server.run("stdio")


def _is_pid(target: str | int) -> bool:
    return str(target).isdecimal() and not os.path.exists(str(target))


def _path(name: str) -> str:
    """An absolute path, which is no option and no URL, of a recording or a directory."""
    path = os.path.abspath(os.path.expanduser(name))
    if not os.path.exists(path):
        raise ToolError(f"there is no file or directory {path!r}")
    is_file = not os.path.isdir(path)
    if is_file and (path.lower().endswith(_CONVERTED) or nvspan._is_foreign(path)):
        raise ToolError(
            f"{path!r} is a file of another tool, which nvspan reads from a converted copy, and "
            f"this server writes no files; in a terminal: nvspan explain {shlex.quote(path)}"
        )
    return path


def _paths(names: Sequence[str]) -> list[str]:
    if not names:
        raise ToolError("the path of a recording is needed")
    return [_path(name) for name in names]


def _options(**values: Any) -> list[str]:
    """Options as words that start with their names, so that a value is never an option.

    None, False and, as assistants fill in what they do not use, empty text are left out.
    """
    names = {"start": "from", "stop": "to"}
    words = []
    for name, value in values.items():
        for one in value if isinstance(value, list) else [value]:
            option = f"--{names.get(name, name)}"
            if one is True:
                words.append(option)
            elif one not in (None, False) and (one != "" or name == "lines"):
                words.append(f"{option}={one}")
    return words


def _printed(command: str, words: Sequence[str]) -> tuple[str, str]:
    """What a command prints on standard output and standard error.

    Raises:
        ToolError: it fails; the text is what it says.
    """
    output, errors = io.StringIO(), io.StringIO()
    with (
        _one_at_a_time,
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            code = _command(command)(words)
        except SystemExit as ended:
            code = ended.code  # type: ignore[assignment]
    if code:
        lines = (errors.getvalue() or output.getvalue()).strip().splitlines()
        # Of a wrong option the usage comes first, which is that of the command line.
        raise ToolError("\n".join(lines[-1:] if code == 2 else lines))
    return output.getvalue(), errors.getvalue()


def _answer(
    command: str, words: Sequence[str], json_option: str = "--format=json"
) -> CallToolResult:
    output, notes = _printed(command, words)
    return _result(command, words, notes + output, _printed(command, [json_option, *words])[0])


def _result(command: str, words: Sequence[str], text: str, document: str) -> CallToolResult:
    """The text and the JSON of an answer, each of a limited length; what is cut is said."""
    typed = shlex.join(["nvspan", command, *words])
    structured: dict[str, Any] = {"command": typed}
    said = []
    if len(text) > MAX_TEXT:
        said.append(f"{MAX_TEXT:,} of {len(text):,} characters are shown")
        text = text[:MAX_TEXT].rpartition("\n")[0] + "\n"
    if len(document) > MAX_JSON:
        said.append(f"the JSON is left out: it has {len(document):,} characters")
        structured["left_out"] = said[-1]
    else:
        structured["json"] = json.loads(document)
    if said:
        text += f"\n{'; '.join(said)}; in a terminal: {typed}\n"
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=structured
    )


_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_REFUSED = (
    "os.chmod", "os.chown", "os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.link",
    "os.mkdir", "os.posix_spawn", "os.remove", "os.rename", "os.rmdir", "os.spawn", "os.startfile",
    "os.symlink", "os.system", "os.truncate", "os.utime", "socket.bind", "socket.connect",
    "subprocess.Popen",
)  # fmt: skip


def _refuse_from_now_on() -> None:
    sys.dont_write_bytecode = True
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook, which nothing can remove: what Python code of this process may not do."""
    if event == "open":
        path, _, flags = arguments
        # A descriptor was opened before, as those of standard output.
        if isinstance(path, int) or path == os.devnull or not flags & _WRITES:
            return
    elif event not in _REFUSED:
        return
    raise PermissionError(errno.EPERM, f"nvspan mcp only reads: {event} is refused")
