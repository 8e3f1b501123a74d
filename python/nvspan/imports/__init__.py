# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Chrome traces (torch.profiler, JAX, viztracer) as recordings.

`nvspan.read` opens such a file by its name; `import_file` keeps the recording.

>>> from nvspan.imports import import_file
>>> import_file("trace.json", "trace.nvspan").ranges                         # doctest: +SKIP
1200000
"""

from nvspan.imports.traces import Imported, import_file

__all__ = ["Imported", "import_file"]
