# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What decorating does, for each sort of thing that `annotate` and `device_range` decorate."""
