#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The whole suite on CPython 3.14, and the unit tests on 3.15, with the newest compiler. Debian unstable has
# them; it is unpacked into a folder, for which this needs root. Not run each time: `.ci/run setup newest`.
. .ci/common.sh

# The mounts are in a namespace that ends with this process, however it ends: the run's folder is
# then removed, and the machine's /dev must not be in it.
[ -n "${NVSPAN_CI_MOUNTS-}" ] || NVSPAN_CI_MOUNTS=1 exec unshare --mount bash "$0"

root=$NVSPAN_CI_WORK/unstable
if ! command -v debootstrap >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq debootstrap
fi
debootstrap --variant=minbase \
    --include=python3.14,python3.14-venv,python3.14-dev,python3.15,python3.15-venv,python3.15-dev,g++,git,ca-certificates,procps \
    sid "$root" >"$NVSPAN_CI_WORK/debootstrap.log" 2>&1 ||
    { tail -20 "$NVSPAN_CI_WORK/debootstrap.log"; exit 1; }

# The folders that pip is told to look into are those of this machine.
shared=(/proc /dev /dev/pts /sys)
for folder in /opt/pypi /opt/pypi-more /opt/wheels; do [ ! -d "$folder" ] || shared+=("$folder"); done
for folder in "${shared[@]}"; do
    mkdir -p "$root$folder"
    mount --bind "$folder" "$root$folder"
done
for file in /etc/hosts /etc/pip.conf /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || cp "$file" "$root$file"
done
mkdir -p "$root/tree"
tar -xf "$NVSPAN_CI_WORK/tree.tar" -C "$root/tree"
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 bash -euc '
    cd /tree
    python3.14 -m venv /venv
    CMAKE_ARGS="-DNVSPAN_IPO=OFF" /venv/bin/pip install -q ".[test-all]"
    /venv/bin/python -m pytest -n auto -rs
    python3.15 -m venv /venv-3.15
    CMAKE_ARGS="-DNVSPAN_IPO=OFF" /venv-3.15/bin/pip install -q . pytest pytest-xdist nvidia-nvtx
    /venv-3.15/bin/python -m pytest -n auto -rs tests/api tests/decorate tests/packaging tests/examples'
