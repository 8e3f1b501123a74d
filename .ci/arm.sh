#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# Linux on Arm. On such a machine, with the python that is on PATH and has nvspan and its extra `test`:
# the C++ tests, and the tests of the emitting, recording and reading rooms. Elsewhere: the C++ tests,
# compiled by zig and run by qemu with pages of 4 and of 64 KiB. Not run each time: `.ci/run setup arm`.
. .ci/common.sh

rooms=(tests/api tests/annotate tests/decorate tests/record tests/inject tests/reader tests/live
    tests/blackbox tests/report)
if [ "$(uname -m)" = aarch64 ]; then
    printf 'pages of %s bytes\n' "$(getconf PAGESIZE)"
    headers=$(python cmake/find_headers.py nvidia-nvtx nvtx3/nvToolsExt.h)
    cmake -S . -B build/arm -G Ninja -DNVSPAN_PYTHON=OFF -DNVSPAN_TESTS=ON -DNVSPAN_WERROR=ON \
        -DNVSPAN_NVTX=ON -DNVSPAN_NVTX_INCLUDE_DIR="$headers" >/dev/null
    cmake --build build/arm
    ctest --test-dir build/arm --output-on-failure --no-tests=error --timeout 300
    python -m pytest -n auto "${rooms[@]}"
    exit
fi

# What an Arm program needs of a system, unpacked and not installed.
arm=$NVSPAN_CI_WORK/arm
mkdir -p "$arm/debs" "$arm/tools" "$arm/tree"
if [ ! -e "$arm/ready" ]; then
    # Lists of its own: the machine's packages stay as they are.
    mkdir -p "$arm/lists/partial"
    touch "$arm/status"
    printf '%s\n' "Dir::State::lists \"$arm/lists\";" "Dir::State::status \"$arm/status\";" \
        'APT::Architectures { "amd64"; "arm64"; };' >"$arm/apt.conf"
    export APT_CONFIG=$arm/apt.conf
    apt-get update -qq
    (cd "$arm/debs" && apt-get download -qq qemu-user-static libc6:arm64 libgcc-s1:arm64 libstdc++6:arm64)
    unset APT_CONFIG
    for package in "$arm"/debs/*_arm64.deb; do dpkg -x "$package" "$arm/tree"; done
    [ -e "$arm/tree/lib" ] || ln -s usr/lib "$arm/tree/lib"
    dpkg -x "$arm"/debs/qemu-user-static_*.deb "$arm/tools"
    touch "$arm/ready"
fi

venv=$(make_venv arm 3.11)
pip_install "$venv" "nvidia-nvtx>=13.5,<14" cmake ninja "ziglang>=0.17,<0.18"
headers=$("$venv/bin/python" cmake/find_headers.py nvidia-nvtx nvtx3/nvToolsExt.h)
for name in ar c++ ranlib; do
    target=
    [ "$name" != c++ ] || target='-target aarch64-linux-gnu.2.28'
    printf '#!/bin/sh\nexec "%s" -m ziglang %s %s "$@"\n' "$venv/bin/python" "$name" "$target" >"$arm/zig-$name"
    chmod +x "$arm/zig-$name"
done
export ZIG_GLOBAL_CACHE_DIR=${NVSPAN_CI_CCACHE:-$NVSPAN_CI_WORK}/zig
unset CMAKE_CXX_COMPILER_LAUNCHER
"$venv/bin/cmake" -S . -B build/arm -G Ninja -DCMAKE_MAKE_PROGRAM="$venv/bin/ninja" \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER="$arm/zig-c++" \
    -DCMAKE_AR="$arm/zig-ar" -DCMAKE_RANLIB="$arm/zig-ranlib" -DNVSPAN_PYTHON=OFF -DNVSPAN_TESTS=ON \
    -DNVSPAN_IPO=OFF -DNVSPAN_NVTX=ON -DNVSPAN_NVTX_INCLUDE_DIR="$headers" >/dev/null
"$venv/bin/cmake" --build build/arm
for pages in 4096 65536; do
    printf -- '--- pages of %s bytes\n' "$pages"
    emulator="$arm/tools/usr/bin/qemu-aarch64-static;-L;$arm/tree;-p;$pages"
    "$venv/bin/cmake" -B build/arm -DCMAKE_CROSSCOMPILING_EMULATOR="$emulator" >/dev/null
    run_cpp_tests build/arm "$venv/bin/ctest"
done
