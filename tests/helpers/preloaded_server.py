# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Imports modules once and then runs programs in children of its own, each as an interpreter would:
preloaded_server.py SOCKET MODULE... Its client is preloaded.py."""

from __future__ import annotations

import builtins
import gc
import importlib
import json
import os
import pkgutil
import runpy
import socket
import sys
import types
from pathlib import Path


def serve(connection: socket.socket) -> dict[str, object] | None:
    """The request, in the child that fulfils it; None in the server, when its client is gone."""
    while True:
        data, files, _, _ = socket.recv_fds(connection, 1 << 16, 3)
        while data and not data.endswith(b"\n"):
            data += connection.recv(1 << 20)
        if not data:
            return None
        child = os.fork()
        if not child:
            connection.close()
            for number, file in enumerate(files):
                os.dup2(file, number)
                os.close(file)
            return json.loads(data)
        for file in files:
            os.close(file)
        connection.sendall(f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def load(name: str) -> None:
    """Imports a module; with `.*` at the end, a package and all below it."""
    package = importlib.import_module(name.removesuffix(".*"))
    if name.endswith(".*"):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            try:
                importlib.import_module(found.name)
            except ModuleNotFoundError as missing:  # of an extra that is not installed
                if missing.name.partition(".")[0] == package.__name__.partition(".")[0]:
                    raise


def fulfil(request) -> None:
    """Runs `-c CODE`, `-m MODULE` or a script, with its arguments, as the module __main__."""
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    program, *arguments = request["arguments"]
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    sys.modules["__main__"] = module
    if program == "-m":
        name, *arguments = arguments
        sys.path[0] = os.getcwd()
    elif program == "-c":
        source, *arguments = arguments
        name, sys.path[0] = "<string>", ""
    else:
        source, name, sys.path[0] = Path(program).read_text(), program, os.path.dirname(program)
        module.__file__ = program
    sys.argv = [program, *arguments]
    try:
        if program == "-m":
            runpy._run_module_as_main(name)  # as the interpreter does
        else:
            exec(compile(source, name, "exec", dont_inherit=True), module.__dict__)
    except Exception as error:
        trace = error.__traceback__
        sys.excepthook(type(error), error, trace and trace.tb_next)
        raise SystemExit(1) from None


def main() -> None:
    connection = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        load(name)
    # What the children share is not theirs to collect.
    gc.collect()
    gc.freeze()
    request = serve(connection)
    if request is None:
        os._exit(0)  # nobody reads what modules would say at the end
    fulfil(request)


main()
