#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The suite on every CPython but python3's own, which the README's command has tested. Compiler
# warnings are errors here.
. .ci/common.sh

own=
[ -e "$NVSPAN_CI_WORK/readme-test" ] &&
    own=$(python3 -c "import sys; print('%d.%d' % sys.version_info[:2])")
for version in $NVSPAN_CI_PYTHONS; do
    [ "$version" = "$own" ] && continue
    printf -- '--- CPython %s\n' "$version"
    venv=$(make_venv "$version" "$version")
    build_and_install "$venv" test -C cmake.define.NVSPAN_WERROR=ON -C cmake.define.NVSPAN_NVTX=ON
    "$venv/bin/python" -m pytest -n auto
done
