# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of this program under Nsight Compute, in a process of their own."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nvspan import _core, launch
from nvspan.nsight.compute import child
from nvspan.nsight.compute.dry_run import DryRunError, dry_run
from nvspan.nsight.compute.explain import Run, as_lines, explain
from nvspan.nsight.compute.messages import PROBLEM
from nvspan.nsight.compute.preflight import AS_ONE, preflight
from nvspan.nsight.lines.ncu_command import METRICS, filters_of, ncu_command
from nvspan.nsight.lines.tools import find_tool, version_of
from nvspan.nsight.ranges.names import is_written_for_ncu, range_filters
from nvspan.nsight.ranges.range_filter import RangeFilter
from nvspan.nsight.results.profiled import Profiled
from nvspan.nsight.results.result import NcuResult, read_reports
from nvspan.recording import Recording

Call = tuple[Sequence[Any], Mapping[str, Any]]
Ranges = "str | RangeFilter | Iterable[str | RangeFilter] | None"


class NcuError(RuntimeError):
    """ncu profiled nothing, or the function failed; the message says why."""


def ncu(
    function: Callable[..., Any],
    *args: Any,
    ranges: str | RangeFilter | Iterable[str | RangeFilter] | None = None,
    metrics: Iterable[str] = (),
    preset: str | None = None,
    replay: str = "kernel",
    warmup: int = 1,
    runs: int = 1,
    kwargs: Mapping[str, Any] | None = None,
    output: str | os.PathLike[str] | None = None,
    ncu: str | None = None,
    timeout: float | None = None,
    check: bool = True,
    **options: Any,
) -> NcuResult:
    """Runs a function in a new process under Nsight Compute, and returns what was measured.

    The function and its arguments are pickled (by cloudpickle where it is installed, which takes
    functions of a script or notebook as well); the program itself is not run again.

    Args:
        function, args, kwargs: what is called.
        ranges: as `range_filters` takes them: plain names are looked up in a run of the function
            without ncu. None is the whole call, with the kernels of all threads.
        metrics, preset, replay: as `ncu_command` has them; the default preset is "quick", if no
            metrics are given.
        warmup: how many calls come first, in which nothing is measured.
        runs: how many calls are measured.
        output: where the report is kept; None keeps none.
        ncu: the program.
        timeout: seconds after which the process is ended.
        check: with ``replay="range"`` or ``"app-range"``, run the function without ncu first, and
            warn of the problems that the mode will have; it is an error if nothing would be
            profiled.
        options: further ones of `ncu_command`: exclude, calls, kernel, launch_count, ...

    Raises:
        NcuError: the function failed, or no kernel was profiled; the message says why.
        FileNotFoundError: there is no ncu.
        TypeError: something cannot be pickled.
        subprocess.TimeoutExpired: `timeout` is over.

    >>> result = nvspan.nsight.ncu(torch.matmul, a, b, metrics=["time", "sol"])  # doctest: +SKIP
    >>> print(result)                                                    # doctest: +SKIP
    """
    call = (args, kwargs or {})
    found = profile(
        function, [call], ranges=ranges, metrics=metrics, preset=preset, replay=replay,
        warmup=warmup, runs=runs, output=output, ncu=ncu, timeout=timeout, check=check, **options,
    )  # fmt: skip
    return NcuResult(map(_without_labels, found.results), found.filters)


def _without_labels(result: Profiled) -> Profiled:
    """A result with the range of the call, and those that the function emits."""
    shown = (r for r in result.ranges if r.domain != child.DOMAIN or r.name == child.CALL)
    return replace(result, ranges=tuple(shown))


def profile(
    function: Callable[..., Any],
    calls: Sequence[Call],
    *,
    ranges: str | RangeFilter | Iterable[str | RangeFilter] | None,
    metrics: Iterable[str],
    preset: str | None,
    replay: str,
    warmup: int,
    runs: int,
    output: str | os.PathLike[str] | None,
    ncu: str | None,
    timeout: float | None,
    check: bool = False,
    **options: Any,
) -> NcuResult:
    """Several calls of a function in one process under ncu; as `ncu` has them."""
    for name, number, least in (("warmup", warmup, 0), ("runs", runs, 1)):
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"{name} must be an int, not {number!r}")
        if number < least:
            raise ValueError(f"{name} must be {least} or more, not {number}")
    measured = list(metrics)
    if preset is None and not measured:
        preset = "quick"
    tool = find_tool("ncu", ncu)
    if tool is None:
        raise FileNotFoundError(
            f"no Nsight Compute: {ncu!r}" if ncu else
            "no Nsight Compute: there is no ncu where NVSPAN_NCU, PATH or its installer say"
        )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="nvspan-") as folder:
        _write(folder, function, calls, warmup, runs)
        program = [sys.executable, "-m", child.MODULE, folder]
        check = check and replay in AS_ONE
        filters, recording = _filters(ranges, program, folder, calls=check)
        if check:
            recording = recording or _recorded(program, folder, calls=True)
            _check(filters, recording, replay, options.get("calls"))
        report = os.path.join(folder, "report.ncu-rep")
        if output is not None:
            report = os.path.abspath(os.fspath(output)).removesuffix(".ncu-rep") + ".ncu-rep"
        log = os.path.join(folder, "ncu.txt")
        line = ncu_command(
            program, filters, metrics=measured, preset=preset, replay=replay, recording=None,
            output=report.removesuffix(".ncu-rep"), force=True, ncu=tool, **options,
        )  # fmt: skip
        at = line.index("--export")
        line[at:at] = ["--log-file", log]
        results = _run(line, report, tool, folder, timeout)
        result = NcuResult(results, [] if ranges is None else filters)
        said = _lines_of(log)
        findings = explain(Run(
            said=said, result=result, filters=filters, replay=replay, version=version_of(tool),
            metrics=[m for name in measured if "__" in name or name in METRICS
                     for m in METRICS.get(name, (name,))],
            recording=lambda: recording or _recorded(program, folder),
        )) if not len(result) else []  # fmt: skip
    if findings:
        raise NcuError("nothing was profiled\n" + "\n".join(as_lines(findings, lambda _: None)))
    return result


def _write(
    folder: str, function: Callable[..., Any], calls: Sequence[Call], warmup: int, runs: int
) -> None:
    try:
        import cloudpickle as pickler
    except ImportError:
        pickler = pickle
        if getattr(function, "__module__", None) == "__main__":
            raise TypeError(
                "a function of a script or notebook needs cloudpickle: pip install cloudpickle"
            ) from None
    with open(os.path.join(folder, child.CALLS_FILE), "wb") as file:
        pickle.dump([os.getcwd() if entry == "" else entry for entry in sys.path], file)
        try:
            pickler.dump((function, list(calls), warmup, runs), file)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise TypeError(f"the function and its arguments must be pickled: {error}") from None


def _filters(
    ranges: str | RangeFilter | Iterable[str | RangeFilter] | None,
    program: list[str],
    folder: str,
    *,
    calls: bool = False,
) -> tuple[list[RangeFilter], Recording | None]:
    if ranges is None:
        return [RangeFilter(child.CALL, domain=child.DOMAIN, span=True)], None
    items = [ranges] if isinstance(ranges, (str, RangeFilter)) else list(ranges)
    texts = [part for item in items if isinstance(item, str) for part in item.split(";")]
    if all(is_written_for_ncu(text.strip()) for text in texts):
        return filters_of(items, None), None
    try:
        recording = _recording_of(program, folder, calls=calls)
    except DryRunError as error:
        raise NcuError(_error_of(folder) or str(error)) from None
    return range_filters(items, recording), recording


def _check(
    filters: list[RangeFilter], recording: Recording | None, replay: str, calls: str | None
) -> None:
    """Warns of what a replay mode needs and ranges lack; NcuError: nothing would be profiled."""
    if recording is None:  # the run itself says why the function fails
        return
    checked = preflight(filters, recording, replay, calls)
    lines = as_lines([each for each in checked.findings if each.status == PROBLEM], lambda _: None)
    if checked.fails:
        raise NcuError("\n".join(["nothing would be profiled (check=False runs it)", *lines]))
    if lines and checked.unchecked is None:
        warnings.warn("\n".join([f"replay={replay!r}:", *lines]), _core.NvspanWarning, stacklevel=4)


def _recording_of(program: list[str], folder: str, *, calls: bool = False) -> Recording:
    """The whole of the calls, recorded without ncu; the recording is in memory."""
    found = dry_run(program, steps=1, is_enough=lambda found: False, folder=folder, calls=calls)
    return found.recording


def _recorded(program: list[str], folder: str, *, calls: bool = False) -> Recording | None:
    try:
        return _recording_of(program, folder, calls=calls)
    except (DryRunError, RuntimeError, OSError):
        return None


def _run(
    line: list[str], report: str, tool: str, folder: str, timeout: float | None
) -> tuple[Profiled, ...]:
    environment = {**os.environ}
    environment.pop(launch.INJECTION_VARIABLE, None)  # one of ours: ncu sets its own
    # A session of its own: what ncu has started ends with it.
    process = subprocess.Popen(
        line, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        output, errors = process.communicate(timeout=timeout)
    except BaseException:  # the time is over, or the user has had enough
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    if (error := _error_of(folder)) is not None:
        raise NcuError(f"the function failed:\n{error}")
    sys.stdout.write(output)
    sys.stderr.write(errors)
    if not os.path.exists(report):
        return ()
    return read_reports([report], ncu=tool).results


def _error_of(folder: str) -> str | None:
    try:
        with open(os.path.join(folder, child.ERROR_FILE), encoding="utf-8") as file:
            return file.read().rstrip()
    except OSError:
        return None


def _lines_of(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []
