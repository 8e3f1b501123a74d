#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# Linux on Arm. On such a machine, with the python that is on PATH and has nvspan and its extra `test`:
# the C++ tests, and the tests of the emitting, recording and reading rooms. Elsewhere the same in a tree
# of Debian's arm64 packages, compiled by zig and run by qemu with pages of 4 and of 64 KiB; Python needs
# root there, and binfmt_misc. Hours on two cores, so not run each time: `.ci/run setup arm`.
. .ci/common.sh

# The mounts are in a namespace that ends with this process.
if [ "$(uname -m)" != aarch64 ] && [ "$(id -u)" = 0 ] && [ -z "${NVSPAN_CI_MOUNTS-}" ]; then
    NVSPAN_CI_MOUNTS=1 exec unshare --mount bash "$0"
fi

rooms=(tests/api tests/annotate tests/decorate tests/record tests/inject tests/reader tests/live
    tests/blackbox tests/report)
if [ "$(uname -m)" = aarch64 ]; then
    printf 'pages of %s bytes\n' "$(getconf PAGESIZE)"
    headers=$(python cmake/find_headers.py nvidia-nvtx nvtx3/nvToolsExt.h)
    cmake -S . -B build/arm -G Ninja -DNVSPAN_PYTHON=OFF -DNVSPAN_TESTS=ON -DNVSPAN_WERROR=ON \
        -DNVSPAN_NVTX=ON -DNVSPAN_NVTX_INCLUDE_DIR="$headers" >/dev/null
    cmake --build build/arm
    ctest --test-dir build/arm --output-on-failure --no-tests=error --timeout 300
    python -m pytest -n auto "${rooms[@]}"
    exit
fi

# What Arm programs need of a system, unpacked and not installed.
packages=(base-files bash coreutils dash findutils git grep libacl1 libattr1 libblkid1 libbz2-1.0 libc6 libcap2
    libcom-err2 libcrypt1 libcurl3-gnutls libdb5.3 libexpat1 libffi8 libgcc-s1 libgcrypt20 libgmp10 libgpg-error0
    libgssapi-krb5-2 libk5crypto3 libkeyutils1 libkrb5-3 libkrb5support0 liblz4-1 liblzma5 libmount1 libncursesw6
    libnsl2 libpcre2-8-0 libproc2-0 libpython3.11-dev libpython3.11-minimal libpython3.11-stdlib libreadline8
    libselinux1 libsmartcols1 libsqlite3-0 libssl3 libstdc++6 libsystemd0 libtinfo6 libtirpc3 libudev1 libuuid1
    libzstd1 mawk procps python3.11 python3.11-minimal python3.11-venv sed util-linux zlib1g)
arm=$NVSPAN_CI_WORK/arm
mkdir -p "$arm/debs" "$arm/tools" "$arm/tree"
if [ ! -e "$arm/ready" ]; then
    # Lists of its own: the machine's packages stay as they are.
    mkdir -p "$arm/lists/partial"
    touch "$arm/status"
    printf '%s\n' "Dir::State::lists \"$arm/lists\";" "Dir::State::status \"$arm/status\";" \
        'APT::Architectures { "amd64"; "arm64"; };' >"$arm/apt.conf"
    export APT_CONFIG=$arm/apt.conf
    apt-get update -qq
    (cd "$arm/debs" && apt-get download -qq qemu-user-static "${packages[@]/%/:arm64}")
    unset APT_CONFIG
    for package in "$arm"/debs/*_arm64.deb; do dpkg -x "$package" "$arm/tree"; done
    ln -sf dash "$arm/tree/bin/sh"
    dpkg -x "$arm"/debs/qemu-user-static_*.deb "$arm/tools"
    touch "$arm/ready"
fi

venv=$(make_venv arm 3.11)
pip_install "$venv" "nvidia-nvtx>=13.5,<14" cmake ninja "ziglang>=0.17,<0.18"
headers=$("$venv/bin/python" cmake/find_headers.py nvidia-nvtx nvtx3/nvToolsExt.h)
for name in ar c++ ranlib; do
    target=
    [ "$name" != c++ ] || target='-target aarch64-linux-gnu.2.28'
    printf '#!/bin/sh\nexec "%s" -m ziglang %s %s "$@"\n' "$venv/bin/python" "$name" "$target" >"$arm/zig-$name"
    chmod +x "$arm/zig-$name"
done
export ZIG_GLOBAL_CACHE_DIR=${NVSPAN_CI_CCACHE:-$NVSPAN_CI_WORK}/zig
unset CMAKE_CXX_COMPILER_LAUNCHER
"$venv/bin/cmake" -S . -B build/arm -G Ninja -DCMAKE_MAKE_PROGRAM="$venv/bin/ninja" \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER="$arm/zig-c++" \
    -DCMAKE_AR="$arm/zig-ar" -DCMAKE_RANLIB="$arm/zig-ranlib" -DNVSPAN_PYTHON=OFF -DNVSPAN_TESTS=ON \
    -DNVSPAN_IPO=OFF -DNVSPAN_NVTX=ON -DNVSPAN_NVTX_INCLUDE_DIR="$headers" >/dev/null
"$venv/bin/cmake" --build build/arm
for pages in 4096 65536; do
    printf -- '--- pages of %s bytes\n' "$pages"
    emulator="$arm/tools/usr/bin/qemu-aarch64-static;-L;$arm/tree;-p;$pages"
    "$venv/bin/cmake" -B build/arm -DCMAKE_CROSSCOMPILING_EMULATOR="$emulator" >/dev/null
    run_cpp_tests build/arm "$venv/bin/ctest"
done

[ "$(id -u)" = 0 ] || { echo "not root: the Python tests do not run"; exit; }
binfmt=/proc/sys/fs/binfmt_misc
[ -e $binfmt/register ] || mount -t binfmt_misc none $binfmt ||
    { echo "no binfmt_misc here: the Python tests do not run"; exit; }
ours=nvspan-aarch64-$$
trap 'echo -1 >$binfmt/$ours' EXIT
# Programs for Arm, by the first bytes of ELF; F: the emulator is opened now, P: it is given argv[0].
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":$ours:M::$magic:$mask:$arm/tools/usr/bin/qemu-aarch64-static:FP" >$binfmt/register

# The compiler, cmake and ninja are this machine's, which are fast.
tree=$arm/tree
site=$("$venv/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
mkdir -p "$tree/wheels" "$tree/opt/bin"
(cd "$tree/wheels" && "$venv/bin/python" -m pip download -qq --only-binary :all: --python-version 3.11 \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 \
    pip numpy pytest pytest-xdist nvtx==0.2.17 "nvidia-nvtx>=13.5,<14" "nvidia-cuda-runtime>=13.0,<14" \
    "scikit-build-core>=0.11" "pybind11>=3.0,<4")
for name in ar cc c++ ranlib; do
    target=
    case $name in c*) target='-target aarch64-linux-gnu.2.28' ;; esac
    printf '#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR=/opt/zig-cache\nexec /opt/zig/zig %s %s "$@"\n' "$name" "$target" \
        >"$tree/opt/bin/zig-$name"
    chmod +x "$tree/opt/bin/zig-$name"
done
cp "$(readlink -f "$venv/bin/ninja")" "$tree/opt/bin/ninja"
shared=(/proc /proc /dev /dev /sys /sys /usr/lib64 /lib64 /usr/lib/x86_64-linux-gnu /lib/x86_64-linux-gnu
    /usr/lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu "$site/ziglang" /opt/zig "$site/cmake/data" /opt/cmake)
for ((at = 0; at < ${#shared[@]}; at += 2)); do
    mkdir -p "$tree${shared[at + 1]}"
    mount --bind "${shared[at]}" "$tree${shared[at + 1]}"
done
cp /etc/passwd /etc/group /etc/hosts "$tree/etc/"
git clone -q . "$tree/clone"
in_tree() {
    chroot "$tree" env -i HOME=/root LANG=C.UTF-8 PATH=/opt/bin:/opt/cmake/bin:/usr/bin:/bin CXX=/opt/bin/zig-c++ \
        CC=/opt/bin/zig-cc PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels QEMU_PAGESIZE="$pages" bash -euc "cd /clone; $1"
}
pages=4096
in_tree 'python3.11 -m venv --without-pip /venv
    PYTHONPATH=$(echo /wheels/pip-*.whl) /venv/bin/python -m pip install -q pip
    CMAKE_ARGS="-DNVSPAN_IPO=OFF -DCMAKE_AR=/opt/bin/zig-ar -DCMAKE_RANLIB=/opt/bin/zig-ranlib" \
        /venv/bin/pip install -q ".[test]"'
for pages in 4096 65536; do
    printf -- '--- CPython, pages of %s bytes\n' "$pages"
    in_tree "NVSPAN_TEST_LIMIT=3000 /venv/bin/python -m pytest -n auto ${rooms[*]}"
done
