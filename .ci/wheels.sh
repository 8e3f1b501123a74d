#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The distributions: built, looked into, and used where there is no compiler.
. .ci/common.sh

venv=$(make_venv wheels 3.11)
"$venv/bin/python" -m pip install -q build pytest scikit-build-core
dist=$NVSPAN_CI_WORK/dist
rm -rf "$dist"
"$venv/bin/python" -m build --outdir "$dist" . >"$NVSPAN_CI_WORK/build.log" 2>&1 ||
    { cat "$NVSPAN_CI_WORK/build.log"; exit 1; }
ls -l "$dist"

user=$(make_venv user 3.11)
"$user/bin/python" -m pip install -q --no-index --only-binary :all: "$dist"/*.whl
"$venv/bin/python" -m pip install -q --no-index "$dist"/*.whl
NVSPAN_DIST=$dist "$venv/bin/python" -m pytest tests/packaging

# From here on PATH is the environment alone.
away=$(mktemp -d)
cp examples/train_loop.py "$away"
cd "$away"
for tool in cc c++ gcc g++ clang cmake ninja make; do
    ! PATH=$user/bin command -v "$tool" >/dev/null || { echo "$tool is on PATH"; exit 1; }
done
env -i PATH="$user/bin" HOME="$away" nvspan trace train_loop.py --epochs 1 2>trace.txt
cat trace.txt
for name in epoch load step forward backward update loss; do
    grep -q "$name" trace.txt || { echo "the trace shows no '$name'"; exit 1; }
done
