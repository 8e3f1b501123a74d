#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The source distribution, and a wheel built from it, which later stages install. In the gate it is not
# optimised across sources: it is compiled in half the time, and shares objects with other stages.
. .ci/common.sh

venv=$(make_venv build 3.11)
pip_install "$venv" build
rm -rf "$NVSPAN_CI_WORK/dist"
mkdir -p "$NVSPAN_CI_WORK/tmp"
# Where the sources are unpacked: ccache knows the paths below the work folder.
ipo=${NVSPAN_CI_FULL:+ON}
TMPDIR=$NVSPAN_CI_WORK/tmp CMAKE_ARGS="-DNVSPAN_WERROR=ON -DNVSPAN_IPO=${ipo:-OFF}" \
    "$venv/bin/python" -m build --outdir "$NVSPAN_CI_WORK/dist" . >"$NVSPAN_CI_WORK/build.log" 2>&1 ||
    { cat "$NVSPAN_CI_WORK/build.log"; exit 1; }
ls -l "$NVSPAN_CI_WORK/dist"
wheel=$(echo "$NVSPAN_CI_WORK"/dist/*.whl)
size=$(stat -c %s "$wheel")
[ -z "$NVSPAN_CI_FULL" ] || [ "$size" -le 2700000 ] || { echo "the wheel has $size bytes, more than 2.7 MB"; exit 1; }
