#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# A build without NVTX: the same API, and nothing emitted.
. .ci/common.sh

venv=$(make_venv noop 3.11)
build_and_install "$venv" test-all "${test_build[@]}" -C cmake.define.NVSPAN_NVTX=OFF \
    -C cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O0  # what it does is asked, not how fast
run_tests "$venv/bin/python" -n auto "${unit_tests[@]}"
