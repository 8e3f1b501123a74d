# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
#
# `annotate` is a class at run time, here an overloaded function beside the class `Annotation`:
# mypy takes no other way to say that `@annotate` without parentheses returns the function.

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from enum import Enum
from types import CodeType, TracebackType
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypeAlias, TypeVar, final, overload

from nvspan._compat.handles import DomainHandle, RegisteredString
from nvspan.counters import CounterNoValueReason, CounterSemantics
from nvspan.payloads import BatchOrdering, EventKind, PredefinedScope, TimestampType

_Self = TypeVar("_Self", bound="Annotation")
_Target = TypeVar(
    "_Target",
    bound=Callable[..., Any] | staticmethod[..., Any] | classmethod[Any, ..., Any] | property,
)
_Class = TypeVar("_Class", bound=type)
_Message: TypeAlias = str | bytes | None
_LazyMessage: TypeAlias = str | bytes | Callable[[], str | bytes | None] | None
_Color: TypeAlias = str | SupportsIndex | Sequence[float] | None
_DomainName: TypeAlias = str | bytes | Domain | None
_Category: TypeAlias = str | bytes | SupportsIndex | None
_Number: TypeAlias = SupportsFloat | SupportsIndex | Enum | None
_Payload: TypeAlias = _Number | Callable[[], _Number] | object
_Scope: TypeAlias = str | bytes | PredefinedScope | None
_Kind: TypeAlias = Literal["nested", "span"] | None
_NameFrom: TypeAlias = Literal["name", "qualname"] | Callable[[Any], str] | None
_Patterns: TypeAlias = str | Sequence[str] | None
_CallSite: TypeAlias = tuple[str, int, str]
__version__: str
have_nvtx: bool

class CheckError(RuntimeError): ...
class NvspanWarning(UserWarning): ...
class NumberRangeError(ValueError, OverflowError): ...

class Annotation:
    def __init__(
        self,
        message: _LazyMessage = None,
        color: _Color = None,
        domain: _DomainName = None,
        category: _Category = None,
        payload: _Payload = None,
        *,
        kind: _Kind = None,
        level: int = 1,
        name_from: _NameFrom = "name",
        device: bool = False,
        sync: bool = False,
    ) -> None: ...
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> Literal[False]: ...
    def __aenter__(self: _Self) -> Awaitable[_Self]: ...
    def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> Awaitable[Literal[False]]: ...
    def __call__(self, func: _Target) -> _Target: ...
    @property
    def attributes(self) -> EventAttributes: ...
    @property
    def domain(self) -> Domain: ...
    @property
    def init_args(self) -> tuple[Any, Any, Any, Any, Any]: ...
    @property
    def kind(self) -> _Kind: ...
    @property
    def level(self) -> int: ...
    @property
    def mutable_payload(self) -> Any: ...
    @property
    def name_from(self) -> _NameFrom: ...
    @property
    def device(self) -> bool: ...
    @property
    def sync(self) -> bool: ...
    def _spanning(self) -> Annotation: ...
    def _for_call(self) -> Annotation: ...
    def _named(self, name: str, /) -> Annotation: ...

@overload
def annotate(
    message: _Message = None,
    color: _Color = None,
    domain: _DomainName = None,
    category: _Category = None,
    payload: _Payload = None,
    *,
    kind: _Kind = None,
    level: int = 1,
    name_from: _NameFrom = "name",
    device: bool = False,
    sync: bool = False,
) -> Annotation: ...
@overload
def annotate(
    *,
    message: _LazyMessage,
    color: _Color = None,
    domain: _DomainName = None,
    category: _Category = None,
    payload: _Payload = None,
    kind: _Kind = None,
    level: int = 1,
    name_from: _NameFrom = "name",
    device: bool = False,
    sync: bool = False,
) -> Annotation: ...
@overload
def annotate(func: _Target, /) -> _Target: ...

@final
class Domain:
    level: int
    def __init__(self, name: _DomainName = None, *, level: int | None = None) -> None: ...
    @property
    def enabled(self) -> bool: ...
    @property
    def name(self) -> str | None: ...
    @property
    def handle(self) -> DomainHandle: ...
    @property
    def categories(self) -> dict[str, int]: ...
    @overload
    def annotate(
        self,
        message: _Message = None,
        color: _Color = None,
        category: _Category = None,
        payload: _Payload = None,
        *,
        kind: _Kind = None,
        level: int = 1,
        name_from: _NameFrom = "name",
        device: bool = False,
        sync: bool = False,
    ) -> Annotation: ...
    @overload
    def annotate(
        self,
        *,
        message: _LazyMessage,
        color: _Color = None,
        category: _Category = None,
        payload: _Payload = None,
        kind: _Kind = None,
        level: int = 1,
        name_from: _NameFrom = "name",
        device: bool = False,
        sync: bool = False,
    ) -> Annotation: ...
    @overload
    def annotate(self, func: _Target, /) -> _Target: ...
    def range(
        self,
        message: _Message = None,
        color: _Color = None,
        category: _Category = None,
        payload: _Payload = None,
        *,
        level: int = 1,
    ) -> Annotation: ...
    def span(
        self,
        message: _Message = None,
        color: _Color = None,
        category: _Category = None,
        payload: _Payload = None,
        *,
        level: int = 1,
    ) -> span: ...
    @overload
    def annotate_class(self, cls: _Class, /) -> _Class: ...
    @overload
    def annotate_class(
        self,
        *,
        include: _Patterns = None,
        exclude: _Patterns = "_*",
        color: _Color = None,
        category: _Category = None,
        kind: _Kind = None,
        level: int = 1,
    ) -> Callable[[_Class], _Class]: ...
    def device_range(
        self,
        message: _LazyMessage = None,
        *,
        stream: object = None,
        color: _Color = None,
        category: _Category = None,
        payload: _Payload = None,
        backend: _Backend = "auto",
        placement: _Placement = "side",
        timing: bool = False,
        capture: _Capture = "graph",
        level: int = 1,
    ) -> device_range: ...
    def mark(
        self,
        attributes: EventAttributes | None = None,
        *,
        message: _LazyMessage = ...,
        color: _Color = ...,
        category: _Category = ...,
        payload: _Payload = ...,
    ) -> None: ...
    def push_range(
        self,
        attributes: EventAttributes | None = None,
        *,
        message: _LazyMessage = ...,
        color: _Color = ...,
        category: _Category = ...,
        payload: _Payload = ...,
    ) -> None: ...
    def pop_range(self) -> None: ...
    def start_range(
        self,
        attributes: EventAttributes | None = None,
        *,
        message: _LazyMessage = ...,
        color: _Color = ...,
        category: _Category = ...,
        payload: _Payload = ...,
    ) -> int: ...
    def end_range(self, range_id: int) -> None: ...
    def get_event_attributes(
        self,
        message: _Message = None,
        color: _Color = None,
        category: _Category = None,
        payload: _Payload = None,
    ) -> EventAttributes: ...
    def set_event_attributes(
        self,
        attributes: EventAttributes,
        *,
        message: str | bytes | RegisteredString | None = ...,
        color: _Color = ...,
        category: _Category = ...,
        payload: _Payload = ...,
    ) -> None: ...
    def get_registered_string(self, string: str | bytes) -> RegisteredString: ...
    def get_category_id(self, name: str | bytes) -> int: ...
    def set_message_limit(self, limit: int) -> None: ...
    def message_stats(self) -> dict[str, int]: ...
    @overload
    def get_counter(
        self,
        name: str | bytes,
        dtype: type[int],
        *,
        description: str | bytes | None = None,
        scope: _Scope = None,
        semantics: CounterSemantics | None = None,
        time_domain: TimestampType = ...,
    ) -> Int64Counter: ...
    @overload
    def get_counter(
        self,
        name: str | bytes,
        dtype: type[float],
        *,
        description: str | bytes | None = None,
        scope: _Scope = None,
        semantics: CounterSemantics | None = None,
        time_domain: TimestampType = ...,
    ) -> Float64Counter: ...
    @overload
    def get_counter(
        self,
        name: str | bytes,
        dtype: Any,
        *,
        description: str | bytes | None = None,
        scope: _Scope = None,
        semantics: CounterSemantics | None = None,
        time_domain: TimestampType = ...,
    ) -> Counter: ...
    def get_timestamp(self) -> int: ...
    def get_scope_id(
        self, path: str | bytes, *, parent: PredefinedScope | int | None = None
    ) -> int: ...
    def event_batch(
        self,
        rows: Any,
        *,
        kind: EventKind | None = None,
        ordering: BatchOrdering = ...,
        scope: _Scope = None,
        time_domain: TimestampType = ...,
    ) -> None: ...
    def _enabled(self) -> bool: ...
    def __copy__(self) -> Domain: ...
    def __deepcopy__(self, memo: Any, /) -> Domain: ...

class Counter:
    def __new__(
        cls,
        domain: _DomainName,
        name: str | bytes,
        dtype: Any,
        description: str | bytes | None,
        scope: _Scope,
        semantics: CounterSemantics | None,
        time_domain: TimestampType | int,
    ) -> Counter: ...
    @property
    def domain(self) -> Domain: ...
    @property
    def name(self) -> str | bytes: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def description(self) -> str | bytes | None: ...
    @property
    def scope(self) -> _Scope: ...
    @property
    def semantics(self) -> CounterSemantics | None: ...
    @property
    def time_domain(self) -> int: ...
    def sample(self, value: Any, /) -> None: ...
    def sample_no_value(self, reason: CounterNoValueReason, /) -> None: ...
    def batch_submit(
        self, values: Iterable[Any], timestamps: Iterable[int] | None = None
    ) -> None: ...
    def __copy__(self) -> Counter: ...
    def __deepcopy__(self, memo: Any, /) -> Counter: ...

@final
class Int64Counter(Counter):
    def sample(self, value: SupportsIndex, /) -> None: ...
    def batch_submit(
        self, values: Iterable[SupportsIndex], timestamps: Iterable[int] | None = None
    ) -> None: ...

@final
class Float64Counter(Counter):
    def sample(self, value: SupportsFloat | SupportsIndex, /) -> None: ...
    def batch_submit(
        self,
        values: Iterable[SupportsFloat | SupportsIndex],
        timestamps: Iterable[int] | None = None,
    ) -> None: ...

@final
class ExtCounter(Counter): ...

@final
class EventAttributes:
    def __new__(
        cls,
        domain: _DomainName,
        message: str | bytes | RegisteredString | None = None,
        color: _Color = None,
        category: _Category = None,
        payload: _Payload = None,
    ) -> EventAttributes: ...
    @property
    def message(self) -> RegisteredString | None: ...
    @message.setter
    def message(self, value: str | bytes | RegisteredString | None) -> None: ...
    @property
    def color(self) -> Any: ...
    @color.setter
    def color(self, value: _Color) -> None: ...
    @property
    def category(self) -> int: ...
    @category.setter
    def category(self, value: _Category) -> None: ...
    @property
    def payload(self) -> Any: ...
    @payload.setter
    def payload(self, value: _Payload) -> None: ...
    @property
    def domain(self) -> Domain: ...

@final
class RangeHandle:
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: Literal[0], /) -> int: ...
    @overload
    def __getitem__(self, index: Literal[1], /) -> Domain: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

_Backend: TypeAlias = Literal["auto", "callback", "exact"]
_Placement: TypeAlias = Literal["side", "stream"]
_Capture: TypeAlias = Literal["graph", "skip"]

@final
class DeviceRangeHandle:
    def done(self) -> bool: ...
    def elapsed(self) -> float | None: ...
    def __await__(self) -> Generator[Any, Any, float | None]: ...
    @property
    def lost(self) -> bool: ...
    @property
    def timed(self) -> bool: ...
    @property
    def backend(self) -> Literal["callback", "exact"] | None: ...

@final
class device_range:
    @overload
    def __new__(cls, message: _Target, /) -> _Target: ...  # type: ignore[misc]
    @overload
    def __new__(
        cls,
        message: _LazyMessage = None,
        *,
        stream: object = None,
        color: _Color = None,
        domain: _DomainName = None,
        category: _Category = None,
        payload: _Payload = None,
        backend: _Backend = "auto",
        placement: _Placement = "side",
        timing: bool = False,
        capture: _Capture = "graph",
        level: int = 1,
    ) -> device_range: ...
    def __enter__(self) -> DeviceRangeHandle: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __call__(self, func: _Target) -> _Target: ...
    @property
    def domain(self) -> Domain: ...
    def _named(self, name: str, /) -> device_range: ...
    def _for_call(self) -> device_range: ...

def start_device_range(
    message: _LazyMessage,
    *,
    stream: object = None,
    color: _Color = None,
    domain: _DomainName = None,
    category: _Category = None,
    payload: _Payload = None,
    backend: _Backend = "auto",
    placement: _Placement = "side",
    timing: bool = False,
    capture: _Capture = "graph",
    level: int = 1,
) -> DeviceRangeHandle: ...
def end_device_range(handle: DeviceRangeHandle | None, stream: object = None) -> None: ...
def device_available() -> bool: ...
def device_problem() -> str: ...
def device_library() -> str: ...
def device_flush(seconds: float) -> bool: ...
def name_cuda_object(what: str, handle: int, name: str) -> None: ...
def named_cuda_objects() -> int: ...
def device_shut_down(seconds: float) -> None: ...
def device_backend(ask: bool, /) -> str | None: ...
def device_counts() -> dict[str, int]: ...
def _add_stream_source(module: str, current: Callable[[], int], /) -> None: ...
def _stream_target(stream: object, /) -> tuple[int, int]: ...
def _set_torch_functions(**of_torch: Any) -> None: ...
def _follow_backward(target: Callable[..., Any], /, *look: Any) -> Callable[..., Any]: ...

@final
class span:
    def __new__(
        cls,
        message: _Message = None,
        color: _Color = None,
        domain: _DomainName = None,
        category: _Category = None,
        payload: _Payload = None,
        *,
        level: int = 1,
    ) -> span: ...
    def start(self) -> span: ...
    def end(self) -> None: ...
    def __enter__(self) -> span: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    @property
    def open(self) -> int: ...
    @property
    def attributes(self) -> EventAttributes: ...
    @property
    def domain(self) -> Domain: ...

def mark(
    message: _Message = None,
    color: _Color = "blue",
    domain: _DomainName = None,
    category: _Category = None,
    payload: _Payload = None,
) -> None: ...
def push_range(
    message: _Message = None,
    color: _Color = "blue",
    domain: _DomainName = None,
    category: _Category = None,
    payload: _Payload = None,
) -> None: ...
def pop_range(domain: _DomainName = None) -> None: ...
def start_range(
    message: _Message = None,
    color: _Color = None,
    domain: _DomainName = None,
    category: _Category = None,
    payload: _Payload = None,
) -> RangeHandle: ...
def end_range(range_id: RangeHandle | tuple[int, Domain | None] | None) -> None: ...

# For the package's own modules.
def set_hook_loader(load: Callable[[str], Callable[..., Any]], /) -> None: ...

class AnnotatedCallable:
    __wrapped__: Any
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class _Decorations:
    def decorate(self, function: Any, annotation: Annotation, kind: str | None, /) -> Any: ...
    def is_decorated(self, object: Any, /) -> bool: ...
    def count(self) -> int: ...

_decorated: _Decorations

def get_domain(name: _DomainName = None) -> Domain: ...
def attach(library: str, config: str) -> None: ...
def detach() -> None: ...
def tool_attached() -> bool: ...
def start_checking(strict: bool, own_folder: str) -> None: ...
def stop_checking() -> None: ...
def checking() -> bool: ...
def torch_emit_enable(enable: bool) -> None: ...
def torch_emit_enabled() -> bool: ...
def torch_profiler_started(record_function: type) -> None: ...
def torch_profiler_stopping() -> None: ...
def torch_profiler_stopped() -> None: ...
def check_at_exit() -> None: ...
def check_reports() -> list[tuple[str, str, _CallSite | None, _CallSite | None, int]]: ...
def check_reports_lost() -> int: ...
def listening() -> bool: ...
def decided() -> bool: ...
def enabled() -> bool: ...
def set_enabled(enabled: bool, domain: _DomainName = None) -> None: ...
def pause(change: int, domain: _DomainName = None) -> None: ...
def is_active(domain: _DomainName = None) -> bool: ...
def name_thread(name: str, native_id: int | None) -> None: ...
def forget_thread(native_id: int) -> None: ...
def has_thread_name(native_id: int) -> bool: ...
def named_threads() -> int: ...
def name_category(category: int, name: str, domain: _DomainName) -> None: ...
def set_default_enabled(domain: Domain, enabled: bool) -> None: ...
def all_domains() -> list[Domain]: ...
def dropped_pushes() -> int: ...
def tool_library() -> str: ...
def switchboard_problem() -> str: ...
def color_to_argb(color: Any) -> int: ...
def string_handle(domain: Domain, string: str | bytes) -> int: ...
def request_message(domain: Domain, string: str | bytes) -> None: ...
def _torch_has_field(message: str, name: str, /) -> bool: ...
def set_message_limit(limit: int, domain: _DomainName = None) -> None: ...
def _profile_start(
    profile: object,
    linenos: bool,
    annotate_cfuncs: bool,
    include: tuple[str, ...] | None,
    exclude: tuple[str, ...],
    max_depth: int,
    own_folder: str,
    library: tuple[str, ...],
    /,
) -> bool: ...
def _profile_stop(profile: object, frames: list[tuple[int, int, CodeType]], /) -> bool: ...
def _profile_running(profile: object, /) -> bool: ...
