# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Domains and process-wide settings."""

from __future__ import annotations

from nvspan import _core
from nvspan._core import Domain


class DummyDomain:
    """For ``isinstance`` checks written for ``nvtx``: no domain of nvspan is ever one.

    >>> import nvspan
    >>> isinstance(nvspan.get_domain("mylib"), nvspan.DummyDomain)
    False
    """


def get_domain(
    name: str | bytes | Domain | None = None,
    *,
    default_level: int | None = None,
    env: str | None = None,
) -> Domain:
    """Return the domain of that name.

    The same name always gives the same object; ``None`` is NVTX's default domain, ``""`` a domain
    with an empty name. Any thread may call it.

    Args:
        name: The domain's name, or a Domain, which is returned.
        default_level: How verbose the domain is unless ``NVSPAN_LEVEL`` says otherwise, 0 to 1000;
            as ``Domain(level=)``.
        env: An environment variable of the library's own that switches its annotations. Read at
            this call: unset or empty changes nothing, ``0 false off no`` switch the domain off,
            ``1 true on yes`` on (at level 1 at least), a larger number is its level.
            ``NVSPAN_DOMAINS`` and ``NVSPAN_LEVEL`` are stronger.

    Raises:
        TypeError: An argument is of another type.
        ValueError: ``default_level`` is out of range.

    >>> import nvspan
    >>> nvspan.get_domain("mylib") is nvspan.Domain("mylib")
    True
    >>> nvspan.get_domain("mylib", default_level=1, env="MYLIB_NVTX").level
    1
    """
    if default_level is None and env is None:
        return _core.get_domain(name)
    from nvspan._runtime import libraries

    return libraries.get_domain(name, default_level, env)


def enabled() -> bool:
    """Tell whether annotations are switched on.

    False only if the environment variable ``NVTX_DISABLE`` was set to something other than ``""``,
    ``"0"`` or ``"false"`` when the process started. Whether a tool listens is another question.
    """
    return _core.enabled()


def set_message_limit(limit: int, domain: str | bytes | Domain | None = None) -> None:
    """Set how many different messages a domain registers with the tool.

    Past the limit a message is passed as a plain string, counted, and one warning says so. The
    default is 4096, or the environment variable ``NVSPAN_MESSAGE_LIMIT``; messages longer than
    2048 bytes are never registered.

    Args:
        limit: Number of messages, at least 1.
        domain: The domain, or ``None`` for all domains that have no limit of their own. For the
            default domain use ``get_domain().set_message_limit(limit)``.

    Raises:
        ValueError: ``limit`` is 0.
        TypeError: ``limit`` is not an int, or negative; or ``domain`` is of another type.

    >>> import nvspan
    >>> nvspan.set_message_limit(10000, domain="mylib")
    """
    _core.set_message_limit(limit, domain)
