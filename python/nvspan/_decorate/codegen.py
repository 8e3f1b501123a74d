# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The body that a decorated function runs while something listens.

`generate` makes, for the code of a function, a code object of the same kind and signature that
opens the annotation, calls the original and closes it again:

    try:
        return __nvspan_enter__(KEY)(a, b, *args, d=d, **kw)
    finally:
        __nvspan_exit__(KEY)

(on 3.10: `return __nvspan_call_nested__(KEY, a, b, *args, d=d, **kw)`). KEY stands for the Site of
the function: eight bytes, read faster than an int. The functions are among the builtins, where
every function looks last. As constants they would be faster still by a few ns, but torch.compile
raises an error where it meets a constant that is no literal. The Site itself is the last constant,
which nothing loads: it lives as long as the code, and serialisers that take code by value take it
along.

A body is compiled once for each signature shape and then copied with names and key replaced.
"""

from __future__ import annotations

import sys

from nvspan._decorate.code_shapes import compiled_body

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_VARARGS = 0x04
_VARKEYWORDS = 0x08
_GENERATOR = 0x20
_COROUTINE = 0x80
_ITERABLE_COROUTINE = 0x100
_ASYNC_GENERATOR = 0x200

# A name that no program can have: it is the local of the generated body.
_LOCAL = ".nvspan"

# Up to this many extra positional arguments are passed one by one.
_SHORT = 3


_KEY = '"\\0key"'


def _call(name: str, *arguments: str) -> str:
    return f"__nvspan_{name}__({', '.join(arguments)})"


def _returned_call(arguments: list[str]) -> list[str]:
    """Lines that return the call's result.

    Passing on `*args` and `**kw` as they are takes 150 to 400 ns, and on 3.11 C stack too. Most
    calls leave `kw` empty and `args` short.
    """
    entered = _call("enter", _KEY)
    starred = [each for each in arguments if each[0] == "*"]
    if not starred:
        return [f"return {entered}({', '.join(arguments)})"]
    lines = [f"d = {entered}"]
    indent = ""
    if "**kw" in starred:
        lines.append("if not kw:")
        indent = " "
    if "*args" in starred:
        lines.append(f"{indent}match args:")
        for count in range(_SHORT + 1):
            items = ", ".join(f"args[{i}]" for i in range(count))
            passed = [items if each == "*args" else each for each in arguments if each != "**kw"]
            returned = f"return d({', '.join(filter(None, passed))})"
            lines.append(f"{indent} case ({'_, ' * count}): {returned}")
    else:
        lines.append(f"{indent}return d({', '.join(each for each in arguments if each != '**kw')})")
    return [*lines, f"return d({', '.join(arguments)})"]


def _body(kind: str, arguments: list[str]) -> list[str]:
    shape, how = kind.split()
    if shape == "call" and sys.version_info < (3, 11):
        return ["return " + _call(f"call_{how}", _KEY, *arguments)]
    if kind == "call nested":
        calling = [f" {line}" for line in _returned_call(arguments)]
        return ["try:", *calling, "finally:", " " + _call("exit", _KEY)]
    inner = f"{_call('callee', _KEY)}({', '.join(arguments)})"
    if kind in ("call span", "coroutine span"):
        waiting = "await " if shape == "coroutine" else ""
        return [
            "d = None",
            "try:",
            f" d = {_call('start', _KEY)}",
            f" return {waiting}{inner}",
            "finally:",
            " " + _call("end", "d"),
        ]
    driver = f"d = {_call(f'drive_{how}', _KEY, inner)}"
    take = _call("take", "d")
    yielding = [
        " try:",
        "  " + _call("sent", "d", f"(yield {take})"),
        " except:",
        "  " + _call("caught", "d"),
    ]
    if shape == "generator":
        return [driver, f"while {_call('resume', 'd')}:", *yielding, f"return {take}"]
    if shape == "coroutine":
        awaiting = ["return await " + _call("wait", "d")]
    else:
        awaiting = [f"while await {_call('step', 'd')}:", *yielding, "return"]
    return [
        driver,
        "while True:",
        " try:",
        *[f"  {line}" for line in awaiting],
        " except:",
        "  " + _call("pass_on", "d"),
    ]


def _body_kind(flags: int, kind: str | None) -> str:
    if flags & _ASYNC_GENERATOR:
        return f"asyncgen {kind or 'nested'}"
    if flags & _COROUTINE:
        return f"coroutine {kind or 'span'}"
    if flags & _ITERABLE_COROUTINE:
        return f"generator {kind or 'span'}"
    if flags & _GENERATOR:
        return f"generator {kind or 'nested'}"
    return f"call {kind or 'nested'}"


def _line_table(size: int) -> bytes:
    """Puts all of `size` bytes of bytecode on the first line of the function, without columns."""
    if sys.version_info >= (3, 11):
        units = size // 2
        whole, rest = divmod(units, 8)
        table = b"\xef\x00" * whole
        return table + bytes((0xE8 | (rest - 1), 0)) if rest else table
    whole, rest = divmod(size, 254)
    table = b"\xfe\x00" * whole
    return table + bytes((rest, 0)) if rest else table


def _compile(
    positional_count: int, keyword_count: int, flags: int, free_count: int, body: str
) -> CodeType:
    positional = [f"a{i}" for i in range(positional_count)]
    keywords = [f"k{i}" for i in range(keyword_count)]
    parameters = list(positional)
    arguments = list(positional)
    if flags & _VARARGS:
        parameters.append("*args")
        arguments.append("*args")
    elif keywords:
        parameters.append("*")
    parameters += keywords
    arguments += [f"{name}={name}" for name in keywords]
    if flags & _VARKEYWORDS:
        parameters.append("**kw")
        arguments.append("**kw")
    prefix = "async def" if body.startswith(("coroutine", "asyncgen")) else "def"
    definition = f"{prefix} body({', '.join(parameters)})"
    code = compiled_body(definition, _body(body, arguments), free_count, doc="\\0doc")
    return code.replace(co_linetable=_line_table(len(code.co_code)))


_templates: dict[tuple[int, int, int, int, str], CodeType] = {}


def _constant(value: Any, key: bytes, doc: str | None, keywords: tuple[str, ...]) -> Any:
    if type(value) is tuple:
        return tuple([_constant(each, key, doc, keywords) for each in value])
    if type(value) is not str:
        return value
    if value[0] == "k":
        return keywords[int(value[1:])]
    return key if value == "\0key" else doc


def generate(code: CodeType, kind: str | None, site: Any) -> CodeType:
    """The body for a function with `code`, bound to `site`.

    `kind` is that of the annotation: None, "nested" or "span".
    """
    flags = code.co_flags
    positional = code.co_argcount
    keyword_only = code.co_kwonlyargcount
    variadic = flags & (_VARARGS | _VARKEYWORDS)
    shape = (positional, keyword_only, variadic, len(code.co_freevars), _body_kind(flags, kind))
    template = _templates.get(shape)
    if template is None:
        template = _templates[shape] = _compile(*shape)
    parameters = positional + keyword_only + bool(flags & _VARARGS) + bool(flags & _VARKEYWORDS)
    names = code.co_varnames[:parameters]
    doc = code.co_consts[0] if code.co_consts and type(code.co_consts[0]) is str else None
    keywords = names[positional : positional + keyword_only]
    key = site.key
    constants = [_constant(each, key, doc, keywords) for each in template.co_consts]
    changes: dict[str, Any] = {
        "co_consts": (*constants, site),
        "co_varnames": (*names, _LOCAL) if len(template.co_varnames) > parameters else names,
        "co_freevars": code.co_freevars,
        "co_posonlyargcount": code.co_posonlyargcount,
        "co_flags": flags,
        "co_name": code.co_name,
        "co_filename": code.co_filename,
        "co_firstlineno": code.co_firstlineno,
    }
    if sys.version_info >= (3, 11):
        changes["co_qualname"] = code.co_qualname
    return template.replace(**changes)


def in_place_of(original: CodeType, code: CodeType) -> CodeType:
    """`code` with the name and the place of `original`, all of it on the line of the definition."""
    changes: dict[str, Any] = {"co_linetable": _line_table(len(code.co_code))}
    if sys.version_info >= (3, 11):
        changes["co_qualname"] = original.co_qualname
    return code.replace(
        co_name=original.co_name,
        co_filename=original.co_filename,
        co_firstlineno=original.co_firstlineno,
        **changes,
    )


def carried_over(original: CodeType, generated: CodeType, current: CodeType) -> CodeType:
    """`original` with what distinguishes `current` from the `generated` body it was made from."""
    names = ["co_flags", "co_name", "co_filename", "co_firstlineno"]
    if sys.version_info >= (3, 11):
        names.append("co_qualname")
    changes: dict[str, Any] = {
        name: getattr(current, name)
        for name in names
        if getattr(current, name) != getattr(generated, name)
    }
    return original.replace(**changes)
