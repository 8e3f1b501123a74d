# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""A page of torch.distributed's debug server: what each rank is in, and its last steps.

It imports torch at once, and needs one that has ``torch.distributed.debug`` with pages of others,
such as 2.13, and the packages that this server needs: jinja2, tabulate, and aiohttp or requests.
"""

from __future__ import annotations

import os
import threading

try:
    from torch._C._distributed_c10d import _register_handler
    from torch.distributed.debug._frontend import DebugHandler, NavLink, Route, fetch_all
except ImportError as error:
    raise ImportError(
        f"torch.distributed's debug server cannot have pages here: {error}"
    ) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAME = "nvspan_where"
_MOST_WAIT = 5.0  # seconds: a rank that holds the GIL does not answer at all
_TEMPLATE = """
{% extends "base.html" %}
{% block header %}<h1>{% block title %}nvspan where{% endblock %}</h1>{% endblock %}
{% block content %}
{% for title, text in parts %}<h2>{{ title | e }}</h2><pre>{{ text | e }}</pre>{% endfor %}
{% endblock %}
"""
_registering = threading.Lock()
_registered = False


class WherePage(DebugHandler):  # type: ignore[misc, unused-ignore]
    """The page ``/nvspan_where``: what ``nvspan where`` says, and the last steps of each rank.

    Make one on every rank, whose process then answers for itself, and give it to the server:

    >>> page = WherePage("run/*.nvspan")                                 # doctest: +SKIP
    >>> start_debug_server(handlers=[*default_handlers(), page])         # doctest: +SKIP

    Args:
        targets: recordings of the ranks, folders or patterns, which the machine of rank 0 can read.
            They are shown also of ranks that are stopped or hold the GIL, with the verdict about
            whom the others wait for. Without them each rank is shown that answers.
        step: the ranges that are steps: a pattern of the name, or of "domain:name".

    The ranks need nvspan's recorder, in any mode; modes "full" and "ring" have the last steps.
    """

    def __init__(self, *targets: str | os.PathLike[str], step: str = "step") -> None:
        global _registered
        self._targets = tuple(os.fspath(target) for target in targets)
        self._step = step
        with _registering:
            if not _registered:
                _register_handler(_NAME, _answer)
                _registered = True

    def routes(self) -> list[Any]:
        return [Route(f"/{_NAME}", self._handle)]

    def nav_links(self) -> list[Any]:
        return [NavLink(f"/{_NAME}", "nvspan where")]

    def templates(self) -> dict[str, str]:
        return {f"{_NAME}.html": _TEMPLATE}

    def dump(self) -> str:
        return "\n".join(f"=== {title} ===\n{text}" for title, text in self._parts())

    def dump_filename(self) -> str:
        return _NAME

    def _handle(self, request: Any) -> bytes:
        page: bytes = request.frontend.render_template(f"{_NAME}.html", parts=self._parts())
        return page

    def _parts(self) -> list[tuple[str, str]]:
        """(title, text) of what is shown."""
        from urllib.parse import quote

        parts = []
        if self._targets:
            parts.append(("All ranks", _where(*self._targets)))
        timeout = min(self.fetch_timeout, _MOST_WAIT)
        _, answers = fetch_all(_NAME, f"step={quote(self._step)}", timeout=timeout)
        for rank, answer in enumerate(answers):
            failed = f"rank {rank} did not answer: {answer.text}"
            parts.append((f"Rank {rank}", answer.text if answer.status_code == 200 else failed))
        return parts


def _where(*targets: Any) -> str:
    from nvspan.live.look import look

    try:
        return str(look(targets))
    except (ValueError, OSError) as error:
        return f"{error}\n"


def _answer(request: Any, response: Any) -> None:
    """What a rank says of itself, on a thread of the server of its process."""
    from nvspan.live.process import recordings_of
    from nvspan.watch.last import last_ranges

    parts = [_where(os.getpid())]
    try:
        parts += [f"last steps\n{last_ranges(path, request.get_param('step'))}"
                  for path in recordings_of(os.getpid())]  # fmt: skip
    except (ValueError, OSError):
        pass  # the text above says why
    response.set_content("\n".join(parts), "text/plain")
    response.set_status(200)
