# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""``nvspan script.py``: runs a program in this process as python itself runs it.

The module ``__main__``, ``sys.argv``, ``sys.path[0]``, the exit code, the end by a signal and what
is printed are those of plain python. Only a look at the stack from inside the program shows more:
the frames of this module lie below its own.

Nothing is imported here before the program runs that a file in the current folder could replace.
"""

from __future__ import annotations

import sys

from nvspan.cli.program.untraced import obey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType, TracebackType
    from typing import Any, NoReturn

    from nvspan.cli.program.parse import Program
    from nvspan.profiler import Profile


def own_path_entry() -> bool:
    """Whether python has put the folder of what it runs at the front of ``sys.path``."""
    flags: Any = sys.flags
    return not (flags.isolated if sys.version_info < (3, 11) else flags.safe_path)


def run(program: Program) -> int:
    """Runs the program. Returns where python would go on to its own end, and raises ``SystemExit``
    or ``KeyboardInterrupt`` where one of them decides how the process ends."""
    obey()
    profile = None if program.profile is None else _profile(program.profile)
    if program.as_nvtx:
        _replace_nvtx()
    kinds = {"script": _run_script, "module": _run_module, "code": _run_code, "stdin": _run_stdin}
    try:
        kinds[program.kind](program, profile)
    except SystemExit as error:
        if not _stays_interactive():
            raise
        _report(error)
    except BaseException as error:
        _report(error)
        if _stays_interactive():
            return 0
        if isinstance(error, KeyboardInterrupt):
            _end_by_interrupt()
        raise SystemExit(1) from None
    return 0


def _profile(options: dict[str, Any]) -> Profile:
    from nvspan.profiler import Profile

    return Profile(**{**options, "exclude": [__file__, *options.get("exclude", ())]})


def _replace_nvtx() -> None:
    """nvspan in place of nvtx, here and in the Python processes below: multiprocessing hands
    ``sys.path`` to the workers that it spawns, other programs inherit PYTHONPATH; a folder on the
    path serves both."""
    import os

    import nvspan

    nvspan.install_as_nvtx()
    folder = os.path.join(os.path.dirname(os.path.abspath(nvspan.__file__)), "_compat", "as_nvtx")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    inherited = os.environ.get("PYTHONPATH", "")
    if folder not in inherited.split(os.pathsep):
        os.environ["PYTHONPATH"] = folder + (os.pathsep + inherited if inherited else "")


def _stays_interactive() -> bool:
    return bool(sys.flags.inspect)


# What is run


def _run_script(program: Program, profile: Profile | None) -> None:
    import os

    script = program.target
    path = script if os.path.isabs(script) else os.path.join(os.getcwd(), script)
    sys.argv[:] = [script, *program.arguments]
    if _has_importer(path):  # a folder or a zip file with a __main__.py in it
        import runpy

        sys.path.insert(0, path)
        _fresh_main()
        _run_as_main(runpy, "__main__", profile, alter_argv=False)
        return
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        interpreter = sys.orig_argv[0] if sys.orig_argv else sys.executable
        problem = f"can't open file {path!r}: [Errno {error.errno}] {error.strerror}"
        print(f"{interpreter}: {problem}", file=sys.stderr)
        raise SystemExit(2) from None
    _set_path_entry(os.path.dirname(os.path.realpath(script)))
    main = _fresh_main()
    from importlib.machinery import SourceFileLoader, SourcelessFileLoader
    from importlib.util import MAGIC_NUMBER

    names = main.__dict__
    names.update(__file__=path, __cached__=None)
    if path.endswith(".pyc") or content[:2] == MAGIC_NUMBER[:2]:
        names["__loader__"] = SourcelessFileLoader("__main__", path)
        code = _compiled(content, MAGIC_NUMBER)
    else:
        names["__loader__"] = SourceFileLoader("__main__", path)
        code = compile(content, path, "exec", dont_inherit=True)
    _execute_file(code, names, profile)


def _compiled(content: bytes, magic: bytes) -> CodeType:
    import marshal

    if content[:4] != magic:
        raise RuntimeError("Bad magic number in .pyc file")
    code: CodeType = marshal.loads(content[16:])
    return code


def _run_module(program: Program, profile: Profile | None) -> None:
    import os
    import runpy

    sys.argv[:] = ["-m", *program.arguments]
    _set_path_entry(os.getcwd())
    _fresh_main()
    _run_as_main(runpy, program.target, profile, alter_argv=True)


def _run_code(program: Program, profile: Profile | None) -> None:
    sys.argv[:] = ["-c", *program.arguments]
    _set_path_entry("")
    main = _fresh_main()
    text = program.target
    if sys.version_info >= (3, 14):
        import textwrap

        text = textwrap.dedent(text)
    text += "\n"
    code = compile(text, "<string>", "exec", dont_inherit=True)
    _show_in_tracebacks(code, text, "<string>")
    _execute(code, main.__dict__, profile)


def _run_stdin(program: Program, profile: Profile | None) -> None:
    sys.argv[:] = ["-", *program.arguments]
    _set_path_entry("")
    content = sys.stdin.buffer.read()
    names = _fresh_main().__dict__
    names.update(__file__="<stdin>", __cached__=None)
    code = compile(content, "<stdin>", "exec", dont_inherit=True)
    _execute_file(code, names, profile)


def _run_as_main(
    runpy: ModuleType, name: str, profile: Profile | None, *, alter_argv: bool
) -> None:
    """What python itself calls for ``-m``, a folder or a zip file."""
    if profile is not None:
        # runpy's own work is no part of the program: the profile begins where runpy executes it.
        def execute(code: CodeType, names: dict[str, Any]) -> None:
            del runpy.__dict__["exec"]  # the program may use runpy too
            _execute(code, names, profile)

        runpy.__dict__["exec"] = execute
    runpy._run_module_as_main(name, alter_argv)


def _execute_file(code: CodeType, names: dict[str, Any], profile: Profile | None) -> None:
    try:
        _execute(code, names, profile)
    finally:
        for name in ("__file__", "__cached__"):  # as python does, before the exit handlers run
            names.pop(name, None)


def _execute(code: CodeType, names: dict[str, Any], profile: Profile | None) -> None:
    if profile is None:
        exec(code, names)
        return
    import _thread
    import atexit

    atexit.register(profile.disable)  # the first that is registered runs last
    profile.enable()
    try:
        exec(code, names)
    finally:
        if _thread._count() == 0:  # or other threads go on, and are still part of the program
            profile.disable()


# What the program finds


def _fresh_main() -> ModuleType:
    """A module ``__main__`` as it is when python has just started."""
    import builtins

    main = type(sys)("__main__")
    main.__loader__ = sys.modules["_frozen_importlib"].BuiltinImporter
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    return main


def _set_path_entry(entry: str) -> None:
    if own_path_entry():
        sys.path.insert(0, entry)


def _has_importer(path: str) -> bool:
    """Whether modules can be imported from `path`, asked as python's start-up does."""
    cache = sys.path_importer_cache
    if path not in cache:
        cache[path] = None
        for hook in sys.path_hooks:
            try:
                cache[path] = hook(path)
                break
            except ImportError:
                continue
    return cache[path] is not None


def _show_in_tracebacks(code: CodeType, text: str, name: str) -> None:
    if sys.version_info >= (3, 13):
        import linecache

        register: Any = getattr(linecache, "_register_code", None)
        if hasattr(linecache, "_interactive_cache"):
            register(code, text, name)
        elif register is not None:  # 3.13.0
            register(name, text, name)


# How it ends


def _without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    entries = []
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename != run.__code__.co_filename:
            entries.append(traceback)
        traceback = traceback.tb_next
    following = None
    for entry in reversed(entries):
        entry.tb_next = following
        following = entry
    return following


def _report(error: BaseException) -> None:
    """Prints an exception that ends the program, through ``sys.excepthook``, as python does."""
    traceback = _without_own_frames(error.__traceback__)
    error.__traceback__ = traceback
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, traceback
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    hook = getattr(sys, "excepthook", None)
    sys.audit("sys.excepthook", hook, type(error), error, traceback)
    if hook is None:
        _say("sys.excepthook is missing\n")
        hook = sys.__excepthook__
    try:
        hook(type(error), error, traceback)
    except SystemExit:
        raise
    except BaseException as failure:
        failure.__traceback__ = failure.__traceback__ and failure.__traceback__.tb_next
        failure.__context__ = None
        _say("Error in sys.excepthook:\n")
        sys.__excepthook__(type(failure), failure, failure.__traceback__)
        _say("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, traceback)


def _say(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _end_by_interrupt() -> NoReturn:
    """Ends as python does after an interrupt: it clears up, and then dies by the signal."""
    hook = getattr(sys, "excepthook", None)

    def reported_already(*_: Any) -> None:
        sys.excepthook = hook or sys.__excepthook__

    sys.excepthook = reported_already
    raise KeyboardInterrupt
