# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests that compare nvspan with nvtx share."""

import pytest

from helpers import shared
from helpers.conformance import run_all


@pytest.fixture(scope="module")
def outcomes(request, tmp_path_factory):
    """What the module's PROGRAMS did under each package."""

    def run():
        return {
            package: run_all(request.module.PROGRAMS, package, tmp_path_factory.mktemp(package))
            for package in ("nvtx", "nvspan")
        }

    return shared.result(request.module.__name__, run)
