#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The unit tests on the oldest CPython. `full` has its whole suite in the stage `sanitize`.
. .ci/common.sh

oldest=${NVSPAN_CI_PYTHONS%% *}
venv=$(make_venv "$oldest" "$oldest")
build_and_install "$venv" test "${test_build[@]}" -C cmake.define.NVSPAN_NVTX=ON
run_tests "$venv/bin/python" -n auto "${unit_tests[@]}"
