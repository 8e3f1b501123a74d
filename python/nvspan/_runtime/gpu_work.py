# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded of GPUs, and the environment in which CUDA finds the recorder."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping

CUDA_VARIABLE = "NVSPAN_RECORD_CUDA"
"""The variable that says what is recorded of the GPUs of a recorded process."""

_INJECTION_VARIABLE = "CUDA_INJECTION64_PATH"
_CHOICES = ("auto", "kernels", "api", "memory", "graphs", "all")


def check_choice(cuda: str) -> str:
    """`cuda`, if the recorder knows it.

    Raises:
        ValueError: neither "off" nor one or more of "auto", "kernels", "api", "memory", "graphs"
            and "all", with commas.
    """
    if cuda != "off" and not all(part in _CHOICES for part in cuda.split(",")):
        raise ValueError(f"cuda must be {', '.join(_CHOICES)} or off, not {cuda!r}")
    return cuda


def add_to_environment(
    environment: MutableMapping[str, str], cuda: str | None, library: str
) -> bool:
    """Has the CUDA driver load `library` when a program of `environment` begins to use CUDA, where
    `cuda`, or, if that is None, the environment itself, wants its GPUs recorded.

    False: nothing is wanted, or CUDA loads another tool, which is left alone.
    """
    if cuda is None:
        cuda = environment.get(CUDA_VARIABLE) or "off"
    if cuda == "off" or environment.get(_INJECTION_VARIABLE):
        return False
    environment[_INJECTION_VARIABLE] = library
    return True


def lend_cupti() -> None:
    """Has other users of CUPTI in this process have it while they need it."""
    from nvspan._runtime import registry

    for lend in registry.cupti_lenders:
        lend()


def lend_cupti_as_environment_says() -> None:
    """The same, where CUDA loads the recorder. It is called by ``import nvspan``."""
    library = os.environ.get(_INJECTION_VARIABLE)
    if library and os.path.basename(library).startswith("libnvspan_inject"):
        lend_cupti()


def remove_from_environment() -> None:
    """Undoes what `add_to_environment` did to this process's environment."""
    os.environ.pop(_INJECTION_VARIABLE, None)
