# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What every printed text and page keeps to: figures, counts, words, the length of sentences."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

MAX_WORDS = 25  # of a sentence
MAX_DIGITS = 3  # significant ones, of a time, a share or a factor

_NOUNS = (
    "block|byte|call|chunk|collective|copy|counter value|device|device range|event|file|finding|"
    "frame|function|kernel|line|mark|module|name|option|outlier|pause|process|range|rank|request|result|"
    "row|run|sample|span|step|stretch|thread|time"
)
_PLURALS = "|".join(
    f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}{'es' if noun[-1] in 'sh' else 's'}"
    for noun in _NOUNS.split("|")
)
_FIGURES = (
    ("a share has a space before its %", r"\d %(?!\()"),
    ("a share of 10% or more has decimals", r"(?<![\w.,])(?!99\.\d%)\d\d+\.\d+%"),
    ("a share has two decimals", r"(?<![\w.,])\d\.\d\d+%"),
    ("one of several", rf"(?<![\w.,:/+-])(?<!rank )1 (?:{_PLURALS})\b(?! ?[:=(/])"),
    ("several of one", rf"(?<![\w.,:/#-])(?:[2-9]|[1-9][\d,]*\d) (?:{_NOUNS})\b(?![-#\w])"),
    ("a sentence about nothing", rf"(?<![\w.,:/-])0 (?:\w+ )?(?:{_PLURALS})\b"),
    ("a count has no comma", rf"(?<![\w.,:/#-])[1-9]\d{{3,}} (?:{_PLURALS})\b"),
)  # fmt: skip
_TIME = re.compile(r"(?<![\w.,:/])([\d,]+(?:\.\d+)?) (?:ns|us|ms|s|times)\b")
_PLACE = re.compile(r"\b(?:at|from|to|between|and) \d+\.\d{4,6} s\b")  # in a recording: for --from

# The term of each concept, for what it must not be called.
_WORDS = {
    r"folders?": "directory",
    r"processors?(?! \d)": "CPU core",
    r"beg(?:an|ins?|un|inning)": "start",
    r"unclosed|orphans?|lone": "still open, unmatched",
    r"anew|as ever": "again",
    r"beside": "next to",
    r"(?:some|no|any)body": "the reader's noun",
    r"whom": "who, in an active sentence",
    r"so many": "the number, or its metavar",
    r"hangs on": "depends on",
    r"pieces? of work": "kernels and copies",
    r"(?:is|are) (?:told|asked|said)": "who does what",
    r"of (?:its|their|nvspan's) own": "(leave out)",
    r"(?:initial|synchron|optim|recogn|normal)is(?:ed?|es|ing|ation)": "-ize",
}
_WORD = re.compile(rf"(?<![\w./'`-])(?:{'|'.join(_WORDS)})(?![\w`-])", re.IGNORECASE)
_CODE = re.compile(r"`[^`]*`|\]\([^)]*\)|<[^>]*>|https?://\S+")


def significant(number: str) -> int:
    """How many significant digits a decimal number has.

    >>> significant("0.0120"), significant("15.2"), significant("1,234.5")
    (3, 3, 5)
    """
    return len(number.replace(",", "").replace(".", "").lstrip("0"))


def figures(text: str) -> Iterator[str]:
    """What is wrong with the numbers of a text.

    >>> list(figures("5.696 ms, 91.9%, 1 steps"))
    ['91.9%: a share of 10% or more has decimals', '1 steps: one of several', '5.696 ms: 4 digits']
    """
    for problem, pattern in _FIGURES:
        for match in re.finditer(pattern, text):
            yield f"{match[0]}: {problem}"
    for match in _TIME.finditer(_PLACE.sub("", text)):
        if "." in match[1] and significant(match[1]) > MAX_DIGITS:
            yield f"{match[0]}: {significant(match[1])} digits"


def words(text: str) -> Iterator[str]:
    """Words that have a better one here; code in backticks and addresses are left out.

    >>> list(words("The folder begins; `folder` is an argument"))
    ['folder: directory', 'begins: start']
    """
    for match in _WORD.finditer(_CODE.sub("", text)):
        term = next(term for word, term in _WORDS.items() if re.fullmatch(word, match[0], re.I))
        yield f"{match[0]}: {term}"


def long_sentences(text: str) -> Iterator[str]:
    """Sentences, or parts of one at a colon or semicolon, with more than `MAX_WORDS` words."""
    prose = re.sub(r"\]\([^)]*\)", "]", text)
    for sentence in re.split(r"[.!?:;)]['\"]?\s|\s\(|\n\s*\n|\n(?=\s)|\s-\s", prose):
        if len(sentence.split()) > MAX_WORDS:
            yield f"{len(sentence.split())} words: {' '.join(sentence.split())}"


def of_screen(text: str) -> list[str]:
    """What is wrong with what a command printed."""
    found = [*figures(text), *words(text)]
    for line in text.split("\n"):
        # Two blanks end a line of Markdown within a quotation.
        ends_blank = line != line.rstrip() and not line.startswith("> ")
        if ends_blank or "\t" in line:
            found.append(f"{line!r}: blanks")
        if re.search(r"[a-z][.;,:]  +[a-z]", line):
            found.append(f"{line!r}: two blanks within a sentence")
    return found


@functools.cache
def _nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module of Python that may be printed, with {} for what is filled in.

    Docstrings, and what has no blank in it, are left out.
    """
    nodes = _nodes(path)
    skipped = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(value) for value in node.values}
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            skipped.add(id(node.format_spec))
    for node in nodes:
        if id(node) in skipped:
            continue
        text = _text(node)
        if " " in text.strip():
            yield node.lineno, text  # type: ignore[attr-defined]


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "{}"
                       for part in node.values)  # fmt: skip
    return ""


def float_formats(path: Path) -> Iterator[tuple[int, str]]:
    """The formats of floating-point numbers in a module's f-strings that may give more than three
    digits: all but those of whole numbers, ``.3g`` and the like."""
    for node in _nodes(path):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            spec = _text(node.format_spec)
            if re.search(r"[efg%]$", spec) and not re.search(r"\.[123]g$|\.0[f%]$", spec):
                yield node.lineno, spec


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The paragraphs, items and cells of a page, without code, with the line of their paragraph."""
    text = path.read_text(encoding="utf-8")
    code = re.compile(r"^```.*?^```$|<!--.*?-->", re.MULTILINE | re.DOTALL)
    text = code.sub(lambda found: "\n" * found[0].count("\n"), text)
    line = 1
    for paragraph in re.split(r"(\n(?:\s*\n|(?=[-*|#] |\d\. )))", text):
        for cell in paragraph.split("|") if paragraph.startswith("|") else [paragraph]:
            if cell.strip():
                yield line, cell
        line += paragraph.count("\n")
