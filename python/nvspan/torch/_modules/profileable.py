# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The protocol of models that mark their own ranges; it alone needs typing."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class ProfileableModel(Protocol):
    """A model with a second way forward that marks its parts as ranges, for profiling.

    Models need not have one: ``nvspan.torch.annotate_module(model)`` marks every layer of an
    unchanged model.

    >>> import nvspan.nsight, nvspan.torch
    >>> class Model:
    ...     def __call__(self, x):
    ...         return x
    ...     def forward_with_nvtx(self, x):
    ...         with nvspan.nsight.profile_region("layer"):
    ...             return self(x)
    >>> isinstance(Model(), nvspan.torch.ProfileableModel)
    True
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def forward_with_nvtx(self, *args: Any, **kwargs: Any) -> Any:
        """As a call of the model, with ranges."""
