# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of Nsight Systems as files that `nvspan.read` reads.

A report becomes a recording once and is kept in a cache. The cache is the folder that NVSPAN_CACHE
names, or ``nvspan`` in the user's folder for such files; an empty NVSPAN_CACHE keeps nothing.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import subprocess
import tempfile

from nvspan import _reader
from nvspan.nsight.lines.tools import COMPUTE_SUFFIX, find_tool
from nvspan.nsight.nsys.cuda import write_cuda
from nvspan.nsight.nsys.nvtx import Nvtx
from nvspan.nsight.nsys.report import Report, rows_of_texts
from nvspan.nsight.nsys.tables import (
    Database,
    ParquetFolder,
    Tables,
    is_database,
    is_parquet_folder,
)
from nvspan.recording import Source

SUFFIX = ".nsys-rep"
_VERSION = 4  # of what this makes of a report
_OURS = "NVSPAN_LOSSES"  # a table of exports by nvspan
_MOST_BYTES = 8 << 30  # of the cache


def recording_of(path: str) -> tuple[str, Source] | None:
    """The recording made of a report, and what the report says of itself; None for other files.

    Args:
        path: an ``.nsys-rep``, or the SQLite file or Parquet folder that ``nsys export`` made.

    Raises:
        OSError: the report cannot be read, or nothing can be written.
        ValueError: it is damaged, is no report, or one of Nsight Compute; an ``.nsys-rep`` is not
            exported, because there is no Nsight Systems or it refuses.
    """
    if path.endswith(COMPUTE_SUFFIX):
        with open(path, "rb"):
            pass
        raise ValueError(
            f"{path!r} is a report of Nsight Compute, which has no timeline: 'nvspan stats' and "
            "'nvspan diff' read such reports together with others of that kind, and "
            "nvspan.nsight.read_ncu in Python"
        )
    if path.endswith(SUFFIX):
        return _made(path, _exported_beside(path))
    if is_parquet_folder(path) or is_database(path):
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
    folder, kept = _folder()
    name = os.path.join(folder, _key(path))
    made, about = f"{name}.nvspan", f"{name}.json"
    try:
        with open(about, encoding="utf-8") as file:
            known = json.load(file)
        os.utime(made)
        return made, Source(path, known["tool"], known["end"])
    except (OSError, ValueError, KeyError):
        pass
    with tempfile.TemporaryDirectory(prefix="nvspan-", dir=folder) as work:
        source = _import(path, tables_path or _export(path, work), os.path.join(work, "r.nvspan"))
        with open(os.path.join(work, "about"), "w", encoding="utf-8") as file:
            json.dump({"tool": source.tool, "end": source.end, "path": path}, file)
        os.replace(os.path.join(work, "r.nvspan"), made)
        os.replace(os.path.join(work, "about"), about)
    if kept:
        _shrink(folder, made)
    return made, source


def _import(path: str, tables_path: str, made: str) -> Source:
    try:
        return Source(path, *_write(tables_path, made))
    except ValueError as error:
        raise ValueError(f"cannot read {path!r}: {error}") from None


def _write(tables_path: str, made: str) -> tuple[str, int | None]:
    """Writes the recording: the tool that the report is of, and when its collection ended."""
    tables: Tables
    tables = ParquetFolder(tables_path) if os.path.isdir(tables_path) else Database(tables_path)
    if "StringIds" not in tables.names():
        raise ValueError("it is no export of Nsight Systems")
    if _OURS in tables.names():
        raise ValueError("nvspan exported it; read the recording that it is of")
    with _reader.ExternalWriter(os.fsencode(made)) as writer:
        report = Report(tables, writer)
        Nvtx(report).write()
        write_cuda(report)
        report.process_if_none()
    return _tool(tables), report.end


def _tool(tables: Tables) -> str:
    """Which Nsight Systems exported the tables."""
    facts: dict[str | None, str | None] = {}
    for table in ("EXPORT_META_DATA", "META_DATA_EXPORT"):  # the first in versions before 2023
        rows = tables.read(table, [("name", "t"), ("value", "t")])
        names, values = (rows_of_texts(rows, column) for column in ("name", "value"))
        facts.update(zip(names, values, strict=True))
    version = facts.get("EXPORT_PRODUCT_VERSION") or facts.get("EXPORT_SCHEMA_VERSION")
    return f"Nsight Systems {version}" if version else "Nsight Systems"


def _export(path: str, folder: str) -> str:
    """An SQLite file that the installed nsys makes of a report."""
    with open(path, "rb"):
        pass
    nsys = find_tool("nsys")
    hint = f"or export it where there is one: nsys export --type=sqlite {path}"
    if nsys is None:
        raise ValueError(f"cannot read {path!r}: that needs Nsight Systems (nsys), {hint}")
    database = os.path.join(folder, "report.sqlite")
    # Payloads with fields, which nsys has an option for since 2025.
    for options in (["--include-blobs=true"], []):
        try:
            done = subprocess.run(
                [nsys, "export", "--type=sqlite", *options, f"--output={database}", path],
                capture_output=True, text=True, errors="replace", check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
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
    return database


def _key(path: str) -> str:
    """A name for this state of a file."""
    status = os.stat(path)
    parts = [os.path.realpath(path), status.st_mtime_ns, status.st_size, status.st_ino, _VERSION]
    if os.path.isdir(path):
        for name in sorted(os.listdir(path)):
            inner = os.stat(os.path.join(path, name))
            parts += [name, inner.st_mtime_ns, inner.st_size]
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]


_temporary: tempfile.TemporaryDirectory[str] | None = None


def _folder() -> tuple[str, bool]:
    """Where the recordings made are, and whether they stay there."""
    global _temporary
    chosen = os.environ.get("NVSPAN_CACHE")
    if chosen != "":
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        folder = os.path.join(chosen or os.path.join(home, "nvspan"), "nsight")
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return folder, True
        except OSError:
            pass
    if _temporary is None or not os.path.isdir(_temporary.name):
        _temporary = tempfile.TemporaryDirectory(prefix="nvspan-")
        atexit.register(shutil.rmtree, _temporary.name, ignore_errors=True)
    return _temporary.name, False


def _shrink(folder: str, keep: str) -> None:
    """Removes those that were not read for the longest time, past so many bytes."""
    found = []
    for entry in os.scandir(folder):
        if entry.name.endswith(".nvspan") and entry.path != keep:
            try:
                status = entry.stat()
            except OSError:
                continue
            found.append((status.st_mtime_ns, status.st_size, entry.path))
    total = os.stat(keep).st_size
    for _, size, path in sorted(found, reverse=True):
        total += size
        if total > _MOST_BYTES:
            for each in (path, path.removesuffix(".nvspan") + ".json"):
                try:
                    os.unlink(each)
                except OSError:
                    pass
