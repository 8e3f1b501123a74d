# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A folder with the files of a job."""

import os
from pathlib import Path

import nvspan  # noqa: F401
from helpers.job import write_job

os.mkdir("job")
write_job(Path("job"), 12, slow={3: 1.5})
