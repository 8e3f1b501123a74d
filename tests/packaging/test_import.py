# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What `import nvspan` loads in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = r"""
import sys
before = set(sys.modules)
import nvspan
added = sorted(set(sys.modules) - before)
print(*added, sep="\n")
"""


def loaded_by_import():
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_import_loads_no_third_party_module():
    known = set(sys.stdlib_module_names) | {"nvspan"}
    foreign = {name for name in loaded_by_import() if name.split(".")[0] not in known}
    assert foreign == set()


def test_import_loads_no_machinery_it_does_not_need():
    slow = {"argparse", "asyncio", "dataclasses", "inspect", "json", "logging", "subprocess"}
    assert slow & set(loaded_by_import()) == set()


def test_import_loads_no_command_line():
    assert not [name for name in loaded_by_import() if name.startswith("nvspan.cli")]
