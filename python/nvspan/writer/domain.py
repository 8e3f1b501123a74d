# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Domains, and the strings, scopes, schemas and counters that they register."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nvspan._runtime.enums import EventKind, PredefinedScope
from nvspan.counters import CounterSemantics, _checked_dtype
from nvspan.payloads import numpy_dtype
from nvspan.writer.layout import (
    COUNTER_GROUP,
    FLOAT64,
    INT64,
    EventSchema,
    Layout,
    counter_timestamp,
    event_roles,
    layout_of,
)
from nvspan.writer.options import CounterOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias, TypeVar

    import numpy as np

    from nvspan.writer.options import Message
    from nvspan.writer.run import DomainTarget, Run

    Text: TypeAlias = "str | bytes | RegisteredString | None"
    Category: TypeAlias = str | bytes | int | None
    Key = TypeVar("Key")
    Value = TypeVar("Value")

_FIRST_STATIC_SCOPE, _FIRST_DYNAMIC_SCOPE = 1 << 24, 1 << 32
_PARENTS = (
    PredefinedScope.NONE,
    PredefinedScope.ROOT,
    PredefinedScope.CURRENT_HW_MACHINE,
    PredefinedScope.CURRENT_VM,
)


def as_text(text: str | bytes | None, errors: str = "strict") -> str | None:
    """A text as a str that can be encoded with ``surrogateescape``; `errors` are for bytes."""
    if isinstance(text, bytes):
        return text.decode("utf-8", errors)
    if text is not None and not isinstance(text, str):
        raise TypeError(f"expected a str or bytes, not {text!r}")
    if text is not None and not text.isascii():
        text.encode("utf-8", "surrogateescape")
    return text


@dataclass(frozen=True, eq=False, slots=True)
class RegisteredString:
    """A text registered in a domain: a message that costs a number.

    From :meth:`Domain.get_registered_string`, valid until its session ends.

    Attributes:
        handle: The number for fields of rows with ``PayloadEntryType.REGISTERED_STRING``.
    """

    handle: int
    _string: str
    _domain: Domain

    def __repr__(self) -> str:
        return f"RegisteredString({self._string!r})"


@dataclass(frozen=True, eq=False, slots=True)
class Scope:
    """A place that events or counters belong to, from :meth:`Domain.get_scope`.

    Attributes:
        scope_id: Its number in its domain.
        path: Its path below its parent.
    """

    scope_id: int
    path: str | None
    _whole_path: str | None = field(repr=False)
    _domain: Domain = field(repr=False)


@dataclass(frozen=True, eq=False, slots=True)
class Counter:
    """A counter of a domain, from :meth:`Domain.get_counter`; streams take its samples.

    Attributes:
        name: Its name in tools.
        counter_id: Its number in its domain.
        dtype: The type of its samples.
        description: A longer text about it, or None.
        semantics: Unit, limits and interpolation, or None.
    """

    name: str
    counter_id: int
    dtype: Any = field(repr=False)
    description: str | None = field(repr=False)
    semantics: CounterSemantics | None = field(repr=False)
    _timestamp: str | None = field(repr=False)
    _domain: Domain = field(repr=False)


@dataclass(frozen=True, eq=False, slots=True)
class Schema:
    """The layout of rows in a domain, from :meth:`Domain.get_schema`.

    Attributes:
        schema_id: Its number in its domain.
        dtype: The dtype of its rows.
        kind: The kind of event that a row is; None for payloads.
    """

    schema_id: int
    dtype: np.dtype[Any]
    kind: EventKind | None
    _event: EventSchema
    _domain: Domain

    def __repr__(self) -> str:
        return f"Schema(schema_id={self.schema_id}, dtype={self.dtype!r}, kind={self.kind})"


class Domain:
    """A namespace of a session, from :meth:`Session.get_domain`.

    Equal arguments give the same object, which is valid until the session ends.

    Raises:
        RuntimeError: In every method: the session has ended.
        WriterError: In every method: the backend refused it.
    """

    def __init__(self, run: Run, name: str | None) -> None:
        self._run = run
        self._name = name
        self._target = run.target.domain(name)
        self._strings: dict[str, RegisteredString] = {}
        self._categories: dict[str, int] = {}
        self._scopes: dict[tuple[str | None, int], Scope] = {}
        self._schemas: dict[tuple[Layout, Any, EventKind | None], Schema] = {}
        self._counters: dict[CounterOptions, Counter] = {}
        self._category_ids = itertools.count(1)  # 0: no category
        self._user_categories: set[int] = set()

    def __repr__(self) -> str:
        return f"<nvspan.writer.Domain {self._name!r}>"

    def _check(self) -> None:
        if self._run.ended:
            raise RuntimeError("domain is no longer valid: its session has ended")

    def _once(self, known: dict[Key, Value], key: Key, register: Callable[[], Value]) -> Value:
        """The value of a key, registered on first use."""
        with self._run.lock:
            self._check()
            if key not in known:
                known[key] = register()
            return known[key]

    def get_registered_string(self, string: str | bytes) -> RegisteredString:
        """Register a string in this domain.

        Raises:
            TypeError: It is not a str or bytes.
        """
        if not isinstance(string, (str, bytes)):
            raise TypeError(f"string must be a str or bytes, not {string!r}")
        text = as_text(string) or ""
        return self._once(
            self._strings, text, lambda: RegisteredString(self._target.string(text), text, self)
        )

    def get_category_id(self, name: str | bytes) -> int:
        """The number of a named category; numbers that events have used are skipped.

        Raises:
            TypeError: The name is not a str or bytes.
        """
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"category name must be a str or bytes, not {name!r}")
        text = as_text(name) or ""

        def register() -> int:
            number = next(n for n in self._category_ids if n not in self._user_categories)
            self._target.category(number, text)
            return number

        return self._once(self._categories, text, register)

    def get_scope(
        self, path: str | bytes, *, parent: PredefinedScope | Scope | None = None
    ) -> Scope:
        """A scope within another: ``"GPU[0]"``, ``"Queue[3]"``.

        Args:
            path: Its path below `parent`.
            parent: A scope of this domain, or NONE, ROOT, CURRENT_HW_MACHINE or CURRENT_VM of
                :class:`PredefinedScope`; None: ROOT.

        Raises:
            TypeError, ValueError: `parent` is not one of these.
        """
        above = None
        if parent is None:
            number = PredefinedScope.ROOT.value
        elif isinstance(parent, PredefinedScope):
            if parent not in _PARENTS:
                raise ValueError(
                    "predefined parent scope must be NONE, ROOT, CURRENT_HW_MACHINE, or "
                    f"CURRENT_VM, not {parent.name}"
                )
            number = parent.value
        elif isinstance(parent, Scope):
            if parent._domain is not self:
                raise ValueError("parent scope is registered in a different domain")
            number, above = parent.scope_id, parent._whole_path
        else:
            raise TypeError(f"parent must be a PredefinedScope, a Scope, or None, not {parent!r}")
        text = as_text(path)
        whole = f"{above}/{text}" if above and text else text or above
        return self._once(
            self._scopes,
            (text, number),
            lambda: Scope(self._target.scope(text, number), text, whole, self),
        )

    def get_schema(self, dtype: Any, *, kind: EventKind | None = None) -> Schema:
        """The layout of rows of events or payloads.

        Args:
            dtype: Any argument of ``numpy.dtype``. :func:`nvspan.numpy_dtype` gives fields their
                roles: the times of an event, its message, category, color, range id.
            kind: The kind of event that a row is; None for payloads.

        Raises:
            RuntimeError: NumPy is not installed.
            TypeError: The dtype is not valid, or not for events.
            ValueError: The kind needs other roles of fields.
        """
        if kind is not None and not isinstance(kind, EventKind):
            raise TypeError(f"kind must be an EventKind or None, not {kind!r}")
        given = numpy_dtype(dtype)
        roles = {} if kind is None else event_roles(kind, given)
        layout = layout_of(given, 0 if kind is None else kind.value)

        def register() -> Schema:
            number = self._target.schema(layout)
            event = EventSchema(number, layout, given, kind, roles)
            return Schema(number, given, kind, event, self)

        return self._once(self._schemas, (layout, given, kind), register)

    def get_counter(
        self,
        name: str | bytes,
        dtype: Any,
        *,
        description: str | bytes | None = None,
        scope: PredefinedScope | Scope | int | None = None,
        semantics: CounterSemantics | None = None,
    ) -> Counter:
        """A counter, or a group of counters.

        Args:
            name: Its name in tools.
            dtype: int, float or a NumPy dtype; a structured one is a group, in which one field may
                be the time (``EntryKind.COUNTER_TIMESTAMP``).
            description: A longer text about it.
            scope: Where it belongs.
            semantics: Unit, limits and interpolation.

        Raises:
            RuntimeError: NumPy is needed and not installed.
            TypeError, ValueError: A counter cannot have the dtype, or the scope.
        """
        if dtype is not int and dtype is not float:
            dtype = _checked_dtype(dtype)
        elif (numpy := _numpy()) is not None:
            dtype = numpy.dtype("i8" if dtype is int else "f8")
        if semantics is not None and not isinstance(semantics, CounterSemantics):
            raise TypeError(f"semantics must be a CounterSemantics or None, not {semantics!r}")
        timestamp = counter_timestamp(dtype)
        text, longer = as_text(name) or "", as_text(description)
        options = CounterOptions(
            text, _counter_layout(dtype), longer, *resolve_scope(self, scope), semantics
        )

        def register() -> Counter:
            number = self._target.counter(options)
            return Counter(text, number, dtype, longer, semantics, timestamp, self)

        return self._once(self._counters, options, register)


def _counter_layout(dtype: Any) -> int | Layout:
    if dtype is int or dtype is float:
        return INT64 if dtype is int else FLOAT64
    if dtype.fields is not None:
        return layout_of(dtype, COUNTER_GROUP)
    numbers = {("i", 8): INT64, ("f", 8): FLOAT64}
    return numbers.get((dtype.kind, dtype.itemsize)) or layout_of(dtype)


# For sessions and streams: the arguments of their methods, checked against a domain.


def check_domain(domain: Domain, run: Run) -> None:
    """Raises ValueError or RuntimeError unless the domain is of this run and the run goes on."""
    if domain._run.session is not run.session:
        raise ValueError("domain belongs to a different session")
    domain._check()


def target_of(domain: Domain) -> DomainTarget:
    """The domain's side of its back end."""
    return domain._target


def resolve_message(domain: Domain, message: Text) -> Message:
    """A message as back ends take it: a text, or the handle of a registered one.

    Raises:
        ValueError: it is registered in another domain.
        TypeError: it is no message.
    """
    if isinstance(message, RegisteredString):
        if message._domain is not domain:
            raise ValueError("message is a RegisteredString from a different domain")
        return message.handle
    if message is None or isinstance(message, (str, bytes)):
        return as_text(message, "surrogateescape")
    raise TypeError(f"message must be a str, bytes, RegisteredString, or None, not {message!r}")


def resolve_category(domain: Domain, category: Category) -> int:
    """The number of a category; a new name gets one, None is 0.

    Raises:
        TypeError, ValueError: it is no category.
    """
    if category is None:
        return 0
    if isinstance(category, (str, bytes)):
        return domain.get_category_id(category)
    if not isinstance(category, int):
        raise TypeError(f"category must be a str, bytes, int, or None, not {category!r}")
    if not 0 <= category < 1 << 32:
        raise ValueError(f"category must be in [0, 2**32 - 1], not {category}")
    if category not in domain._user_categories:
        with domain._run.lock:
            domain._check()
            domain._user_categories.add(category)
    return category


def resolve_scope(
    domain: Domain, scope: PredefinedScope | Scope | int | None
) -> tuple[int, str | None]:
    """The number of a scope, and its whole path if it has one."""
    if scope is None:
        return 0, None
    if isinstance(scope, PredefinedScope):
        return scope.value, None
    if isinstance(scope, Scope):
        if scope._domain is not domain:
            raise ValueError("scope is not registered in this domain")
        return scope.scope_id, scope._whole_path
    if isinstance(scope, int) and not isinstance(scope, bool):
        if not _FIRST_STATIC_SCOPE <= scope < _FIRST_DYNAMIC_SCOPE:
            raise ValueError(
                "integer scope must be in the NVTX static scope ID range "
                f"[{_FIRST_STATIC_SCOPE}, {_FIRST_DYNAMIC_SCOPE}), not {scope}"
            )
        return scope, None
    raise TypeError(f"scope must be None, a PredefinedScope, a Scope, or an int, not {scope!r}")


def _check_owner(domain: Domain, value: Schema | Counter, kind: type, what: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{what} must be a nvspan.writer.{kind.__name__}, not {value!r}")
    if value._domain is not domain:
        raise ValueError(f"{what} is not registered in this stream's domain")


def resolve_schema(domain: Domain, schema: Schema) -> EventSchema:
    """The schema of events behind one that the user has.

    Raises:
        TypeError, ValueError: it is none, or registered in another domain.
    """
    _check_owner(domain, schema, Schema, "schema")
    return schema._event


def resolve_counter(domain: Domain, counter: Counter) -> tuple[int, str | None]:
    """The number of a counter, and the field of its rows that is their time, if one is."""
    _check_owner(domain, counter, Counter, "counter")
    return counter.counter_id, counter._timestamp


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy
