#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# Sourced by the stages. NVSPAN_CI_WORK is the folder that all of them build and install under.

set -euo pipefail

: "${NVSPAN_CI_WORK:?run a stage through .ci/run}"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PYTHONDONTWRITEBYTECODE=1
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-2}

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

# make_venv NAME VERSION: a virtual environment under the work folder, made once; prints its path.
make_venv() {
    local venv=$NVSPAN_CI_WORK/venv-$1 python
    if [ ! -e "$venv/ready" ]; then
        python=$(find_python "$2")
        "$python" -m venv "$venv"
        "$venv/bin/python" -m pip install -qq --upgrade pip >&2
        touch "$venv/ready"
    fi
    echo "$venv"
}

# build_and_install VENV EXTRAS [pip options]: build this tree and install it with its extras.
build_and_install() {
    local venv=$1 extras=$2
    shift 2
    "$venv/bin/python" -m pip install -qq ".[$extras]" "$@"
}

# install_wheel VENV EXTRAS: install the wheel that the build stage made, with its extras.
install_wheel() {
    local wheel
    wheel=$(echo "$NVSPAN_CI_WORK"/dist/*.whl)
    [ -e "$wheel" ] || { echo "run the build stage first" >&2; return 1; }
    "$1/bin/python" -m pip install -qq "$wheel${2:+[$2]}"
    "$1/bin/python" -m pip install -qq --no-deps --force-reinstall "$wheel"
}
