# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Run the blocks of one page, in their order, in a folder of their own: python run_page.py PAGE.

Prints what is wrong with each block that fails, and exits with 1 if there is one. `nvspan` is
imported, and `GPU` says whether to use one; what else a page takes for granted (`train`, a
recording) comes from programs, and from pages/NAME.py, which runs before its first block. There a
function `prepared(command)` may change a command line to what this machine can run.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import traceback
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import nvspan  # noqa: E402
from helpers import pages  # noqa: E402
from helpers.tree import ROOT  # noqa: E402

SECONDS = 120
GPU = os.environ.get("TEST_GPU") == "1"  # nvspan doctor knows no NVSPAN_TEST_GPU


class Page:
    def __init__(self, name: str) -> None:
        self.name = name
        self.blocks = pages.blocks(pages.PAGES[name])
        self.failures: list[str] = []
        self.module = types.ModuleType("__main__")
        self.names = self.module.__dict__
        self.names.update(nvspan=nvspan, GPU=GPU)
        self.commands = "".join(block.text for block in self.blocks if block.language == "console")

    def prepare(self) -> None:
        """The folder that the page runs in, which looks like a checkout with an environment."""
        os.symlink(ROOT / "examples", "examples")
        for program in (HERE / "programs").iterdir():
            shutil.copy(program, program.name)
        os.makedirs(".venv/bin")
        modules = {
            "python": "",
            "nvspan": " -m nvspan",
            "pytest": " -m pytest",
            "torchrun": " -m torch.distributed.run",
        }
        for name, module in modules.items():
            program = Path(".venv/bin", name)
            program.write_text(f'#!/bin/sh\nexec {sys.executable}{module} "$@"\n')
            program.chmod(0o755)
        os.environ["PATH"] = f"{Path('.venv/bin').resolve()}:{os.environ['PATH']}"
        sys.modules["__main__"] = self.module  # what is pickled, or started again, is found there
        sys.path.insert(0, os.getcwd())
        setup = HERE / "pages" / f"{Path(self.name).stem}.py"
        if setup.exists():
            exec(compile(setup.read_text(encoding="utf-8"), str(setup), "exec"), self.names)

    def run(self) -> None:
        for block in self.blocks:
            if not block.kind or block.skipped is not None:
                continue
            if not all(available(need) for need in block.needs):
                continue
            try:
                problem = getattr(self, block.kind)(block)
            except BaseException:
                problem = traceback.format_exc()
            if problem:
                self.failures.append(f"{self.name}:{block.line}: {problem}")

    def python(self, block: pages.Block) -> str | None:
        if block.file:
            path = Path(block.file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            if path.name in self.commands:
                compile(block.text, block.file, "exec")
                return None
        code = "\n" * block.line + block.text
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, self.name, "exec"), self.names)
        shown = re.findall(r"^ *print\(.*\)  # (.*)$", block.text, re.MULTILINE)
        if shown and said.getvalue().splitlines() != shown:
            return f"shown: {shown}\nprinted: {said.getvalue()}"
        if block.output is not None:
            return pages.difference(block.output, said.getvalue(), **rule(block))
        return None

    def cell(self, block: pages.Block) -> None:
        """The lines of a notebook, a cell from one blank line to the next."""
        from IPython.core.interactiveshell import InteractiveShell

        shell = InteractiveShell.instance(user_ns=self.names, history_length=0)
        shell.history_manager.enabled = False
        for text in block.text.split("\n\n"):
            with contextlib.redirect_stdout(io.StringIO()):
                shell.run_cell(text).raise_error()

    def console(self, block: pages.Block) -> str | None:
        status = int(block.marked("exit") or 0)
        for command in pages.commands(block):
            line = self.names.get("prepared", str)(command.line)
            if line is None:
                continue
            done = subprocess.run(
                ["bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                encoding="utf-8", errors="replace", timeout=SECONDS, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
            if done.returncode != status:
                return f"{line}: exit code {done.returncode}\n{done.stdout}"
            if command.shown and line == command.line:
                problem = pages.difference(command.shown, done.stdout, **rule(block))
                if problem:
                    return f"{line}: {problem}"
        return None


def available(need: str) -> bool:
    """Whether this machine has it: a package, one of Nsight's tools, or a GPU to use."""
    if need == "GPU":
        return GPU
    if need == "nsys":
        return bool(os.environ.get("NVSPAN_NSYS") or shutil.which("nsys"))
    if need == "ncu":
        return bool(os.environ.get("NVSPAN_NCU") or shutil.which("ncu"))
    return importlib.util.find_spec(need) is not None


def rule(block: pages.Block) -> dict[str, bool]:
    return {
        "exact": block.marked("exact") is not None,
        "some": block.marked("some lines") is not None,
    }


if __name__ == "__main__":
    page = Page(sys.argv[1])
    page.prepare()
    page.run()
    print("\n\n".join(page.failures))
    sys.exit(bool(page.failures))
