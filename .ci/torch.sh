#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The tests that need PyTorch (in the gate those that are not marked slow), with its CPU build, on one CPython, and what trains by it; and the
# documentation, whose pages run more of their blocks here. Then the trackers of experiments, apart:
# frameworks import those that they find.
. .ci/common.sh

venv=$(make_venv torch 3.11)
install_wheel "$venv" ""
pip_install "$venv" torch==2.13.0 numpy "pytest>=8" "pytest-xdist>=3.5"
selected=()
[ -n "$NVSPAN_CI_FULL" ] || selected=(-m "not slow")
pip_install "$venv" lightning==2.6.6 transformers==5.23.0 accelerate==1.15.0
# Freed memory is kept: Dynamo has the C library map and unmap the same blocks over and over.
export MALLOC_MMAP_THRESHOLD_=1000000000 MALLOC_TRIM_THRESHOLD_=2000000000 MALLOC_TOP_PAD_=16777216
run_tests "$venv/bin/python" -n auto ${selected[@]+"${selected[@]}"} tests/pytorch tests/imports/test_traces.py
[ -n "$NVSPAN_CI_FULL" ] || exit 0
run_tests "$venv/bin/python" -n auto tests/docs/test_blocks.py -k "test_page and torch"
run_tests "$venv/bin/python" -n 2 tests/answers/key/test_programs.py

venv=$(make_venv trackers 3.11)
install_wheel "$venv" ""
pip_install "$venv" mlflow-skinny==3.17.2 tensorboard==2.21.0 wandb==0.31.0 "pytest>=8" "pytest-xdist>=3.5"
run_tests "$venv/bin/python" -n 2 tests/examples/test_trackers.py
