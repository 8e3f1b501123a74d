# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""`RangeFilter`: a value of ncu's options ``--nvtx-include`` and ``--nvtx-exclude``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nvspan.nsight.ranges.evaluate import FilterRow, evaluate
from nvspan.nsight.ranges.range_syntax import (
    REGEX_PREFIX,
    Between,
    FilterParts,
    parse,
    plain_regex,
    render,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.recording import Recording


@dataclass(frozen=True)
class FilterHits:
    """What a filter hits: `rows`, and all of them together. True if it hits anything.

    Attributes:
        filter: the filter.
        rows: a row for each range, the one with most calls first, with the fields domain, name,
            calls, total (ns of the calls that ended) and threads (a tuple of rows of
            `Recording.threads`). Of a stack it is the last range of the path.
        calls: how many ranges complete the stack; of several start/end ranges, how many times all
            of them came to be open.
        threads: the rows of `Recording.threads` in which the ranges began.
    """

    filter: RangeFilter
    rows: list[FilterRow]
    calls: int
    threads: tuple[int, ...]

    def __bool__(self) -> bool:
        return self.calls > 0


class RangeFilter(FilterParts):
    """One filter for NVTX ranges, as ``ncu --nvtx-include`` and ``--nvtx-exclude`` take it.

    Push/pop ranges are found in the stack of the thread that launches a kernel, start/end ranges
    among all that are open in the process. ``str(filter)`` is the text that ncu takes,
    `RangeFilter.parse` reads such a text, and `evaluate` says before a run what it will hit.

    Args:
        path: the names of push/pop ranges, the outermost first, each directly in the one before;
            ``Between.ANY`` between two lets any ranges be there, ``Between.ONE`` exactly one. Of
            start/end ranges, all of which must be open. A ``Between.ANY`` at the end changes
            nothing without `top`, and is left out.
        domain: of the ranges; None is the default domain.
        span: whether these are start/end ranges.
        bottom: whether the first is the outermost of its domain. Only for push/pop ranges.
        top: whether the last is the innermost of its domain. Only for push/pop ranges.
        regex: whether the names and the domain are regular expressions. In a path of several names
            each matches a whole name. The domain, the one name of a path and names of start/end
            ranges are searched for: ``"for"`` hits ``forward``, ``"^for$"`` does not.

    Raises:
        TypeError: a name or the domain is no string.
        ValueError: there is no such filter, or ncu has no way to write it.

    A filter is immutable and hashable, and can be used from any thread.

    >>> str(RangeFilter("step", Between.ANY, "layers[3]", domain="app"))
    'app@step/*/layers\\\\[3\\\\]'
    >>> RangeFilter("step").arguments()
    ['--nvtx-include', 'step/']
    """

    __slots__ = ()

    def __init__(
        self,
        *path: str | Between,
        domain: str | None = None,
        span: bool = False,
        bottom: bool = False,
        top: bool = False,
        regex: bool = False,
    ) -> None:
        for item in path:
            if not isinstance(item, (str, Between)):
                raise TypeError(f"path must hold str and Between, not {type(item).__name__}")
        if domain is not None and not isinstance(domain, str):
            raise TypeError(f"domain must be str or None, not {type(domain).__name__}")
        if regex:
            path = tuple(plain_regex(n) if isinstance(n, str) else n for n in path)
            domain = None if domain is None else plain_regex(domain)
        if not (regex or span or top):
            while len(path) > 1 and path[-1] is Between.ANY:
                path = path[:-1]
        flags = {"span": span, "bottom": bottom, "top": top, "regex": regex}
        super().__init__(path, domain, **{name: bool(flag) for name, flag in flags.items()})
        self._check_path()
        for name in self.names:
            self._check_name("path", name)
        if domain is not None:
            self._check_name("domain", domain)
        text = str(self).removeprefix(REGEX_PREFIX)
        if text.startswith("\\@") or (domain is None and "\\@\\@" in text):
            raise ValueError(
                f"ncu takes no filter that starts with '@', or has '@@' and no domain: {text!r}; "
                f"{self._as_regex()}"
            )
        if not regex and str(self).startswith(REGEX_PREFIX):
            raise ValueError(f"ncu reads {str(self)!r} as a regular expression; {self._as_regex()}")

    def _check_path(self) -> None:
        if not self.names:
            raise ValueError("path must name at least one range")
        if self.span:
            if len(self.names) != len(self.path) or self.bottom or self.top:
                raise ValueError(
                    "start/end ranges have no stack: span=True takes no Between, bottom or top"
                )
            return
        if isinstance(self.path[0], Between):
            raise ValueError(
                f"path must have a name first, not {self.path[0].value!r}: ncu finds nothing with "
                "one that is first, also after '['"
            )
        if isinstance(self.path[-1], Between):
            if not self.top:
                raise ValueError(
                    f"path must have a name last, not {self.path[-1].value!r}, which stands "
                    "between two names; top=True (']') allows it"
                )
            if self.regex:
                raise ValueError("with regex=True ncu takes Between only between two names")
        if len(self.path) == 1 and self.bottom and self.top:
            raise ValueError(
                f"bottom and top of one name, {self.path[0]!r}: ncu finds nothing with both; use "
                "bottom=True for kernels in the outermost range and all within it, or top=True for "
                "kernels directly in a range of this name"
            )

    def _as_regex(self) -> str:
        """The advice to write this filter with regular expressions."""
        if self.regex:
            return "write '.' in place of '@'"
        return f"use {_expression(self.as_regex())}"

    def _check_name(self, argument: str, name: str) -> None:
        if not name:
            raise ValueError(
                f"{argument}: ncu finds no range and no domain with an empty name: {name!r}"
            )
        if "\0" in name:
            raise ValueError(f"{argument}: a name has no null character in it: {name!r}")
        if not self.regex:
            if re.search(r"\\([@,\[\]/*+\\]|$)", name):
                raise ValueError(
                    f"{argument}: ncu has no way to quote a backslash before a special character, "
                    f"before another one or at the end of a name: {name!r}; {self._as_regex()}"
                )
            return
        if re.search(r"\\{2,}([@,\[\]/*+]|$)", name):
            raise ValueError(
                f"{argument}: ncu cannot read a backslash before a special character or at the end "
                f"of a name: {name!r}; write '.' in its place"
            )
        try:
            re.compile(name)
        except re.error as error:
            raise ValueError(f"{argument}: not a regular expression: {name!r}: {error}") from None
        if re.search(r"(?<!\\)\{[^}]*,[^}]*\}", name):
            raise ValueError(
                f"{argument}: ncu reads the comma of {name!r} as the end of a name: repeat the "
                "part instead of giving bounds"
            )

    @classmethod
    def parse(cls, text: str) -> RangeFilter:
        """The filter that ncu reads in `text`.

        ncu also takes texts in which special characters are not quoted, and gives them a meaning
        of its own; here they are errors that say what to write.

        Raises:
            TypeError: `text` is no string.
            ValueError: it is no such filter.

        >>> RangeFilter.parse("torch@[step/+/layer]")
        RangeFilter('step', Between.ONE, 'layer', domain='torch', bottom=True, top=True)
        """
        return cls.from_parts(parse(text))

    @classmethod
    def from_parts(cls, parts: FilterParts) -> RangeFilter:
        """The filter of these parts, checked."""
        return cls(
            *parts.path,
            domain=parts.domain,
            span=parts.span,
            bottom=parts.bottom,
            top=parts.top,
            regex=parts.regex,
        )

    def __str__(self) -> str:
        return render(self)

    def arguments(self, *, exclude: bool = False) -> list[str]:
        """The option and its value for the command line of ncu, which needs ``--nvtx`` as well.

        Args:
            exclude: kernels within these ranges are left out. ncu wants these options last.

        >>> RangeFilter("loss", span=True).arguments(exclude=True)
        ['--nvtx-exclude', 'loss']
        """
        return ["--nvtx-exclude" if exclude else "--nvtx-include", str(self)]

    def evaluate(self, recording: Recording) -> FilterHits:
        """What this filter hits in a recording of the program.

        One pass over the ranges of the names in question. Losses of the recording are lost here as
        well. Device ranges and events that were submitted with their times are no ranges to ncu.

        Raises:
            ValueError: the recording has statistics only.

        >>> RangeFilter("step").evaluate(nvspan.read("run.nvspan")).calls   # doctest: +SKIP
        100
        """
        rows, calls = evaluate(self, recording)
        threads = {thread for row in rows for thread in row.threads}
        return FilterHits(self, rows, calls, tuple(sorted(threads)))

    def __repr__(self) -> str:
        return _expression(self)


def _expression(parts: FilterParts) -> str:
    """The Python expression for a filter."""
    words = [repr(item) for item in parts.path]
    if parts.domain is not None:
        words.append(f"domain={parts.domain!r}")
    words += [f"{w}=True" for w in ("span", "bottom", "top", "regex") if getattr(parts, w)]
    return f"RangeFilter({', '.join(words)})"
