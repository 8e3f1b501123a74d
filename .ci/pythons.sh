#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The whole suite on the oldest and the newest CPython; on those between, the tests that need no tool.
# README's command has tested one of them. Compiler warnings are errors here.
. .ci/common.sh

path=$(readme_python)
tested=$(version_of "${path:+$path/}python3")
oldest=${NVSPAN_CI_PYTHONS%% *}
newest=${NVSPAN_CI_PYTHONS##* }
for version in $NVSPAN_CI_PYTHONS; do
    [ "$version" = "$tested" ] && continue
    printf -- '--- CPython %s\n' "$version"
    venv=$(make_venv "$version" "$version")
    if [ "$version" = 3.11 ]; then
        install_wheel "$venv" test  # the wheel as it is released
    else
        build_and_install "$venv" test "${test_build[@]}" -C cmake.define.NVSPAN_NVTX=ON
    fi
    tests=(tests/api tests/decorate tests/layout tests/packaging tests/examples)
    case $version in "$oldest" | "$newest") tests=() ;; esac
    "$venv/bin/python" -m pytest -n auto ${tests[@]+"${tests[@]}"}
done
