#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The tests that need packages of the extra `test-all`, which the README's command skips.
. .ci/common.sh

venv=$(make_venv dev 3.11)
install_wheel "$venv" dev,docs,test-all
run_tests "$venv/bin/python" -n auto -m extra
