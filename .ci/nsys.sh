#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# Nsight Systems for the end-to-end tests, where this machine has an installer for it.
. .ci/common.sh

if [ -n "$NVSPAN_NSYS_INSTALLER" ]; then
    bash "$NVSPAN_NSYS_INSTALLER" "$NVSPAN_NSYS_PREFIX"
else
    echo "no installer of nsys here: its tests will skip"
fi
