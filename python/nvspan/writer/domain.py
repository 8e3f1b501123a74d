# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What a session's events refer to: domains, strings, scopes, schemas, counters."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from nvspan._runtime.enums import EventKind, PredefinedScope
from nvspan.counters import CounterSemantics, _checked_dtype
from nvspan.payloads import numpy_dtype
from nvspan.writer.layout import (
    COUNTER_GROUP,
    EventSchema,
    Layout,
    check_event,
    counter_timestamp,
    layout_of,
    roles_of,
)

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    import numpy as np

    from nvspan.writer.options import Message
    from nvspan.writer.run import DomainTarget, Run

    Text: TypeAlias = "str | bytes | RegisteredString | None"
    Category: TypeAlias = str | bytes | int | None

_INT64, _FLOAT64 = 17, 44
_FIRST_STATIC_SCOPE, _FIRST_DYNAMIC_SCOPE = 1 << 24, 1 << 32
_PARENTS = (PredefinedScope.NONE, PredefinedScope.ROOT, PredefinedScope.CURRENT_HW_MACHINE,
            PredefinedScope.CURRENT_VM)  # fmt: skip


def as_bytes(text: str | bytes | None) -> bytes | None:
    if text is None or isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return text.encode("utf-8", "surrogateescape")
    raise TypeError(f"expected a str or bytes, not {text!r}")


def as_text(text: str | bytes | None) -> str | None:
    if text is None or isinstance(text, str):
        return text
    if isinstance(text, bytes):
        return text.decode("utf-8")
    raise TypeError(f"expected a str or bytes, not {text!r}")


class RegisteredString:
    """A text that a domain has registered: a message that costs a number.

    :meth:`Domain.get_registered_string` makes it; it is valid until its session ends.
    """

    __slots__ = ("_domain", "_handle", "_string")

    def __init__(self, domain: Domain, string: str, handle: int) -> None:
        self._domain = domain
        self._string = string
        self._handle = handle

    def __repr__(self) -> str:
        return f"RegisteredString({self._string!r})"

    @property
    def handle(self) -> int:
        """The number for fields of rows with ``PayloadEntryType.REGISTERED_STRING``."""
        return self._handle


class Scope:
    """A place that events or counters belong to. :meth:`Domain.get_scope` makes it."""

    __slots__ = ("_domain", "_path", "_scope_id", "_whole_path")

    def __init__(self, scope_id: int, path: str | None, domain: Domain, whole: str | None) -> None:
        self._scope_id = scope_id
        self._path = path
        self._domain = domain
        self._whole_path = whole

    def __repr__(self) -> str:
        return f"Scope(scope_id={self._scope_id}, path={self._path!r})"

    @property
    def scope_id(self) -> int:
        """Its number in its domain."""
        return self._scope_id

    @property
    def path(self) -> str | None:
        """The path that it was asked for by."""
        return self._path


class Counter:
    """A counter of a domain. :meth:`Domain.get_counter` makes it; streams take its samples."""

    def __init__(
        self,
        domain: Domain,
        counter_id: int,
        name: str,
        dtype: Any,
        description: str | None,
        semantics: CounterSemantics | None,
        timestamp: str | None,
    ) -> None:
        self._domain = domain
        self._counter_id = counter_id
        self._name = name
        self._dtype = dtype
        self._description = description
        self._semantics = semantics
        self._timestamp = timestamp

    def __repr__(self) -> str:
        return f"Counter(name={self._name!r}, counter_id={self._counter_id})"

    @property
    def counter_id(self) -> int:
        """Its number in its domain."""
        return self._counter_id

    @property
    def name(self) -> str:
        """What tools call it."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The type of its samples."""
        return self._dtype

    @property
    def description(self) -> str | None:
        """A longer text about it, or None."""
        return self._description

    @property
    def semantics(self) -> CounterSemantics | None:
        """How its values are to be read, or None."""
        return self._semantics


class Schema:
    """The layout of rows in a domain. :meth:`Domain.get_schema` makes it."""

    def __init__(self, domain: Domain, event: EventSchema) -> None:
        self._domain = domain
        self._event = event

    def __repr__(self) -> str:
        return f"Schema(schema_id={self.schema_id}, dtype={self.dtype!r}, kind={self.kind})"

    @property
    def schema_id(self) -> int:
        """Its number in its domain."""
        return self._event.id

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of its rows."""
        dtype: np.dtype[Any] = self._event.dtype
        return dtype

    @property
    def kind(self) -> EventKind | None:
        """What events its rows are; None: none."""
        return self._event.kind


class Domain:
    """A namespace of a session. :meth:`Session.get_domain` makes it.

    What it hands out is the same object for the same arguments, and valid until the session ends.
    """

    def __init__(self, run: Run, name: str | None) -> None:
        self._run = run
        self._name = name
        self._target = run.target.domain(as_bytes(name))
        self._strings: dict[str, RegisteredString] = {}
        self._categories: dict[str, int] = {}
        self._scopes: dict[tuple[str | None, int], Scope] = {}
        self._schemas: dict[tuple[Any, ...], Schema] = {}
        self._counters: dict[tuple[Any, ...], Counter] = {}
        self._category_ids = itertools.count(1)  # 0: no category
        self._user_categories: set[int] = set()

    def __repr__(self) -> str:
        return f"<nvspan.writer.Domain {self._name!r}>"

    def _check(self) -> None:
        if self._run.ended:
            raise RuntimeError("domain is no longer valid: its session has ended")

    def get_registered_string(self, string: str | bytes) -> RegisteredString:
        """The string as a number of this domain.

        Raises:
            RuntimeError: The session has ended.
            TypeError: It is no str or bytes.
            WriterError: The backend refused it.
        """
        if not isinstance(string, (str, bytes)):
            raise TypeError(f"string must be a str or bytes, not {string!r}")
        text = as_text(string) or ""
        with self._run.lock:
            self._check()
            known = self._strings.get(text)
            if known is None:
                handle = self._target.string(as_bytes(text) or b"")
                known = self._strings[text] = RegisteredString(self, text, handle)
            return known

    def get_category_id(self, name: str | bytes) -> int:
        """The number of a category with a name. Numbers that events used already are left out.

        Raises:
            RuntimeError: The session has ended.
            TypeError: The name is no str or bytes.
            WriterError: The backend refused it.
        """
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"category name must be a str or bytes, not {name!r}")
        text = as_text(name) or ""
        with self._run.lock:
            self._check()
            number = self._categories.get(text)
            if number is None:
                number = next(n for n in self._category_ids if n not in self._user_categories)
                self._target.category(number, as_bytes(text) or b"")
                self._categories[text] = number
            return number

    def get_scope(
        self, path: str | bytes, *, parent: PredefinedScope | Scope | None = None
    ) -> Scope:
        """A place within another: ``"GPU[0]"``, ``"Queue[3]"``.

        Args:
            path: Its path below `parent`.
            parent: A scope of this domain, or NONE, ROOT, CURRENT_HW_MACHINE or CURRENT_VM of
                :class:`PredefinedScope`; None: ROOT.

        Raises:
            RuntimeError: The session has ended.
            TypeError, ValueError: `parent` is not one of these.
            WriterError: The backend refused it.
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
            number, above = parent._scope_id, parent._whole_path
        else:
            raise TypeError(f"parent must be a PredefinedScope, a Scope, or None, not {parent!r}")
        text = as_text(path)
        with self._run.lock:
            self._check()
            known = self._scopes.get((text, number))
            if known is None:
                made = self._target.scope(as_bytes(text), number)
                whole = f"{above}/{text}" if above and text else text or above
                known = self._scopes[text, number] = Scope(made, text, self, whole)
            return known

    def get_schema(self, dtype: Any, *, kind: EventKind | None = None) -> Schema:
        """The layout of rows: of events, or of payloads.

        Args:
            dtype: What ``numpy.dtype`` takes. Roles of fields (the times of an event, its message,
                category, color, range id) are given with :func:`nvspan.numpy_dtype`.
            kind: Which events the rows are; None: none.

        Raises:
            RuntimeError: NumPy is not installed, or the session has ended.
            TypeError: No dtype, or one that rows of events cannot have.
            ValueError: The roles of its fields are not those that the kind needs.
            WriterError: The backend refused it.
        """
        if kind is not None and not isinstance(kind, EventKind):
            raise TypeError(f"kind must be an EventKind or None, not {kind!r}")
        with self._run.lock:
            self._check()
            given = numpy_dtype(dtype)
            if kind is not None:
                check_event(kind, given)
            layout = layout_of(given, 0 if kind is None else kind.value)
            known = self._schemas.get((layout, given, kind))
            if known is None:
                roles = None if kind is None else roles_of(given)
                event = EventSchema(self._target.schema(layout), given, kind, roles)
                known = self._schemas[layout, given, kind] = Schema(self, event)
            return known

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
            name: What tools call it.
            dtype: int, float or a NumPy dtype; a structured one is a group, of which one field may
                be the time (``EntryKind.COUNTER_TIMESTAMP``).
            description: A longer text about it.
            scope: Where it belongs.
            semantics: Unit, limits and interpolation.

        Raises:
            RuntimeError: NumPy is needed and not installed, or the session has ended.
            TypeError, ValueError: A counter cannot have the dtype, or the scope.
            WriterError: The backend refused it.
        """
        if dtype is not int and dtype is not float:
            dtype = _checked_dtype(dtype)
        elif (numpy := _numpy()) is not None:
            dtype = numpy.dtype("i8" if dtype is int else "f8")
        if semantics is not None and not isinstance(semantics, CounterSemantics):
            raise TypeError(f"semantics must be a CounterSemantics or None, not {semantics!r}")
        with self._run.lock:
            self._check()
            place, path = resolve_scope(self, scope)
            timestamp = counter_timestamp(dtype)
            layout = self._counter_layout(dtype)
            key = (as_text(name), layout, as_text(description), place, semantics)
            known = self._counters.get(key)
            if known is None:
                schema = layout if isinstance(layout, int) else self._target.schema(layout)
                number = self._target.counter(
                    as_bytes(name) or b"", as_bytes(description), schema, place, path, semantics
                )
                known = self._counters[key] = Counter(
                    self, number, key[0] or "", dtype, key[2], semantics, timestamp
                )
            return known

    @staticmethod
    def _counter_layout(dtype: Any) -> int | Layout:
        if dtype is int or dtype is float:
            return _INT64 if dtype is int else _FLOAT64
        if dtype.fields is None and (dtype.kind, dtype.itemsize) == ("i", 8):
            return _INT64
        if dtype.fields is None and (dtype.kind, dtype.itemsize) == ("f", 8):
            return _FLOAT64
        return layout_of(dtype, COUNTER_GROUP if dtype.fields is not None else 0)


# What sessions and streams ask of a domain and of what it handed out.


def check_domain(domain: Domain, run: Run) -> None:
    """Raises ValueError or RuntimeError unless the domain is of this run and the run goes on."""
    if domain._run.session is not run.session:
        raise ValueError("domain belongs to a different session")
    domain._check()


def target_of(domain: Domain) -> DomainTarget:
    return domain._target


def resolve_message(domain: Domain, message: Text) -> Message:
    if isinstance(message, RegisteredString):
        if message._domain is not domain:
            raise ValueError("message is a RegisteredString from a different domain")
        return message._handle
    if message is None or isinstance(message, (str, bytes)):
        return as_bytes(message)
    raise TypeError(f"message must be a str, bytes, RegisteredString, or None, not {message!r}")


def resolve_category(domain: Domain, category: Category) -> int:
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
        return scope._scope_id, scope._whole_path
    if isinstance(scope, int) and not isinstance(scope, bool):
        if not _FIRST_STATIC_SCOPE <= scope < _FIRST_DYNAMIC_SCOPE:
            raise ValueError(
                "integer scope must be in the NVTX static scope ID range "
                f"[{_FIRST_STATIC_SCOPE}, {_FIRST_DYNAMIC_SCOPE}), not {scope}"
            )
        return scope, None
    raise TypeError(f"scope must be None, a PredefinedScope, a Scope, or an int, not {scope!r}")


def resolve_schema(domain: Domain, schema: Schema) -> EventSchema:
    if not isinstance(schema, Schema):
        raise TypeError(f"schema must be a nvspan.writer.Schema, not {schema!r}")
    if schema._domain is not domain:
        raise ValueError("schema is not registered in this stream's domain")
    return schema._event


def resolve_counter(domain: Domain, counter: Counter) -> tuple[int, str | None]:
    """The number of a counter, and the field of its rows that is their time, if one is."""
    if not isinstance(counter, Counter):
        raise TypeError(f"counter must be a nvspan.writer.Counter, not {counter!r}")
    if counter._domain is not domain:
        raise ValueError("counter is not registered in this stream's domain")
    return counter._counter_id, counter._timestamp


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy
