#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# nvtx's own tests, with nvspan in its place, and released packages that annotate themselves.
. .ci/common.sh

nvtx=0.2.17
venv=$(make_venv peers 3.11)
install_wheel "$venv" ""
pip_install "$venv" \
    torch==2.13.0 nvtx==$nvtx dask-cuda==26.10.0 nsight-python==1.1.0 warp-lang==1.19.0 \
    cupy-cuda12x==14.2.0 lightning==2.6.6 "numpy<2.6" setuptools wheel "pytest>=8" "pytest-xdist>=3.5"
# A source distribution, whose setup looks at the torch that is there.
pip_install "$venv" --no-build-isolation deepspeed==0.19.8

# The tests are in nvtx's source distribution, without the conftest that they import.
work=$NVSPAN_CI_WORK/peers
suite=$work/suite
rm -rf "$work"
mkdir -p "$suite"
"$venv/bin/python" -m pip download -qq --no-deps --no-binary nvtx -d "$work" nvtx==$nvtx
tar -xzf "$work/nvtx-$nvtx.tar.gz" -C "$work"
cp "$work/nvtx-$nvtx"/tests/test_*.py tests/peers/nvtx_suite_differences.py "$suite"
cp tests/peers/nvtx_suite_conftest.py "$suite/conftest.py"
touch "$suite/__init__.py"
printf '[pytest]\naddopts = --import-mode=importlib -p no:cacheprovider\n' >"$suite/pytest.ini"

printf -- '--- the tests of nvtx %s, under a tool\n' $nvtx
(cd "$work" && "$venv/bin/python" -m nvspan trace --as-nvtx --format jsonl -o events.jsonl -m pytest --tb=line suite)
printf -- '--- and without one\n'
(cd "$work" && "$venv/bin/python" -m nvspan --as-nvtx -m pytest --tb=line suite)

printf -- '--- packages that annotate themselves\n'
NVSPAN_PEERS=1 run_tests "$venv/bin/python" -n auto tests/peers
