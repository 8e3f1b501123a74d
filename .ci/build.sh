#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The source distribution, and a wheel built from it as a release is; later stages install it.
. .ci/common.sh

venv=$(make_venv build 3.11)
pip_install "$venv" build
rm -rf "$NVSPAN_CI_WORK/dist"
mkdir -p "$NVSPAN_CI_WORK/tmp"
# Where the sources are unpacked: ccache knows the paths below the work folder.
TMPDIR=$NVSPAN_CI_WORK/tmp CMAKE_ARGS=-DNVSPAN_WERROR=ON \
    "$venv/bin/python" -m build --outdir "$NVSPAN_CI_WORK/dist" . >"$NVSPAN_CI_WORK/build.log" 2>&1 ||
    { cat "$NVSPAN_CI_WORK/build.log"; exit 1; }
ls -l "$NVSPAN_CI_WORK/dist"
wheel=$(echo "$NVSPAN_CI_WORK"/dist/*.whl)
size=$(stat -c %s "$wheel")
[ "$size" -le 2000000 ] || { echo "the wheel has $size bytes, more than 2.0 MB"; exit 1; }
