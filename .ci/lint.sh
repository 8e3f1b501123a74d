#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# Formatters, linters and type checkers. Everything here comes from the `dev` extra.
. .ci/common.sh

venv=$(make_venv dev 3.11)
install_wheel "$venv" dev,docs,test
export PATH=$venv/bin:$PATH

# The types of the page's scripts are checked where a TypeScript compiler is: Debian's node-typescript.
python -m pytest tests/layout tests/typing tests/report/test_page_scripts.py
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

# Without precompiled headers: each source proves that it includes what it needs.
build=build/tidy
cmake -S . -B "$build" -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DNVSPAN_IPO=OFF -DNVSPAN_PCH=OFF -DNVSPAN_UNITY=OFF \
    -DPython_EXECUTABLE="$venv/bin/python" -Dpybind11_DIR="$(python -m pybind11 --cmakedir)" \
    -DNVSPAN_NVTX=ON -DNVSPAN_TESTS=ON >/dev/null
tidy() {
    xargs -r -n 2 -P 2 clang-tidy --quiet -p "$build" >"$build/$1.log" 2>&1 ||
        { grep -vE 'warnings? generated|Processing file' "$build/$1.log"; return 1; }
}
# What changed since the last tag is known first.
touch "$NVSPAN_CI_WORK/changed"
find src tests/cpp -name '*.cpp' | sort >"$build/sources"
{ grep -Fx -f "$NVSPAN_CI_WORK/changed" "$build/sources" || true; } | tidy changed
{ grep -vFx -f "$NVSPAN_CI_WORK/changed" "$build/sources" || true; } | tidy rest
