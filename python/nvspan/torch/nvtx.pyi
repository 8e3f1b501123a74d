# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0

from types import TracebackType
from typing import Any, Protocol, SupportsIndex, TypeAlias, TypeVar

from nvspan import DeviceRangeHandle, Domain

_Function = TypeVar("_Function")
_Color: TypeAlias = str | SupportsIndex | tuple[float, ...] | None
_DomainName: TypeAlias = str | bytes | Domain | None
_Category: TypeAlias = str | bytes | SupportsIndex | None

class _Range(Protocol):
    def __enter__(self) -> object: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> bool | None: ...
    def __call__(self, func: _Function) -> _Function: ...

def range_push(
    msg: str,
    *,
    domain: _DomainName = None,
    color: _Color = None,
    category: _Category = None,
    payload: object = None,
) -> int: ...
def range_pop(*, domain: _DomainName = None) -> int: ...
def range_start(
    msg: str,
    *,
    domain: _DomainName = None,
    color: _Color = None,
    category: _Category = None,
    payload: object = None,
) -> int: ...
def range_end(range_id: int, *, domain: _DomainName = None) -> None: ...
def mark(
    msg: str,
    *,
    domain: _DomainName = None,
    color: _Color = None,
    category: _Category = None,
    payload: object = None,
) -> None: ...
def range(
    msg: str,
    *args: Any,
    domain: _DomainName = None,
    color: _Color = None,
    category: _Category = None,
    payload: object = None,
    **kwargs: Any,
) -> _Range: ...
def device_range_start(
    msg: str,
    stream: object = None,
    *,
    domain: _DomainName = None,
    color: _Color = None,
    category: _Category = None,
    payload: object = None,
) -> DeviceRangeHandle: ...
def device_range_end(range_handle: DeviceRangeHandle | None, stream: object = None) -> None: ...
def patch() -> None: ...
def unpatch() -> None: ...
def _decorate(range_object: Any, function: Any) -> Any: ...

_device_range_start = device_range_start
_device_range_end = device_range_end
