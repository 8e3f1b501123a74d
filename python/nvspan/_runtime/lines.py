# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""How often lines are sampled, and the environment in which Python processes begin to."""

from __future__ import annotations

import os
import sys

LINES_VARIABLE = "NVSPAN_RECORD_LINES"
"""The variable that says how often the stacks of a recorded process are sampled."""

_MODULE_VARIABLE = "NVSPAN_LINES_MODULE"
_LOWEST, _HIGHEST = 1, 10_000
_ARMED = -1  # a period: the sampler waits for `nvspan attach --lines`


def period_of(rate: float | str) -> int | None:
    """The ns from one sample to the next; 0: as often as a two-hundredth of a processor allows;
    -1: none before another process asks for them; None: none.

    Raises:
        ValueError: neither a number of samples a second, nor "auto", "armed" or "off".
        TypeError: neither a number nor a str.
    """
    if rate == "off" or rate is False:
        return None
    if rate == "auto" or rate is True:
        return 0
    if rate == "armed":
        return _ARMED
    if not isinstance(rate, (int, float, str)):
        raise TypeError(f"lines must be a number of samples a second, not {rate!r}")
    try:
        number = float(rate)
    except ValueError:
        number = 0.0
    if not _LOWEST <= number <= _HIGHEST:
        raise ValueError(
            f"lines must be {_LOWEST:,} to {_HIGHEST:,} samples a second, auto, armed or off, "
            f"not {rate!r}"
        )
    return int(1e9 / number)


def unproved() -> str | None:
    """What this Python is, where sampling was not proved and is off until it is asked for."""
    import platform
    import sysconfig  # imports threading, which `import nvspan` does not

    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "Python without the GIL"
    machine = platform.machine().lower()
    return None if machine in ("x86_64", "amd64") else machine


def extension_file() -> str | None:
    """The file of `nvspan._lines`; None: this build has none."""
    from importlib.util import find_spec

    spec = find_spec("nvspan._lines")
    return None if spec is None or spec.origin is None else os.path.abspath(spec.origin)


def add_to_environment(environment: dict[str, str], rate: str) -> None:
    """Has the Python processes of `environment` sampled, by a module that they import first; none
    of them where `rate` is "off".
    """
    path = extension_file()
    if path is None or rate == "off":
        environment.pop(LINES_VARIABLE, None)
        return
    environment[LINES_VARIABLE] = rate
    environment[_MODULE_VARIABLE] = path
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_startup")
    inherited = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if folder not in inherited:
        environment["PYTHONPATH"] = os.pathsep.join([folder, *inherited])


def start(library: str, period: int) -> str | None:
    """Begins to sample this process. None, or why it cannot."""
    try:
        from nvspan import _lines
    except ImportError:
        return "this build of nvspan has no sampler"
    return _lines.start(library, period)


def stop() -> None:
    """Ends what `start` began, if anything."""
    module = sys.modules.get("nvspan._lines")
    if module is not None:
        module.stop()
