#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# libFuzzer under AddressSanitizer and UndefinedBehaviorSanitizer over all that nvspan reads, for
# NVSPAN_CI_FUZZ_SECONDS (20) each, from the corpus of the tests.
. .ci/common.sh

if ! command -v clang++-14 >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq clang-14 libclang-rt-14-dev >/dev/null
fi
venv=$(make_venv fuzz 3.11)
pip_install "$venv" "nvidia-nvtx>=13.5,<14" ninja cmake
headers=$("$venv/bin/python" cmake/find_headers.py nvidia-nvtx nvtx3/nvToolsExt.h)
build=build/fuzz
"$venv/bin/cmake" -S . -B "$build" -G Ninja -DCMAKE_MAKE_PROGRAM="$venv/bin/ninja" \
    -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_BUILD_TYPE=Release -DNVSPAN_PYTHON=OFF -DNVSPAN_TESTS=ON \
    -DNVSPAN_SANITIZE=address,undefined,fuzzer-no-link -DNVSPAN_NVTX=ON \
    -DNVSPAN_NVTX_INCLUDE_DIR="$headers" >/dev/null
"$venv/bin/cmake" --build "$build" --target fuzzers

seeds=$NVSPAN_CI_WORK/seeds
mkdir -p "$seeds"/{recordings,databases,traces}
cp tests/corpus/*.nvspan "$seeds/recordings"
for packed in tests/data/nsight/*.sqlite.xz; do
    xz -dc "$packed" >"$seeds/databases/$(basename "$packed" .xz)"
done
gzip -dc tests/data/imports/jax.trace.json.gz >"$seeds/traces/jax.json"
# Small ones, of which a second tries 50 times as many.
cp tests/corpus/seeds/trace/* "$seeds/traces"
cp tests/corpus/seeds/database/* "$seeds/databases"

# fuzz TARGET SEEDS
fuzz() {
    local new=$NVSPAN_CI_WORK/new-$1 log=$NVSPAN_CI_WORK/fuzz-$1.log
    mkdir -p "$new"
    "$build/$1" -max_total_time="${NVSPAN_CI_FUZZ_SECONDS:-20}" -max_len=90000 -rss_limit_mb=3000 -timeout=60 \
        -print_final_stats=1 "$new" "$2" >"$log" 2>&1 || { tail -n 60 "$log"; exit 1; }
    printf '%-24s %s inputs\n' "$1" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
}
for target in reader_fuzzer fuzz_look_at_live fuzz_follow fuzz_make_bundle; do
    fuzz "$target" "$seeds/recordings"
done
fuzz fuzz_read_bundle_flag tests/corpus/seeds/flag
fuzz fuzz_read_summary tests/corpus/seeds/summary
fuzz fuzz_import_trace "$seeds/traces"
fuzz fuzz_read_database "$seeds/databases"
