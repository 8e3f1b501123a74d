# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan top``: what share of the time processes are in each range, found by looking at them a
thousand times a second. It must know nothing of recorded events.

Start with `sampling.py`; `matrix.py` makes text of a window, `screen.py` draws it and reads keys.
"""
