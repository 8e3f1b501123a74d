# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0

from collections.abc import Callable
from typing import Any, TypeVar, overload

from nvspan import Annotation, Domain

_Criterion = TypeVar("_Criterion", bound=Callable[..., Any])

@overload
def loss(
    criterion: None = None, *, device: bool = False, domain: str | bytes | Domain | None = "torch"
) -> Annotation: ...
@overload
def loss(
    criterion: _Criterion, *, device: bool = False, domain: str | bytes | Domain | None = "torch"
) -> _Criterion: ...
