# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a Python process imports before its program: a folder for PYTHONPATH.

It must not import nvspan, which the program need not use. Start with `sitecustomize`.
"""
