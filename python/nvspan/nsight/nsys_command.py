# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of Nsight Systems: for a program, and for this one."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Sequence

from nvspan.nsight.lines.counting import window_of
from nvspan.nsight.lines.launchers import inside, is_launched, output_name

STEPS_VARIABLE = "NVSPAN_STEPS"
# Without it nsys waits for a registered message only, which most libraries do not send.
_ANY_STRING = "NSYS_NVTX_PROFILER_REGISTER_ONLY=0"


def nsys_command(
    program: Sequence[str],
    *,
    output: str | None = None,
    trace: Iterable[str] = ("cuda", "nvtx"),
    steps: str | tuple[int, int] | None = None,
    capture: str | None = None,
    captures: int = 1,
    graph_nodes: bool = False,
    forks: bool = False,
    sample: bool = False,
    stats: bool = False,
    force: bool = False,
    options: Iterable[str] = (),
    nsys: str = "nsys",
) -> list[str]:
    """The command line with which Nsight Systems profiles a program.

    Args:
        program: its command line. Of torchrun, srun and mpirun, nsys profiles what they start.
        output: the report's name, with {host}, {rank} and {pid} filled in by nsys; the default is
            ``nvspan-{pid}``, and ``nvspan-{host}-{rank}-{pid}`` under a launcher.
        trace: what nsys is to trace.
        steps: only these steps of `nvspan.step` or `nvspan.torch.auto`: ``"100:103"`` or
            ``(100, 103)`` are 100, 101 and 102.
        capture: only a range, ``"message"`` of the default domain, ``"message@domain"`` or
            ``"message@*"``, whether or not its message is registered.
        captures: how many of these ranges, each a report of its own.
        graph_nodes: each kernel of a CUDA graph, in place of the graph as a whole.
        forks: children that were forked and run no other program. nsys warns that this can hang.
        sample: the CPU's stacks and thread switches as well.
        stats: have nsys print its tables.
        force: write over reports that exist.
        options: further options of ``nsys profile``.
        nsys: the program nsys.

    Raises:
        TypeError: `program` or `options` is no list of strings, or a number no int.
        ValueError: `steps` together with `capture`, or a value that makes no sense.

    >>> nsys_command(["python", "train.py"], trace=["nvtx"], output="run")
    ['nsys', 'profile', '--trace=nvtx', '--sample=none', '--cpuctxsw=none', '--output=run', \
'python', 'train.py']
    """
    if steps is not None and capture is not None:
        raise ValueError("steps and capture cannot be given both: each says when nsys collects")
    if isinstance(captures, bool) or not isinstance(captures, int):
        raise TypeError(f"captures must be an int, not {captures!r}")
    if captures < 1 or (captures > 1 and capture is None):
        raise ValueError(f"captures must be 1 or more, and needs capture to be more: {captures}")
    traced = _checked_trace(trace)
    if isinstance(options, str):
        raise TypeError(f"options must hold options, and not be one str: {options!r}")
    nsys_options = [f"--trace={','.join(traced)}"]
    if not sample:
        nsys_options += ["--sample=none", "--cpuctxsw=none"]
    if graph_nodes:
        nsys_options.append("--cuda-graph-trace=node")
    if forks:
        nsys_options.append("--trace-fork-before-exec=true")
    if steps is not None:
        first, last = window_of("steps", steps)
        nsys_options += capture_options("profile@torch")
        nsys_options.append(f"--env-var={STEPS_VARIABLE}={first}:{last}")
    if capture is not None:
        if not capture.partition("@")[0]:
            raise ValueError(f"capture must have a message, as in 'step@app', not {capture!r}")
        nsys_options += capture_options(capture, "stop" if captures == 1 else f"repeat:{captures}")
        nsys_options.append(f"--env-var={_ANY_STRING}")
    if "nvtx" not in traced and (steps is not None or capture is not None):
        raise ValueError(f"trace must have 'nvtx' for steps and capture, not {traced!r}")
    if stats:
        nsys_options.append("--stats=true")
    if force:
        nsys_options.append("--force-overwrite=true")
    name = output or ("nvspan-{host}-{rank}-{pid}" if is_launched(program) else "nvspan-{pid}")
    nsys_options.append(f"--output={output_name(name, program)}")
    return inside(program, [nsys, "profile", *nsys_options, *options])


def _checked_trace(trace: Iterable[str]) -> list[str]:
    if isinstance(trace, str):
        raise TypeError(f"trace must be several names, as ['nvtx'], not {trace!r}")
    traced = list(trace)
    if not traced or not all(isinstance(name, str) and name and "," not in name for name in traced):
        raise ValueError(f"trace must be names as ['cuda', 'nvtx'], not {traced!r}")
    return traced


def capture_options(message: str, end: str = "stop") -> list[str]:
    """nsys options to collect only within the range ``message``, ``name@domain`` or ``name``.

    ``end`` is what nsys does at the range's end: ``stop``, or ``repeat:N`` for N ranges.
    """
    return [
        "--capture-range=nvtx",
        f"--nvtx-capture={message}",
        f"--capture-range-end={end}",
    ]


def command_line(trigger: str) -> str:
    """The shell command that runs this program again under nsys, which collects only within the
    range that ``trigger`` names, as ``name@domain`` or ``name``.

    Under torchrun each process runs under a separate nsys, which writes a report for its rank.
    """
    program = [word for word in sys.orig_argv if word]
    nsys = ["nsys", "profile", *capture_options(trigger)]
    if "TORCHELASTIC_RUN_ID" in os.environ:
        count = os.environ.get("LOCAL_WORLD_SIZE", "1")
        words = [word for word in program if word != "-u"]
        program = ["torchrun", "--nproc-per-node", count, "--no-python", *words]
        nsys.append(f"--output={output_name('report.{rank}', program)}")
    return shlex.join(inside(program, nsys))
