#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# ccache, where this machine can install it; without it the stages compile everything each.
. .ci/common.sh

if ! command -v ccache >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends ccache; } >"$NVSPAN_CI_WORK/apt.log" 2>&1 || true
fi
ccache --version 2>/dev/null | head -n 1 || echo "no ccache here: every build compiles everything"
nproc
