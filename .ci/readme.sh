#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The README's two commands, word for word, each in a fresh copy of the tree.
. .ci/common.sh

for name in run test; do
    command=$(python3 .ci/readme_command.py "$name")
    copy=$NVSPAN_CI_WORK/readme-$name
    rm -rf "$copy"
    cp -r . "$copy"
    printf '$ %s\n' "$command"
    (cd "$copy" && bash -euo pipefail -c "$command")
done
