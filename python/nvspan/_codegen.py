# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The body that a decorated function runs while something listens.

`generate` makes, for the code of a function, a code object of the same kind and signature that
opens the annotation, calls the original and closes it again. What it calls are builtins of the
extension module, put straight into its constants: nothing in the function's globals can shadow
them, and the interpreter specialises such calls.

A body is compiled once for each signature shape, with placeholder strings for constants, and then
copied with the names and the builtins of the function at hand.
"""

from __future__ import annotations

import sys

from nvspan import _core

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


def _constant_expression(name: str) -> str:
    # The conditional leaves only the constant behind, and no warning that it is not callable.
    return f'("\\0{name}" if 1 else 0)'


def _call(name: str, *arguments: str) -> str:
    return f"{_constant_expression(name)}({', '.join(arguments)})"


def _returned_call(callee: str, arguments: list[str]) -> list[str]:
    """Lines that return the call's result.

    Passing on `*args` and `**kw` as they are takes 150 to 400 ns, and on 3.11 C stack too. Most
    calls leave `kw` empty and `args` short.
    """
    starred = [each for each in arguments if each[0] == "*"]
    if not starred:
        return [f"return {callee}({', '.join(arguments)})"]
    lines = [f"d = {callee}"]
    indent = ""
    if "**kw" in starred:
        lines.append("if not kw:")
        indent = " "
    if "*args" in starred:
        for count in range(_SHORT + 1):
            items = ", ".join(f"args[{i}]" for i in range(count))
            passed = [items if each == "*args" else each for each in arguments if each != "**kw"]
            test = f"{_call('len', 'args')} == {count}" if count else "not args"
            lines.append(f"{indent}if {test}: return d({', '.join(filter(None, passed))})")
    else:
        lines.append(f"{indent}return d({', '.join(each for each in arguments if each != '**kw')})")
    return [*lines, f"return d({', '.join(arguments)})"]


def _body(kind: str, arguments: list[str]) -> list[str]:
    inner = f"{_call('callee')}({', '.join(arguments)})"
    if kind == "call nested":
        calling = [f" {line}" for line in _returned_call(_call("enter"), arguments)]
        return ["try:", *calling, "finally:", f" {_call('exit')}"]
    if kind in ("call span", "coroutine span"):
        waiting = "await " if kind == "coroutine span" else ""
        return [
            "d = None",
            "try:",
            f" d = {_call('start')}",
            f" return {waiting}{inner}",
            "finally:",
            f" {_call('end', 'd')}",
        ]
    what, how = kind.split()
    driver = f"d = {_call(f'resume_{how}', inner)}"
    yielding = [
        " try:",
        f"  {_call('sent', 'd', '(yield ' + _call('take', 'd') + ')')}",
        " except:",
        f"  {_call('caught', 'd')}",
    ]
    if what == "generator":
        return [driver, f"while {_call('resume', 'd')}:", *yielding, f"return {_call('take', 'd')}"]
    if what == "coroutine":
        awaiting = [f"return await {_call('drive', 'd')}"]
    else:
        awaiting = [f"while await {_call('step', 'd')}:", *yielding, "return"]
    return [
        driver,
        "while True:",
        " try:",
        *[f"  {line}" for line in awaiting],
        f" except {_constant_expression('exit_type')}:",
        f"  {_call('pass_on', 'd')}",
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
    free = [f"f{i:05d}" for i in range(free_count)]
    prefix = "async def" if body.startswith(("coroutine", "asyncgen")) else "def"
    lines = ["def outer():"]
    lines += [f"    {name} = None" for name in free]
    lines += [f"    {prefix} body({', '.join(parameters)}):", '        "\\0doc"']
    # Names that are used nowhere else are free variables all the same.
    lines += [f"        if 0: {name}" for name in free]
    lines += [f"        {line}" for line in _body(body, arguments)]
    code = compile("\n".join(lines), "<nvspan>", "exec", dont_inherit=True, optimize=0)
    for _ in range(2):
        code = next(each for each in code.co_consts if hasattr(each, "co_code"))
    return code.replace(co_linetable=_line_table(len(code.co_code)))


_templates: dict[tuple[int, int, int, int, str], CodeType] = {}
_shared: dict[str, Any] = {
    "resume": _core._resume,
    "take": _core._take,
    "sent": _core._sent,
    "caught": _core._caught,
    "step": _core._step,
    "drive": _core._drive,
    "pass_on": _core._pass_on,
    "exit_type": GeneratorExit,
    "len": len,
    "end": _core._end_span,
}
_site_names = ("enter", "exit", "callee", "start", "resume_nested", "resume_span")


def _constant(value: Any, site: Any, doc: str | None, keywords: tuple[str, ...]) -> Any:
    if type(value) is tuple:
        return tuple([_constant(each, site, doc, keywords) for each in value])
    if type(value) is not str:
        return value
    if value[0] == "k":
        return keywords[int(value[1:])]
    name = value[1:]
    if name == "doc":
        return doc
    return _shared[name] if name in _shared else getattr(site, name)


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
    changes: dict[str, Any] = {
        "co_consts": tuple([_constant(each, site, doc, keywords) for each in template.co_consts]),
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
