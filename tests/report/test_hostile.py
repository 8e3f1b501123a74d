# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Names and numbers that a recording may hold and a report must not choke on, obey or pass on."""

from __future__ import annotations

import contextlib
import csv
import http.client
import io
import os
import sqlite3
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import nvspan
from helpers.packages import needs
from helpers.reported import recording_of, run_nvspan
from helpers.terminal import on_a_terminal
from helpers.traced import clean_environment, nvspan_command
from helpers.written import written
from nvspan.export import tables
from nvspan.nsight import sqlite
from nvspan.report import page, viewer
from nvspan.report.text import begins_formula

CORPUS = Path(__file__).parent.parent / "corpus"
FIELD = "payload.st\udcffp"  # b"st\xffp"
_LOSS = 160  # where FileHeader has its LossWindow

HOSTILE = r"""
import nvspan

for i in range(3):
    with nvspan.annotate("=cmd()\x1b[31m", domain="do\x9bm", category="+c\x07",
                         payload={"na\x1bme": "@=1+1", "n": -i}):
        nvspan.mark("@mark\r\x1b]0;title\x07")
    with nvspan.annotate("plain"):
        pass
"""


def _with_bytes(tmp_path, name, old, new):
    """A copy of a corpus file of a format without checksums, with some bytes replaced."""
    path = tmp_path / name
    content = (CORPUS / name).read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    return path


@pytest.fixture
def not_utf8(tmp_path):
    return _with_bytes(tmp_path, "payloads.nvspan", b"step", b"st\xffp")


_on_terminal = partial(on_a_terminal, TERM="dumb", NO_COLOR="1")


def _controls(text):
    """The characters that a terminal obeys, but for those that end lines and rich's own colours."""
    return sorted({c for c in text if ord(c) < 32 or 127 <= ord(c) < 160} - {"\n", "\r"})


def test_field_names_that_are_not_utf8(not_utf8, tmp_path):
    recording = nvspan.read(not_utf8)
    assert FIELD in recording.ranges.names
    values = [row[FIELD] for row in recording.ranges.rows()]
    expected = [
        row["payload.step"] for row in nvspan.read(CORPUS / "payloads.nvspan").ranges.rows()
    ]
    assert values == expected
    assert any(value is not None for value in values)
    assert recording.ranges.nulls(FIELD) == values.count(None)
    found = [row.field for row in recording.stats(FIELD).rows if row.field is not None]
    assert found == [value for value in values if value is not None]
    with pytest.raises(KeyError, match="no such"):
        recording.ranges["no such"]
    with pytest.raises(KeyError):
        recording.ranges["payload.\ud800"]
    with pytest.raises(ValueError, match="not 'no\\\\udcff'"):
        recording.stats("no\udcff")
    shown = run_nvspan("stats", "--by", FIELD, not_utf8).stdout
    assert "payload.st\\udcffp" in shown.splitlines()[1]
    files = tables.write_csv(recording, tmp_path / "a.csv")
    heading = Path(files[0]).read_text().splitlines()[0]
    assert "payload.st\\udcffp" in heading.split(",")


@needs("pyarrow")
def test_arrow_and_parquet_take_field_names_that_are_not_utf8(not_utf8, tmp_path):
    import pyarrow
    from pyarrow import parquet

    recording = nvspan.read(not_utf8)
    expected = [row[FIELD] for row in recording.ranges.rows()]
    assert pyarrow.table(recording.ranges).column("payload.st\\udcffp").to_pylist() == expected
    files = tables.write_parquet(recording, tmp_path / "a.parquet")
    assert parquet.read_table(files[0]).column("payload.st\\udcffp").to_pylist() == expected


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])  # of locales
def test_file_names_that_are_not_utf8(tmp_path, errors):
    path = os.fsencode(tmp_path) + b"/r\xff.nvspan"
    with open(path, "wb") as file:
        file.write((CORPUS / "calls.nvspan").read_bytes())
    recording = nvspan.read(os.fsdecode(path))
    assert recording.processes[0].path == os.fsdecode(path)
    assert tables.write_csv(recording, os.fsdecode(path) + ".csv")
    done = subprocess.run(
        [sys.executable, "-m", "nvspan", "export", path], capture_output=True, check=True,
        env=clean_environment({"PYTHONIOENCODING": f"utf-8:{errors}"}), timeout=60,
    )  # fmt: skip
    assert done.stdout == path.removesuffix(b".nvspan") + b".pftrace\n"
    assert os.path.exists(path.removesuffix(b".nvspan") + b".pftrace")


@pytest.mark.parametrize("count", [2**64 - 1, 2**63, 5])
def test_sqlite_takes_losses_of_any_size(tmp_path, count):
    content = bytearray((CORPUS / "calls.nvspan").read_bytes())
    struct.pack_into("<3Q", content, _LOSS, count, 2**64 - 1, 2**63)
    path = tmp_path / "a.nvspan"
    path.write_bytes(content)
    recording = nvspan.read(path)
    (found,) = [row for row in recording.losses.rows() if row["reason"] == "no space"]
    assert found["count"] == count
    sqlite.write(recording, tmp_path / "a.sqlite")
    with contextlib.closing(sqlite3.connect(tmp_path / "a.sqlite")) as database:
        rows = database.execute(
            "SELECT count FROM NVSPAN_LOSSES WHERE reason = 'no space'"
        ).fetchall()
    assert rows == [(min(count, 2**63 - 1),)]
    assert "no space" in run_nvspan("stats", path).stdout
    assert page.html(recording)


@pytest.mark.parametrize("at", [72, 80, 88, 96, 104, 112])  # the first clock sample, and the last
def test_exports_take_clocks_of_any_time(tmp_path, at):
    for value in (2**63 - 1, 2**63, 2**64 - 1):
        content = bytearray((CORPUS / "threads.nvspan").read_bytes())
        struct.pack_into("<Q", content, at, value)
        path = tmp_path / "a.nvspan"
        path.write_bytes(content)
        recording = nvspan.read(path)
        sqlite.write(recording, tmp_path / "a.sqlite")
        assert page.html(recording)


@pytest.mark.parametrize(
    "arguments",
    [
        ["stats"],
        ["stats", "--format", "csv"],
        ["stats", "--format", "json"],
        ["stats", "--format", "markdown"],
        ["stats", "--tree"],
        ["stats", "--tree", "--format", "csv"],
        ["stats", "--by", "category"],
        ["stats", "--by", "payload.na\x1bme"],
        ["stats", "--by", "payload.na\x1bmo"],
        ["stats", "--compat", "nsys"],
        ["stats", "--compat", "nsys", "--format", "csv"],
        ["stats", "--filter", "\x1b[31m"],
        ["doctor", "--timeout", "5"],
    ],
    ids=lambda arguments: " ".join(arguments).encode("unicode_escape").decode(),
)
def test_a_terminal_gets_no_control_characters(arguments):
    unknown = "payload.na\x1bmo" in arguments
    shown = _on_terminal(*arguments, recording_of(HOSTILE), code=1 if unknown else 0)
    assert _controls(shown) == []


def test_diff_and_export_send_a_terminal_no_control_characters(tmp_path):
    path = recording_of(HOSTILE)
    assert _controls(_on_terminal("diff", path, path)) == []
    assert _controls(_on_terminal("diff", "--format", "csv", path, path)) == []
    output = tmp_path / "\x1b[31m.csv"
    assert _controls(_on_terminal("export", "--format", "csv", "-o", output, path)) == []
    assert output.exists()


def test_trace_sends_a_terminal_no_control_characters():
    shown = _on_terminal("trace", "-c", HOSTILE)
    assert "=cmd()\\x1b[31m" in shown
    assert _controls(shown) == []
    assert _controls(_on_terminal("trace", "--format", "jsonl", "-c", HOSTILE)) == []


def test_pipes_and_files_get_names_as_they_are(tmp_path):
    path = recording_of(HOSTILE)
    rows = list(csv.DictReader(io.StringIO(run_nvspan("stats", "--format", "csv", path).stdout)))
    assert {row["name"] for row in rows} == {"=cmd()\x1b[31m", "plain"}
    assert {row["domain"] for row in rows} == {"do\x9bm", ""}
    files = tables.write_csv(nvspan.read(path), tmp_path / "a.csv")
    with open(files[1], newline="") as file:
        assert {row["name"] for row in csv.DictReader(file)} == {"@mark\r\x1b]0;title\x07"}


def test_warnings_have_no_control_characters():
    code = (
        "import nvspan\n"
        "nvspan.pop_range(domain='d\\x1b]0;t\\x07')\n"
        "nvspan.push_range('n\\x9b31m')\n"
        "import warnings; from nvspan._runtime.warnings import warn_once\n"
        "warn_once('topic', 'said \\x1b[31m of \\x85')\n"
    )
    done = nvspan_command("trace", "-o", os.devnull, "-c", code, env={"NVSPAN_CHECK": "1"})
    assert "d\\x1b]0;t\\x07" in done.stderr
    assert "n\\x9b31m" in done.stderr
    assert "said \\x1b[31m of \\x85" in done.stderr
    assert _controls(done.stderr) == []


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"])
def test_formulas_are_escaped_on_request(sign, tmp_path):
    code = (
        "import nvspan\n"
        f"name = {sign!r} + 'cmd()'\n"
        "with nvspan.annotate(name, payload={'text': name, name: -1}): pass\n"
        "with nvspan.annotate('plain', payload={'text': 'a=b', name: -2}): pass\n"
    )
    path = recording_of(code)
    name = f"{sign}cmd()"
    assert begins_formula(name)
    plain = tables.write_csv(nvspan.read(path), tmp_path / "plain.csv")
    safe = tables.write_csv(nvspan.read(path), tmp_path / "safe.csv", escape_formulas=True)
    made = []
    for file in (plain[0], safe[0]):
        with open(file, newline="") as opened:
            made.append(list(csv.DictReader(opened)))
    as_it_is, escaped = made
    assert [row["name"] for row in as_it_is] == [name, "plain"]
    assert [row["name"] for row in escaped] == ["'" + name, "plain"]
    assert [row["payload.text"] for row in escaped] == ["'" + name, "a=b"]
    assert [row[f"payload.{name}"] for row in escaped] == ["-1", "-2"]
    for arguments in (["stats"], ["stats", "--tree"], ["stats", "--compat", "nsys"]):
        cells = csv.reader(io.StringIO(
            run_nvspan(*arguments, "--format", "csv", "--escape-formulas", path).stdout
        ))  # fmt: skip
        texts = [cell for row in cells for cell in row]
        assert "'" + name.replace("\r", "\n") in texts  # as text of a pipe is read here
        assert not any(begins_formula(text) and not _is_number(text) for text in texts)
    run_nvspan("export", "--format", "csv", "--escape-formulas", "-o", tmp_path / "c.csv", path)
    assert (tmp_path / "c.csv").read_bytes() == Path(safe[0]).read_bytes()


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "words",
    [["stats"], ["stats", "--tree"], ["stats", "--many"], ["stats", "--format", "markdown"],
     ["explain"], ["steps"], ["steps", "--many"], ["modules"], ["diff", "again.nvspan"]],
    ids=" ".join,
)  # fmt: skip
def test_a_very_long_name_is_shortened_in_text(words, tmp_path):
    path = tmp_path / "long.nvspan"
    calls = []
    for start in range(0, 200_000_000, 10_000_000):
        calls += [(start, start + 9_000_000, "step"),
                  (start + 1_000_000, start + 8_000_000, "x" * 65_000)]  # fmt: skip
    written(path, calls)
    (tmp_path / "again.nvspan").write_bytes(path.read_bytes())
    done = nvspan_command(*words, "long.nvspan", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) < 400
    assert "modules" in words or "xxx...xxx" in done.stdout


@pytest.mark.parametrize("port", ["99999", "-1", "65536", "x", "1.5"])
def test_view_refuses_a_port_that_is_none(port):
    done = run_nvspan("view", "--port", port, CORPUS / "calls.nvspan", check=2)
    assert f"must be a number from 0 to 65535, not '{port}'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_viewer_answers_any_path(tmp_path, capfd):
    import threading

    (tmp_path / "index.html").write_text("page")
    (tmp_path / "a.pftrace").write_bytes(b"trace")
    with viewer.Viewer(str(tmp_path), str(tmp_path / "a.pftrace")) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            for path, status in (("/index.html", 200), ("/%00", 404), ("/a%00b.html", 404),
                                 ("/%ED%A0%80", 404), ("/%ff", 404), ("/" + "x" * 5000, 404),
                                 (server.trace_path, 200)):  # fmt: skip
                for method in ("GET", "HEAD"):
                    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
                    connection.request(method, path)
                    assert connection.getresponse().status == status, path
                    connection.close()
            # One that goes away before it is answered.
            import socket

            gone = socket.create_connection(("127.0.0.1", server.server_port))
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            gone.send(f"GET {server.trace_path} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode())
            gone.close()
        finally:
            server.shutdown()
            thread.join()
    assert "Traceback" not in capfd.readouterr().err
