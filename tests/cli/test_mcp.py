# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`nvspan mcp`, asked by the SDK's own client about recordings of a slow program."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from helpers.packages import needs
from helpers.recorded_loops import unpack
from helpers.traced import clean_environment, nvspan_command, python
from helpers.tree import ROOT
from helpers.written import written
from helpers.written_ranks import write_job

MS = 1_000_000
HANGS = str(ROOT / "tests" / "corpus" / "live-lines.nvspan")
TOOLS = ["diff", "explain", "ranks", "stats", "steps", "where"]

pytestmark = needs("mcp")


def steps(load):
    """40 steps in which "load" takes so many ms and "compute" 2."""
    calls = []
    for number in range(40):
        start = number * (load + 3) * MS
        middle, end = start + load * MS, start + (load + 2) * MS
        calls += [(start, end, "step"), (start, middle, "load"), (middle, end, "compute")]
    return calls


@pytest.fixture
def runs(tmp_path):
    """A slow program's recording and that of the program before it became slow."""
    for name, load in (("slow", 8), ("quick", 1)):
        written(tmp_path / f"{name}.nvspan", steps(load))
    return tmp_path


def ask(folder, *questions, environment=None):
    """The results of tools of one server, each asked with a name and arguments."""
    from mcp import Client, StdioServerParameters, stdio_client

    async def conversation():
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "nvspan", "mcp"],
            cwd=folder,
            env=clean_environment(environment),
        )
        async with Client(stdio_client(server)) as client:
            if not questions:
                return await client.list_tools()
            return [await client.call_tool(name, arguments) for name, arguments in questions]

    return asyncio.run(conversation())


def text(result):
    (content,) = result.content
    return content.text


def _timeless(document):
    """Without what `where` measures of its own look."""
    return document | {"interval": None} if "interval" in document else document


def refusal(result):
    assert result.is_error
    return text(result)


def test_the_tools_say_that_they_only_read(tmp_path):
    found = {tool.name: tool for tool in ask(tmp_path).tools}
    assert sorted(found) == TOOLS
    for tool in found.values():
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint
        assert tool.description
        assert all(one.get("description") for one in tool.input_schema["properties"].values())


def test_a_slow_program_is_explained(tmp_path):
    """Of examples/slow_loop.py, as the first page of the documentation says."""
    path = str(unpack("slow", tmp_path / "slow.nvspan"))
    (found,) = ask(tmp_path, ("explain", {"files": ["slow.nvspan"]}))
    assert not found.is_error
    assert "load 95%" in text(found).splitlines()[0]
    assert text(found) == nvspan_command("explain", path).stdout
    document = json.loads(nvspan_command("explain", "--json", path).stdout)
    assert found.structured_content == {
        "command": f"nvspan explain {path}",
        "json": document,
    }


def test_each_answer_is_what_the_command_prints_with_its_json(runs, tmp_path):
    slow, quick = (os.path.join(runs, f"{name}.nvspan") for name in ("slow", "quick"))
    (tmp_path / "job").mkdir()
    write_job(tmp_path / "job")
    job = os.path.join(tmp_path, "job")
    asked = [
        ("steps", {"files": [slow], "step": "step", "phases": ["load", "compute"], "top": 3},
         ["steps", "--step=step", "--phases=load,compute", "--top=3", slow], "--format=json"),
        ("stats", {"files": [slow], "filter": ["load", "comp*"], "sort": "calls"},
         ["stats", "--filter=load", "--filter=comp*", "--sort=calls", slow], "--format=json"),
        ("diff", {"before": [quick], "after": [slow], "threshold": "3%"},
         ["diff", "--threshold=3%", quick, "--", slow], "--format=json"),
        ("where", {"targets": [HANGS]}, ["where", HANGS], "--json"),
        ("ranks", {"files": [job]}, ["ranks", job], "--json"),
        ("explain", {"files": [slow], "baseline": [quick], "step": ""},
         ["explain", "--baseline", quick, "--", slow], "--json"),
    ]  # fmt: skip
    found = ask(runs, *(question[:2] for question in asked))
    for result, (_, _, words, as_json) in zip(found, asked, strict=True):
        done = nvspan_command(*words)
        assert (done.returncode, text(result)) == (0, done.stderr + done.stdout)
        document = json.loads(nvspan_command(words[0], as_json, *words[1:]).stdout)
        assert _timeless(result.structured_content["json"]) == _timeless(document)


def test_what_cannot_be_answered_is_an_error_that_says_why(runs):
    Path(runs, "trace.json").write_text("[]", encoding="ascii")
    Path(runs, "text.nvspan").write_text("not a recording", encoding="ascii")
    missing, trace, broken = (
        os.path.join(runs, name) for name in ("missing.nvspan", "trace.json", "text.nvspan")
    )
    asked = [
        ("explain", {"files": ["missing.nvspan"]}),
        ("stats", {"files": ["trace.json"]}),
        ("stats", {"files": []}),
        ("stats", {"files": ["text.nvspan"]}),
        ("steps", {"files": ["slow.nvspan"], "step": "--top=1"}),
        ("stats", {"files": ["-o/tmp/x"]}),
        ("stats", {"files": ["s3://bucket/a.nvspan"]}),
        ("where", {"targets": [2**22 + 1]}),
        ("where", {"targets": ["slow.nvspan"]}),
        ("stats", {"files": ["slow.nvspan"], "sort": "speed"}),
    ]
    said = [refusal(result) for result in ask(runs, *asked)]
    lead = "Error executing tool"
    assert said[:3] == [
        f"{lead} explain: there is no file or directory {missing!r}",
        f"{lead} stats: {trace!r} is a file of another tool, which nvspan reads from a converted "
        f"copy, and this server writes no files; in a terminal: nvspan explain {trace}",
        f"{lead} stats: the path of a recording is needed",
    ]
    assert said[3] == f"{lead} stats: {nvspan_command('stats', broken).stderr.strip()}"
    assert "--top=1" in said[4]
    assert "/-o/tmp/x'" in said[5]
    assert "there is no file or directory" in said[6]
    assert str(2**22 + 1) in said[7]
    slow = os.path.join(runs, "slow.nvspan")
    assert said[8] == f"{lead} where: {nvspan_command('where', slow).stdout}"
    assert said[9].startswith(
        f"{lead} stats: nvspan stats: error: argument --sort: there is no column 'speed'"
    )


def test_a_long_answer_is_cut_and_says_so(tmp_path):
    calls = [(n * MS, (n + 1) * MS, f"a range of a long name, of which there are {n}")
             for n in range(1000)]  # fmt: skip
    written(tmp_path / "many.nvspan", calls)
    path = os.path.join(tmp_path, "many.nvspan")
    long, short = ask(
        tmp_path,
        ("stats", {"files": [path], "top": 1000}),
        ("stats", {"files": [path], "top": 2}),
    )
    whole = nvspan_command("stats", "--top=1000", path)
    count = len(whole.stdout) + len(whole.stderr)
    document = nvspan_command("stats", "--top=1000", "--format=json", path).stdout
    left = f"the JSON is left out: it has {len(document):,} characters"
    *shown, empty, last = text(long).splitlines()
    assert whole.stdout.splitlines()[: len(shown)] == shown
    assert (empty, last) == (
        "",
        f"40,000 of {count:,} characters are shown; {left}; in a terminal: "
        f"nvspan stats --top=1000 {path}",
    )
    assert long.structured_content == {
        "command": f"nvspan stats --top=1000 {path}",
        "left_out": left,
    }
    assert len(short.structured_content["json"]["rows"]) == 2


def test_the_server_refuses_to_write_and_to_run(runs, tmp_path):
    """A reading command that tries to: the hook is that of the server's process."""
    program = (
        "import os, subprocess, sys\n"
        "from nvspan.cli import mcp_server\n"
        "mcp_server._refuse_from_now_on()\n"
        "def said(do, *words):\n"
        "    try:\n"
        "        do(*words)\n"
        "    except PermissionError as error:\n"
        "        print(error.strerror)\n"
        "said(open, 'x', 'w')\n"
        "said(os.open, 'x', os.O_RDWR | os.O_CREAT)\n"
        "said(os.mkdir, 'x')\n"
        "said(os.remove, sys.argv[1])\n"
        "said(os.system, 'true')\n"
        "said(subprocess.run, ['true'])\n"
        "said(os.fork)\n"
        "open(sys.argv[1], 'rb').close()\n"
        "print('read')\n"
    )
    done = python("-c", program, os.path.join(runs, "slow.nvspan"), cwd=tmp_path)
    events = ("open", "open", "os.mkdir", "os.remove", "os.system", "subprocess.Popen", "os.fork")
    assert done.stdout.splitlines() == [
        *(f"nvspan mcp only reads: {event} is refused" for event in events),
        "read",
    ]
    assert sorted(os.listdir(tmp_path)) == sorted(["quick.nvspan", "slow.nvspan"])
