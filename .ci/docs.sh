#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The documentation, warnings as errors, with the live sample page that it links to.
. .ci/common.sh

venv=$(make_venv dev 3.11)
install_wheel "$venv" dev,docs,test-all
"$venv/bin/python" -m sphinx -q -W --keep-going -n -b html docs "$NVSPAN_CI_WORK/html"
test -s "$NVSPAN_CI_WORK/html/sample.html"
