# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Rules that every file of the tree keeps: length, licence lines, addresses, build list."""

from __future__ import annotations

import re

from helpers.tree import ROOT, code_files, cpp_files, read, relative, text_files

MOST_LINES = 500
LICENCE_LINES = [
    "SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors",
    "SPDX-License-Identifier: Apache-2.0",
]
# The tree names no other host: a package index, above all, is the user's own choice.
KNOWN_HOSTS = {"docs.nvidia.com", "docs.python.org", "github.com", "nvidia.github.io",
               "developer.nvidia.com", "packaging.python.org", "www.apache.org",
               "www.speedscope.app", "www.w3.org", "localhost", "127.0.0.1"}  # fmt: skip


def offenders(paths, is_wrong):
    return [relative(path) for path in paths if is_wrong(read(path))]


def test_files_are_short_enough_to_read():
    """But stubs: an extension module has one, and stubtest checks no name that a stub imports."""
    paths = [path for path in code_files() if path.suffix != ".pyi"]
    lengths = {relative(path): len(read(path).splitlines()) for path in paths}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_files_start_with_their_licence():
    def is_wrong(text):
        lines = [line for line in text.splitlines()[:4] if line[:2] != "#!"]
        return [line.lstrip("#/ ") for line in lines[:2]] != LICENCE_LINES

    assert offenders(code_files(), is_wrong) == []


def test_text_is_clean():
    def is_wrong(text):
        return re.search(r"[ \t]+$|\r|\t", text, re.MULTILINE) or (text and text[-1] != "\n")

    assert offenders(text_files(), is_wrong) == []


def test_only_known_hosts_are_named():
    hosts = {relative(path): set(re.findall(r"https?://([\w.-]+\w)", read(path))) - KNOWN_HOSTS
             for path in text_files()}  # fmt: skip
    assert {name: found for name, found in hosts.items() if found} == {}


def test_no_package_index_is_named():
    option = r"--(extra-)?index-url[ =]|--find-links[ =]https?:"
    assert offenders(text_files(), re.compile(option).search) == []


def test_no_path_of_one_machine_is_named():
    assert offenders(text_files(), re.compile(r"(?<![\w.])/(root|home|work)/\w").search) == []


def test_namespaces_name_themselves_where_they_close():
    def is_wrong(text):
        opened = re.findall(r"^(?:inline )?namespace ((?:\w+(?:::)?)*) ?\{$", text, re.MULTILINE)
        closed = re.findall(r"^\}  // namespace ?((?:\w+(?:::)?)*)$", text, re.MULTILINE)
        return sorted(opened) != sorted(closed)

    assert offenders(cpp_files(), is_wrong) == []


def test_headers_are_included_once():
    headers = [path for path in cpp_files() if path.suffix == ".hpp"]
    assert offenders(headers, lambda text: "#pragma once\n" not in text) == []


def test_the_build_lists_every_source_once():
    listed = re.findall(r"(src/\S+\.cpp|tests/cpp/\S+\.cpp)", (ROOT / "CMakeLists.txt").read_text())
    for room in sorted(ROOT.glob("src/*/CMakeLists.txt")):
        names = re.findall(r"^ +(\S+\.cpp)", room.read_text(), re.MULTILINE)
        listed += [relative(room.parent / name) for name in names]
    paths = [*cpp_files("src"), *cpp_files("tests/cpp")]
    sources = [relative(path) for path in paths if path.suffix == ".cpp"]
    assert set(listed) ^ set(sources) == set()
    assert len(listed) == len(sources)
