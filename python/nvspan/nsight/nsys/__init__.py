# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of Nsight Systems become recordings, and recordings give the tables of ``nsys stats``.

It never knows how a report is shown. Start with `read.recording_of`.
"""
