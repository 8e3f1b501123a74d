#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The whole suite on the newest CPython, and the unit tests on those between it and the oldest, whose
# whole suite is the sanitizers'. README's command has tested one of them, without the packages of
# test-all: the tests that need those run here. Compiler warnings are errors here.
. .ci/common.sh

path=$(readme_python)
tested=$(version_of "${path:+$path/}python3")
oldest=${NVSPAN_CI_PYTHONS%% *}
newest=${NVSPAN_CI_PYTHONS##* }
for version in $NVSPAN_CI_PYTHONS; do
    case $version in "$oldest") continue ;; esac
    printf -- '--- CPython %s\n' "$version"
    venv=$(make_venv "$version" "$version")
    if [ "$version" = 3.11 ]; then
        install_wheel "$venv" test-all  # the wheel as it is released
    else
        build_and_install "$venv" test-all "${test_build[@]}" -C cmake.define.NVSPAN_NVTX=ON
    fi
    tests=("${unit_tests[@]}")
    [ "$version" != "$newest" ] || tests=()
    [ "$version" != "$tested" ] || tests=(-m extra)
    run_tests "$venv/bin/python" -n auto ${tests[@]+"${tests[@]}"}
done
