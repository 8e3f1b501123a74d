#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# ThreadSanitizer over the C++ tests; the whole suite on the oldest CPython: under AddressSanitizer and
# UndefinedBehaviorSanitizer, then without them what did not pass there, and the unit tests again.
. .ci/common.sh

oldest=${NVSPAN_CI_PYTHONS%% *}
venv=$(make_venv asan "$oldest")
pip_install "$venv" "nvidia-nvtx>=13.5,<14" ninja cmake
headers=$("$venv/bin/python" cmake/find_headers.py nvidia-nvtx nvtx3/nvToolsExt.h)

cpp_tests() {
    (cd "$1" && "$venv/bin/ctest" --output-on-failure --no-tests=error)
}

printf -- '--- ThreadSanitizer\n'
build=build/cpp-thread
"$venv/bin/cmake" -S . -B "$build" -G Ninja -DCMAKE_MAKE_PROGRAM="$venv/bin/ninja" \
    -DNVSPAN_PYTHON=OFF -DNVSPAN_TESTS=ON -DNVSPAN_WERROR=ON -DNVSPAN_SANITIZE=thread \
    -DNVSPAN_NVTX=ON -DNVSPAN_NVTX_INCLUDE_DIR="$headers" >/dev/null
"$venv/bin/cmake" --build "$build"
# report_thread_leaks: a forked child has none of its parent's threads, and cannot join them.
TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:report_thread_leaks=0 cpp_tests "$build"

printf -- '--- AddressSanitizer and UndefinedBehaviorSanitizer\n'
# One build for the C++ tests and for the suite.
build_and_install "$venv" test-all "${test_build[@]}" -C cmake.define.NVSPAN_SANITIZE=address,undefined \
    -C cmake.define.NVSPAN_NVTX=ON -C cmake.define.NVSPAN_TESTS=ON -C install.strip=false
ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 cpp_tests "build/$(basename "$venv")"

# The interpreter itself is not instrumented: its own allocations are made malloc's, so that a
# wrong access to a Python object shows, and what it leaves at exit is not reported. A sanitizer's
# quarantine keeps freed memory, so tests that measure memory are left out. A report
# shows the eight innermost callers of an allocation.
libraries=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libubsan.so):$(
    g++ -print-file-name=libstdc++.so)
# What is Python alone (command lines, how programs end) is left to the run without them, too: the
# code in C++ that they reach has the tests of its room here.
passed=$NVSPAN_CI_WORK/passed-sanitized
rm -f "$passed"
(
    unset NVSPAN_NSYS
    NVSPAN_SANITIZED=1 NVSPAN_PASSED_TO=$passed PYTHONMALLOC=malloc LD_PRELOAD=$libraries \
        ASAN_OPTIONS=detect_leaks=0:malloc_context_size=8:detect_stack_use_after_return=0 \
        UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
        "$venv/bin/python" -m pytest -n auto -k "not memory_flat" \
        tests/{annotate,answers,api,compat,decorate,examples,imports,inject,payload,profile} \
        tests/{reader,record,report,writer} tests/nsight/test_nsys_reports.py
)

printf -- '--- CPython %s without sanitizers: what did not pass with them\n' "$oldest"
plain=$(make_venv "$oldest" "$oldest")
build_and_install "$plain" test-all "${test_build[@]}" -C cmake.define.NVSPAN_NVTX=ON
again=$(IFS='|'; echo "${unit_tests[*]}")
grep -vE "^($again)/" "$passed" >"$passed.once"
NVSPAN_PASSED_IN=$passed.once "$plain/bin/python" -m pytest -n auto
