# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Print the include directory of a header that an installed wheel ships, or nothing.

Run by CMake with the build's Python: find_headers.py WHEEL HEADER, for example
find_headers.py nvidia-nvtx nvtx3/nvToolsExt.h
"""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path


def include_dir(wheel: str, header: str) -> Path | None:
    try:
        files = metadata.files(wheel) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.as_posix().endswith(f"/include/{header}"):
            path = Path(str(file.locate())).resolve()
            if path.is_file():
                return path.parents[header.count("/")]
    return None


if __name__ == "__main__":
    found = include_dir(sys.argv[1], sys.argv[2])
    if found is not None:
        print(found.as_posix())
