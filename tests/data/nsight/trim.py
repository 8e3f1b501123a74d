# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a small copy of an export of nsys: trim.py IN.sqlite OUT.sqlite.xz

Tables that say what happened keep their statements and rows. What names the machine and its user,
other processes, and texts that no row refers to are left out, but not the one that a third argument
names.
"""

from __future__ import annotations

import lzma
import re
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

KEPT = (
    "ANALYSIS_DETAILS", "TARGET_INFO_SESSION_START_TIME", "NVTX_EVENTS", "NVTX_PAYLOAD_SCHEMAS",
    "NVTX_PAYLOAD_SCHEMA_ENTRIES", "NVTX_PAYLOAD_ENUMS", "NVTX_PAYLOAD_ENUM_ENTRIES",
    "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "TARGET_INFO_NVTX_CUDA_STREAM", "TARGET_INFO_CUDA_DEVICE", "TARGET_INFO_GPU",
    "ENUM_CUDA_MEMCPY_OPER", "ENUM_NSYS_EVENT_TYPE",
)  # fmt: skip
TEXTS = {
    "NVTX_EVENTS": ("textId",), "CUPTI_ACTIVITY_KIND_RUNTIME": ("nameId",),
    "CUPTI_ACTIVITY_KIND_KERNEL": ("demangledName", "shortName"), "ThreadNames": ("nameId",),
}  # fmt: skip
FACTS = ("EXPORT_PRODUCT_NAME", "EXPORT_PRODUCT_VERSION", "EXPORT_SCHEMA_VERSION")


def main(given: str, made: str, kept_text: str = "") -> None:
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.sqlite"
        with closing(sqlite3.connect(given)) as source, closing(sqlite3.connect(small)) as target:
            statements = dict(
                source.execute("select name, sql from sqlite_master where type = 'table'")
            )

            def copy(table: str, where: str = "1") -> None:
                if table not in statements:
                    return
                target.execute(re.sub(r"\s*--[^\n]*", "", statements[table]))
                rows = source.execute(f"select * from {table} where {where}").fetchall()
                if rows:
                    target.executemany(
                        f"insert into {table} values ({','.join('?' * len(rows[0]))})", rows
                    )

            for table in KEPT:
                # Calls that launched nothing, after the first few, only take room.
                copy(table, launched(statements) if "RUNTIME" in table else "1")
            tids = "select distinct globalTid from NVTX_EVENTS"
            copy("ThreadNames", f"globalTid in ({tids})")
            copy("PROCESSES", f"globalPid in (select globalTid & ~16777215 from ({tids}))")
            target.execute("update PROCESSES set name = 'python3'")
            facts = ",".join(f"'{fact}'" for fact in FACTS)
            for table in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
                copy(table, f"name in ({facts})")
            used = " union ".join(
                f"select {column} from {table}"
                for table, columns in TEXTS.items()
                for column in columns
                if table in statements
            )
            copy("StringIds", f"id in ({used}) or value = '{kept_text}'")
            target.commit()
            target.execute("vacuum")
        Path(made).write_bytes(lzma.compress(small.read_bytes(), preset=9))


def launched(tables: dict[str, str]) -> str:
    work = [name for name in KEPT if name.startswith("CUPTI") and "RUNTIME" not in name]
    found = " union ".join(f"select correlationId from {name}" for name in work if name in tables)
    return f"rowid <= 300 or correlationId in ({found})" if found else "1"


if __name__ == "__main__":
    main(*sys.argv[1:])
