# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What `annotate` does to what it decorates, for the extension module.

Python functions become genuine functions that cost nothing while nothing listens. What holds a
function becomes the same sort of thing around the decorated function. Any other callable is put
into an `AnnotatedCallable`. The public methods of a class are decorated one by one.
"""

from __future__ import annotations

from nvspan._decorate.classes import annotate_methods
from nvspan._decorate.functions import decorate_as

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from typing import Any

    from nvspan._core import Annotation


def decorate(annotation: Annotation, target: Any) -> Any:
    """Returns `target` with a range around each call of it, or of its methods if it is a class.

    Raises TypeError if `target` is not callable and holds no callable.
    """
    if isinstance(target, type):
        return annotate_methods(target, annotation)
    return decorate_as(annotation, target, None)
