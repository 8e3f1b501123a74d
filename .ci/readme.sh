#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The README's two commands, word for word, each in a fresh copy of the tree: the first with the
# python3 of this machine, the second, which is the whole suite, with the newest CPython's.
. .ci/common.sh

path=$(readme_python)
for name in run test; do
    command=$(python3 .ci/readme_command.py "$name")
    copy=$NVSPAN_CI_WORK/readme-$name
    rm -rf "$copy"
    mkdir "$copy"
    tar -xf "$NVSPAN_CI_WORK/tree.tar" -C "$copy"  # other stages write into this tree meanwhile
    printf '$ %s\n' "$command"
    python=
    [ "$name" = run ] || python=${path:+$path:}
    # Not optimised across sources, as in other stages, whose compiled objects serve here too.
    (cd "$copy" && PATH=$python$PATH CMAKE_ARGS="-DNVSPAN_WERROR=ON -DNVSPAN_IPO=OFF" \
        python3 .ci/suite.py pytest .venv/bin/python bash -euo pipefail -c "$command")
done
