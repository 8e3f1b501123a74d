#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The source distribution, and a wheel built from it, which later stages install.
. .ci/common.sh

venv=$(make_venv build 3.11)
"$venv/bin/python" -m pip install -qq build
rm -rf "$NVSPAN_CI_WORK/dist"
"$venv/bin/python" -m build --outdir "$NVSPAN_CI_WORK/dist" . >"$NVSPAN_CI_WORK/build.log" 2>&1 ||
    { cat "$NVSPAN_CI_WORK/build.log"; exit 1; }
ls -l "$NVSPAN_CI_WORK/dist"
