#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# Sourced by the stages. NVSPAN_CI_WORK is the folder that all of them build and install under.

set -euo pipefail

: "${NVSPAN_CI_WORK:?run a stage through .ci/run}"
unset PYTHONDONTWRITEBYTECODE  # what is imported is compiled once, not in each process
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-2}

# Builds in folders of one depth below a copy of the tree share what they compile.
if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CCACHE_DIR=${NVSPAN_CI_CCACHE:-$NVSPAN_CI_WORK/ccache} CCACHE_BASEDIR=$NVSPAN_CI_WORK
    export CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=time_macros CCACHE_MAXSIZE=4G
fi

for headers in "$NVSPAN_CI_WORK"/headers/nvidia/*/include; do
    [ ! -e "$headers/nvtx3" ] || export NVSPAN_NVTX_INCLUDE=$headers
done

[ ! -x "$NVSPAN_NSYS_PREFIX/bin/nsys" ] || export NVSPAN_NSYS=$NVSPAN_NSYS_PREFIX
# Full lengths of what the gate does in a short form; some take minutes on a busy machine.
[ -z "$NVSPAN_CI_FULL" ] || export NVSPAN_SLOW=1 NVSPAN_TEST_LIMIT=900

# Not optimised across sources: the wheel of the build stage is, and is tested too.
test_build=(-C cmake.define.NVSPAN_WERROR=ON -C cmake.define.NVSPAN_IPO=OFF)

# What every supported CPython passes: the tests that need no tool.
unit_tests=(tests/api tests/decorate tests/packaging tests/examples)

# run_tests PYTHON ARGUMENTS...: pytest, whose failed tests .ci/run runs again before it ends.
run_tests() {
    python3 .ci/suite.py pytest "$1" "$1" -m pytest "${@:2}"
}

# run_cpp_tests BUILD CTEST: the same for ctest.
run_cpp_tests() {
    python3 .ci/suite.py ctest "$1" "$2" --output-on-failure --no-tests=error --timeout 300
}

# changed PATTERN: whether a file that differs from the commit of .ci/base matches; without that commit, yes.
changed() {
    [ ! -e "$NVSPAN_CI_WORK/changed" ] || grep -qE "$1" "$NVSPAN_CI_WORK/changed"
}

# find_python 3.12: the path of that CPython, from PATH or pyenv. Fails if there is none.
find_python() {
    local candidate
    for candidate in "$(command -v "python$1" || true)" \
        "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python; do
        if [ -x "$candidate" ] && "$candidate" -c \
            "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "CPython $1 is not installed" >&2
    return 1
}

# locked NAME COMMAND...: one at a time, among the stages that run now.
locked() {
    local lock=$NVSPAN_CI_WORK/lock-$1
    shift
    (flock 9; "$@") 9>"$lock"
}

# pip_install VENV ARGUMENTS...: as `pip install`, by uv, which takes a tenth of the time, where the setup
# stage could get it; what uv cannot do pip tries again.
uv=$NVSPAN_CI_WORK/uv/bin/uv
if [ -x "$uv" ]; then
    # What pip is told of packages by its own configuration.
    UV_FIND_LINKS=$(python3 -m pip config get global.find-links 2>/dev/null || true)
    UV_EXTRA_INDEX_URL=$(python3 -m pip config get global.extra-index-url 2>/dev/null || true)
    UV_CACHE_DIR=$NVSPAN_CI_WORK/uv-cache
    export UV_FIND_LINKS UV_EXTRA_INDEX_URL UV_CACHE_DIR UV_INDEX_STRATEGY=unsafe-best-match
fi
pip_install() {
    local venv=$1
    shift
    [ -x "$uv" ] && "$uv" pip install -q --python "$venv/bin/python" "$@" && return
    "$venv/bin/python" -m pip install -qq --no-compile "$@"
}

# make_venv NAME VERSION: a virtual environment under the work folder, made once; prints its path.
make_venv() {
    locked "$1" make_venv_now "$@"
}

make_venv_now() {
    local venv=$NVSPAN_CI_WORK/venv-$1 python
    if [ ! -e "$venv/ready" ]; then
        python=$(find_python "$2")
        if ! { [ -x "$uv" ] && "$uv" venv -q --seed --clear --python "$python" "$venv"; }; then
            "$python" -m venv --clear "$venv"
            "$venv/bin/python" -m pip install -qq --upgrade pip >&2
        fi
        touch "$venv/ready"
    fi
    echo "$venv"
}

# build_and_install VENV EXTRAS [pip options]: build this tree and install it with its extras.
build_and_install() {
    local venv=$1 extras=$2
    shift 2
    # What is never imported is never compiled to bytecode.
    pip_install "$venv" ".[$extras]" -C "build-dir=build/$(basename "$venv")" "$@"
    compile_nvspan "$venv"
}

# install_wheel VENV EXTRAS: install the wheel that the build stage made, with its extras.
install_wheel() {
    locked "$(basename "$1")" install_wheel_now "$@"
}

install_wheel_now() {
    local wheel
    wheel=$(echo "$NVSPAN_CI_WORK"/dist/*.whl)
    [ -e "$wheel" ] || { echo "run the build stage first" >&2; return 1; }
    [ "$(cat "$1/installed" 2>/dev/null)" != "$2 $(stat -c %Y "$wheel")" ] || return 0
    pip_install "$1" "$wheel${2:+[$2]}"
    # Of the same version as one that was built before.
    "$1/bin/python" -m pip install -qq --no-compile --no-deps --force-reinstall "$wheel"
    compile_nvspan "$1"
    echo "$2 $(stat -c %Y "$wheel")" >"$1/installed"
}

compile_nvspan() {
    "$1/bin/python" -m compileall -q "$1"/lib/python3*/site-packages/nvspan
}

# readme_python: the folder of the python3 that tests by the README's command: that of the newest
# CPython, or nothing where python3 is another there.
readme_python() {
    local newest python
    newest=${NVSPAN_CI_PYTHONS##* }
    python=$(dirname "$(find_python "$newest")")/python3
    [ ! -x "$python" ] || [ "$(version_of "$python")" != "$newest" ] || dirname "$python"
}

# version_of PYTHON: 3.13
version_of() {
    "$1" -c "import sys; print('%d.%d' % sys.version_info[:2])"
}
