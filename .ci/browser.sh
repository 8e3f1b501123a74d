#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The tests that look at pages and at the viewer in a browser, which skip where there is none.
. .ci/common.sh

if ! command -v chromium >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
venv=$(make_venv browser 3.11)
install_wheel "$venv" test-all
pip_install "$venv" playwright
mapfile -t files < <(grep -lr "helpers.browser" tests --include="test_*.py")
run_tests "$venv/bin/python" -n 2 "${files[@]}"
