# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What follows ``--nvtx-include`` and ``--nvtx-exclude`` of Nsight Compute, as an object."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nvspan.nsight import evaluate
from nvspan.nsight.range_syntax import REGEX_PREFIX, Between, parse, plain_regex, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nvspan.recording import Recording


@dataclass(frozen=True, init=False, repr=False, slots=True)
class RangeFilter:
    """One filter for NVTX ranges, as ``ncu --nvtx-include`` and ``--nvtx-exclude`` take it.

    Push/pop ranges are found in the stack of the thread that launches a kernel, start/end ranges
    among all that are open in the process. ``str(filter)`` is the text that ncu takes,
    `RangeFilter.parse` reads such a text, and `evaluate` says before a run what it will hit.

    Args:
        path: the names of push/pop ranges, the outermost first, each directly in the one before;
            ``Between.ANY`` between two lets any ranges be there, ``Between.ONE`` exactly one. Of
            start/end ranges, all of which must be open.
        domain: of the ranges; None is the default domain.
        span: whether these are start/end ranges.
        bottom: whether the first is the outermost of its domain. Only for push/pop ranges.
        top: whether the last is the innermost of its domain. Only for push/pop ranges.
        regex: whether the names and the domain are regular expressions, which match whole names.

    Raises:
        TypeError: a name or the domain is no string.
        ValueError: there is no such filter, or ncu has no way to write it.

    A filter is immutable and hashable, and can be used from any thread.

    >>> str(RangeFilter("step", Between.ANY, "layers[3]", domain="app"))
    'app@step/*/layers\\\\[3\\\\]'
    >>> RangeFilter("step").arguments()
    ['--nvtx-include', 'step/']
    """

    path: tuple[str | Between, ...]
    domain: str | None
    span: bool
    bottom: bool
    top: bool
    regex: bool

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
        values = (path, domain, bool(span), bool(bottom), bool(top), bool(regex))
        for field, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, field, value)
        self._check_path()
        for name in (*self.names, *([] if domain is None else [domain])):
            self._check_name(name)
        text = str(self).removeprefix(REGEX_PREFIX)
        if text.startswith("\\@") or (domain is None and "\\@\\@" in text):
            raise ValueError(
                f"ncu takes no filter that begins with '@', or has '@@' and no domain: {text!r}; "
                "use regex=True with '.' in place of '@'"
            )
        if not regex and str(self).startswith(REGEX_PREFIX):
            raise ValueError(
                f"ncu reads {str(self)!r} as a regular expression: write RangeFilter("
                f"{re.escape(self.names[0])!r}, ..., regex=True)"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the path, without what is between them."""
        return tuple(name for name in self.path if isinstance(name, str))

    def _check_path(self) -> None:
        if not self.names:
            raise ValueError("path must name at least one range")
        if self.span:
            if len(self.names) != len(self.path) or self.bottom or self.top:
                raise ValueError(
                    "start/end ranges have no stack: span=True takes no Between, bottom or top"
                )
            return
        ends = (("first", self.path[0], "bottom", "["), ("last", self.path[-1], "top", "]"))
        for place, item, needed, sign in ends:
            if isinstance(item, Between) and not getattr(self, needed):
                raise ValueError(
                    f"path must have a name {place}, not {item.value!r}, which stands between two "
                    f"names; {needed}=True ({sign!r}) allows it"
                )
            if isinstance(item, Between) and self.regex:
                raise ValueError("with regex=True ncu takes Between only between two names")

    def _check_name(self, name: str) -> None:
        if not name:
            raise ValueError("ncu finds no range and no domain with an empty name")
        if "\0" in name:
            raise ValueError(f"a name has no null character in it: {name!r}")
        backslash, instead = (r"\\\\", r"\x5c") if self.regex else (r"\\", "a regular expression")
        if re.search(rf"(?<!\\)(?:\\\\)*{backslash}([@,\[\]/*+\\]|$)", name):
            raise ValueError(
                f"ncu cannot read a backslash before a special character or at the end of a name: "
                f"{name!r}; use {instead}"
            )
        if not self.regex:
            return
        try:
            re.compile(name)
        except re.error as error:
            raise ValueError(f"not a regular expression: {name!r}: {error}") from None
        if re.search(r"(?<!\\)\{[^}]*,[^}]*\}", name):
            raise ValueError(
                f"ncu reads the comma of {name!r} as the end of a name: repeat the part instead of "
                "giving bounds"
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
        path, options = parse(text)
        return cls(*path, **options)

    def __str__(self) -> str:
        return render(self.path, self.domain, self.span, self.bottom, self.top, self.regex)

    def arguments(self, *, exclude: bool = False) -> list[str]:
        """The option and its value for the command line of ncu, which needs ``--nvtx`` as well.

        Args:
            exclude: kernels within these ranges are left out. ncu wants these options last.

        >>> RangeFilter("loss", span=True).arguments(exclude=True)
        ['--nvtx-exclude', 'loss']
        """
        return ["--nvtx-exclude" if exclude else "--nvtx-include", str(self)]

    def evaluate(self, recording: Recording) -> evaluate.FilterHits:
        """What this filter hits in a recording of the program.

        One pass over the ranges of the names in question. Losses of the recording are lost here as
        well. Device ranges and events that were submitted with their times are no ranges to ncu.

        Raises:
            ValueError: the recording has statistics only.

        >>> RangeFilter("step").evaluate(nvspan.read("run.nvspan")).calls   # doctest: +SKIP
        100
        """
        return evaluate.evaluate(self, recording)

    def __repr__(self) -> str:
        words = [repr(item) for item in self.path]
        if self.domain is not None:
            words.append(f"domain={self.domain!r}")
        words += [f"{w}=True" for w in ("span", "bottom", "top", "regex") if getattr(self, w)]
        return f"RangeFilter({', '.join(words)})"
