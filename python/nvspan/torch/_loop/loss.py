# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The range `loss`, which no call of torch's marks."""

from __future__ import annotations

from nvspan import _core
from nvspan.torch._support import attributes

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from typing import Any


def loss(criterion: Any = None, *, device: bool = False, domain: Any = "torch") -> Any:
    """The range ``loss``: around the calls of a function or module, or a block.

    Args:
        criterion: A module, whose calls get the range from now on, in place, with no trace in its
            copies; or a function, which comes back decorated. Without it, an annotation comes back
            for a ``with`` block.
        device: A range of the GPU's work beside it, as ``annotate(device=True)``.
        domain: The range's domain.

    Returns:
        The module itself, the decorated function, or the annotation.

    Raises:
        TypeError: It is not callable.

    >>> import nvspan.torch
    >>> with nvspan.torch.loss():
    ...     pass
    >>> criterion = nvspan.torch.loss(lambda output, target: output - target)
    >>> criterion(3, 1)
    2
    """
    annotation = _core.annotate("loss", domain=domain, color="gold", device=device)
    if criterion is None:
        return annotation
    kinds = {each.__name__ for each in type(criterion).__mro__}
    if "Module" in kinds and "ScriptModule" not in kinds and hasattr(criterion, "forward"):
        if not attributes.has(criterion, "loss"):
            compiled = criterion._compiled_call_impl is not None
            attribute = "_compiled_call_impl" if compiled else "forward"
            attributes.put(criterion, attribute, "loss", 2, annotation)
        return criterion
    return annotation(criterion)
