# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The scripts of the page: small modules that become one script, and whose types are checked."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from helpers.tree import ROOT
from nvspan.report.page import bundle

SCRIPTS = ROOT / "python" / "nvspan" / "report" / "page" / "scripts"
MODULES = sorted(path.stem for path in SCRIPTS.glob("*.js"))
ENTRIES = ("page", "ranks", "widget")
MOST_LINES = 500
DECLARED = re.compile(
    r"^(?:export )?(?:async )?(?:function|class|const|let|var) (?:(\w+)|[{\[]([^}\]]*)[}\]])",
    re.MULTILINE,
)
TOP = re.compile(r"^(?:export )?(?:const|let) (.*?);$", re.MULTILINE)


def names_of(text):
    """What a module declares at its top."""
    found = []
    for name, several in DECLARED.findall(text):
        found += [name] if name else re.findall(r"\w+", several)
    for line in TOP.findall(text):
        found += re.findall(r", ([A-Z_]+) = ", line)
    return set(found)


def test_every_module_is_of_a_page_or_of_the_widget():
    used = {module for entry in ENTRIES for module in bundle.order(entry)}
    assert sorted(used) == MODULES


def test_what_modules_import_is_exported():
    for name in MODULES:
        text = bundle.source(f"{name}.js")
        for listed, other in re.findall(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', text, re.M):
            exported = set(re.findall(r"^export (?:async )?(?:function|class|const|let) (\w+)",
                                      bundle.source(f"{other}.js"), re.M))  # fmt: skip
            assert {each.strip() for each in listed.split(",")} <= exported, (name, other)
        assert text.count("\nimport ") == len(re.findall(r"^import ", text, re.M))


def test_no_name_stands_at_the_top_of_two_modules():
    counted = Counter(each for name in MODULES for each in names_of(bundle.source(f"{name}.js")))
    assert {each: count for each, count in counted.items() if count > 1} == {}


def test_the_script_is_one():
    for entry in ENTRIES:
        script = bundle.script(entry)
        assert re.findall(r"^(?:import|export) ", script, re.M) == []
        assert "SPDX" not in script


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_small(name):
    assert bundle.source(f"{name}.js").count("\n") <= MOST_LINES


def test_modules_that_import_each_other_are_refused(monkeypatch):
    texts = {"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\n'}
    monkeypatch.setattr(bundle, "source", texts.__getitem__)
    with pytest.raises(ValueError, match="modules import each other: a -> b -> a"):
        bundle.order("a")


def test_the_types_of_the_scripts():
    compiler = shutil.which("tsc")
    if compiler is None:
        pytest.skip("no TypeScript compiler: tsc is not on PATH (Debian: node-typescript)")
    done = subprocess.run(
        [compiler, "-p", str(SCRIPTS / "jsconfig.json")], capture_output=True, text=True,
        check=False, timeout=120, cwd=Path(SCRIPTS),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
