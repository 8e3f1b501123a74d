# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What users ask of a recording, answered in sentences and tables: where its steps
went, what its modules cost, what stands out."""
