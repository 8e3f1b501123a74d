#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The distributions: looked into, and used where there is no compiler.
. .ci/common.sh

dist=$NVSPAN_CI_WORK/dist
user=$(make_venv user 3.11)
install_wheel "$user" ""
venv=$(make_venv dev 3.11)
install_wheel "$venv" dev,docs,test-all
NVSPAN_DIST=$dist run_tests "$venv/bin/python" tests/packaging

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
