#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The C++ tests under ThreadSanitizer, and under AddressSanitizer with UndefinedBehaviorSanitizer; in the
# gate where the C++ changed. In `full` also the suite on the oldest CPython: under AddressSanitizer,
# then without it what did not pass there.
. .ci/common.sh

if [ -z "$NVSPAN_CI_FULL" ] && ! changed '^(src|tests/cpp|tests/device/fake_libcuda|tests/kernels/fake_libcupti|cmake)/|CMakeLists\.txt$'; then
    echo "no C++ differs from the commit of .ci/base"
    exit 0
fi
oldest=${NVSPAN_CI_PYTHONS%% *}
venv=$(make_venv asan "$oldest")
pip_install "$venv" "nvidia-nvtx>=13.5,<14" ninja cmake
headers=$("$venv/bin/python" cmake/find_headers.py nvidia-nvtx nvtx3/nvToolsExt.h)

# build_cpp BUILD SANITIZERS: the C++ parts and their tests.
build_cpp() {
    "$venv/bin/cmake" -S . -B "$1" -G Ninja -DCMAKE_MAKE_PROGRAM="$venv/bin/ninja" \
        -DNVSPAN_PYTHON=OFF -DNVSPAN_TESTS=ON -DNVSPAN_WERROR=ON -DNVSPAN_SANITIZE="$2" \
        -DNVSPAN_LONG_TESTS="${NVSPAN_CI_FULL:+ON}" \
        -DNVSPAN_NVTX=ON -DNVSPAN_NVTX_INCLUDE_DIR="$headers" >/dev/null
    "$venv/bin/cmake" --build "$1"
}

printf -- '--- ThreadSanitizer\n'
build_cpp build/cpp-thread thread
# report_thread_leaks: a forked child has none of its parent's threads, and cannot join them.
TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:report_thread_leaks=0 \
    run_cpp_tests build/cpp-thread "$venv/bin/ctest"

printf -- '--- AddressSanitizer and UndefinedBehaviorSanitizer\n'
build=build/cpp-address
if [ -z "$NVSPAN_CI_FULL" ]; then
    build_cpp "$build" address,undefined
else  # one build for the C++ tests and for the suite
    build_and_install "$venv" test-all "${test_build[@]}" -C cmake.define.NVSPAN_SANITIZE=address,undefined \
        -C cmake.define.NVSPAN_NVTX=ON -C cmake.define.NVSPAN_TESTS=ON \
        -C cmake.define.NVSPAN_LONG_TESTS=ON -C install.strip=false
    build=build/$(basename "$venv")
fi
ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 run_cpp_tests "$build" "$venv/bin/ctest"
[ -n "$NVSPAN_CI_FULL" ] || exit 0

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
    unset NVSPAN_NSYS NVSPAN_SLOW  # the full length, some times slower, is for the other runs
    NVSPAN_SANITIZED=1 NVSPAN_PASSED_TO=$passed PYTHONMALLOC=malloc LD_PRELOAD=$libraries \
        ASAN_OPTIONS=detect_leaks=0:malloc_context_size=8:detect_stack_use_after_return=0 \
        UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
        run_tests "$venv/bin/python" -n auto -k "not memory_flat" \
        tests/{annotate,answers,api,compat,decorate,examples,imports,inject,kernels,payload} \
        tests/{profile,reader,record,report,writer} tests/nsight/test_nsys_reports.py
)

printf -- '--- CPython %s without sanitizers: what did not pass with them\n' "$oldest"
plain=$(make_venv "$oldest" "$oldest")
build_and_install "$plain" test-all "${test_build[@]}" -C cmake.define.NVSPAN_NVTX=ON
NVSPAN_PASSED_IN=$passed run_tests "$plain/bin/python" -n auto
