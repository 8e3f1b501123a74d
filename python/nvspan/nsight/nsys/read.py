# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of Nsight Systems as files that `nvspan.read` reads.

The SQLite file that nsys exports stays beside its report, as ``nsys stats`` leaves it. The
recording that is made of it lasts as long as the process.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile

from nvspan import _reader
from nvspan._doctor.tools import captured
from nvspan.nsight.lines.tools import COMPUTE_SUFFIX, find_tool
from nvspan.nsight.nsys.cuda import write_cuda
from nvspan.nsight.nsys.nvtx import Nvtx
from nvspan.nsight.nsys.report import Report
from nvspan.nsight.nsys.tables import Database, is_database
from nvspan.recording import Source
from nvspan.recording.regular_file import check_regular

SUFFIX = ".nsys-rep"
_OURS = "NVSPAN_LOSSES"  # a table of exports by nvspan


def recording_of(path: str) -> tuple[str, Source] | None:
    """The recording made of a report, and what the report says of itself; None for other files.

    Args:
        path: an ``.nsys-rep``, or the SQLite file that ``nsys export`` made.

    Raises:
        OSError: the report cannot be read, or nothing can be written.
        ValueError: it is damaged, is no report, or one of Nsight Compute; an ``.nsys-rep`` is not
            exported, because there is no Nsight Systems or it refuses.
    """
    if path.endswith(COMPUTE_SUFFIX):
        check_regular(path)
        raise ValueError(
            f"{path!r} is a report of Nsight Compute, which has no timeline: 'nvspan ncu --read' "
            "shows it, and nvspan.nsight.read_ncu reads it in Python"
        )
    if path.endswith(SUFFIX):
        return _made(path, _exported_beside(path))
    if is_database(path):
        return _made(path, path)
    return None


def _exported_beside(path: str) -> str | None:
    """The SQLite file that nsys, or its user, put beside a report."""
    beside = path.removesuffix(SUFFIX) + ".sqlite"
    try:
        newer = os.stat(beside).st_mtime_ns >= os.stat(path).st_mtime_ns
    except OSError:
        return None
    if not newer or not is_database(beside):
        return None
    try:
        tables = Database(beside).names()
    except (OSError, ValueError):
        return None
    return None if _OURS in tables else beside


def _made(path: str, tables_path: str | None) -> tuple[str, Source]:
    key = _key(path)
    if (known := _known.get(key)) is not None and os.path.exists(known[0]):
        return known
    folder = _folder()
    target = os.path.join(folder, f"{key}.nvspan")
    with tempfile.TemporaryDirectory(prefix="nvspan-", dir=folder) as work:
        written = os.path.join(work, "r.nvspan")
        tables_path = tables_path or _export(path, work)
        try:
            source = Source(path, *_write(tables_path, written))
        except ValueError as error:
            raise ValueError(f"cannot read {path!r}: {error}") from None
        os.replace(written, target)
    _known[key] = target, source
    return target, source


def _write(tables_path: str, target: str) -> tuple[str, int | None]:
    """Writes the recording: the tool that the report is of, and when its collection ended."""
    tables = Database(tables_path)
    if "StringIds" not in tables.names():
        raise ValueError("it is no export of Nsight Systems")
    if _OURS in tables.names():
        raise ValueError("nvspan exported it; read the recording that it is of")
    with _reader.ExternalWriter(os.fsencode(target)) as writer:
        report = Report(tables, writer)
        Nvtx(report).write()
        write_cuda(report)
        report.process_if_none()
    return _tool(tables), report.end


def _tool(tables: Database) -> str:
    """Which Nsight Systems exported the tables."""
    facts: dict[str | None, str | None] = {}
    for table in ("EXPORT_META_DATA", "META_DATA_EXPORT"):  # the first in versions before 2023
        facts.update(
            (name, value) for _, (name, value) in tables.rows(table, [], ["name", "value"])
        )
    version = facts.get("EXPORT_PRODUCT_VERSION") or facts.get("EXPORT_SCHEMA_VERSION")
    return f"Nsight Systems {version}" if version else "Nsight Systems"


def _export(path: str, folder: str) -> str:
    """An SQLite file that the installed nsys makes of a report: beside it where nothing of that
    name exists and the folder can be written, else in `folder`."""
    check_regular(path)
    nsys = find_tool("nsys")
    hint = f"or export it where there is one: nsys export --type=sqlite {path}"
    if nsys is None:
        raise ValueError(f"cannot read {path!r}: that needs Nsight Systems (nsys), {hint}")
    database = os.path.join(folder, "report.sqlite")
    # Payloads with fields, which nsys has an option for since 2025.
    for options in (["--include-blobs=true"], []):
        try:
            done = captured(nsys, "export", "--type=sqlite", *options, f"--output={database}", path)
        except OSError as error:
            why = f"{nsys} does not run: {error.strerror}"
            raise ValueError(f"cannot read {path!r}: {why}") from None
        if os.path.exists(database):
            break
    else:
        said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        why = next((line for line in said if "%" not in line), f"it ended with {done.returncode}")
        raise ValueError(
            f"cannot read {path!r}: {nsys} does not export it: {why}; take the nsys that made it, "
            f"{hint}"
        )
    beside = path.removesuffix(SUFFIX) + ".sqlite"
    if os.path.lexists(beside):
        return database
    part = f"{beside}.{os.getpid()}"  # another file system takes a copy, which may be cut
    try:
        shutil.move(database, part)
        os.replace(part, beside)
    except OSError:
        return database
    return beside


def _key(path: str) -> str:
    """A name for this state of a file."""
    status = os.stat(path)
    parts = [os.path.realpath(path), status.st_mtime_ns, status.st_size, status.st_ino]
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]


_known: dict[str, tuple[str, Source]] = {}
_temporary: tempfile.TemporaryDirectory[str] | None = None


def _folder() -> str:
    """Where the recordings made are, until the process ends."""
    global _temporary
    if _temporary is None or not os.path.isdir(_temporary.name):
        _temporary = tempfile.TemporaryDirectory(prefix="nvspan-")
        atexit.register(shutil.rmtree, _temporary.name, ignore_errors=True)
    return _temporary.name
