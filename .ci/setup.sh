#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# ccache and uv, where this machine can install them; without them the stages compile everything each,
# and pip installs. NVTX's headers at one place: what tests compile is then found in the cache too.
. .ci/common.sh

if ! command -v ccache >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends ccache; } >"$NVSPAN_CI_WORK/apt.log" 2>&1 || true
fi
python3 -m venv "$NVSPAN_CI_WORK/uv" && "$NVSPAN_CI_WORK/uv/bin/python" -m pip install -qq uv ||
    rm -rf "$NVSPAN_CI_WORK/uv"
[ -x "$uv" ] || echo "no uv here: pip installs"
python3 -m pip install -qq --no-compile --no-deps --target "$NVSPAN_CI_WORK/headers" \
    "nvidia-nvtx>=13.5,<14" || rm -rf "$NVSPAN_CI_WORK/headers"
ccache --version 2>/dev/null | head -n 1 || echo "no ccache here: every build compiles everything"
nproc
