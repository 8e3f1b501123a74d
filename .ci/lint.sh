#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# Formatters, linters and type checkers. Everything here comes from the `dev` extra.
. .ci/common.sh

venv=$(make_venv dev 3.11)
install_wheel "$venv" dev,docs,test-all
export PATH=$venv/bin:$PATH
# What the checkers know of files that did not change.
kept=${NVSPAN_CI_CCACHE:-$NVSPAN_CI_WORK}
export MYPY_CACHE_DIR=$kept/mypy

# The types of the page's scripts are checked where a TypeScript compiler is: Debian's node-typescript.
run_tests "$venv/bin/python" tests/layout tests/typing tests/report/test_page_scripts.py
ruff check .
ruff format --check .
find src tests benchmarks -name '*.[ch]pp' -print0 | xargs -0 -r clang-format --dry-run --Werror
codespell
pre-commit validate-config
mypy
mypy --strict tests/typing/example.py
basedpyright
python -m mypy.stubtest nvspan._core --allowlist .ci/stubtest-allowlist.txt

# Every platform and CPython that a release is built for, from the configuration alone.
for platform in linux windows macos; do
    cibuildwheel --print-build-identifiers --platform "$platform" . | tr '\n' ' '
done
echo

# Each source alone, which proves that it includes what it needs.
build=build/tidy
cmake -S . -B "$build" -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DNVSPAN_IPO=OFF -DNVSPAN_UNITY=OFF \
    -DPython_EXECUTABLE="$venv/bin/python" -Dpybind11_DIR="$(python -m pybind11 --cmakedir)" \
    -DNVSPAN_NVTX=ON -DNVSPAN_TESTS=ON >/dev/null
changed=$NVSPAN_CI_WORK/changed
if [ -n "$NVSPAN_CI_FULL" ] || [ ! -e "$changed" ]; then
    changed=  # every source
fi
python .ci/tidy.py "$build" "$kept/tidy" ${changed:+"$changed"}

# What is built on Windows and macOS compiles for them.
mkdir -p "$kept/zig"
python .ci/zig.py "$kept/zig" ${changed:+"$changed"}
