# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Options of Nsight Compute that nvspan passes on, by their names without dashes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Options of which ncu prints something and ends; no program runs.
QUERY_FLAGS = (
    *("list-sets", "list-sections", "list-rules", "list-metrics", "list-chips"),
    *("query-metrics", "version"),
)
QUERY_VALUES = ("query-metrics-mode", "query-metrics-collection", "chips")
# How ncu prints a report.
PRINT_FLAGS = ("print-fp", "print-rule-details", "print-metric-attribution")
PRINT_VALUES = (
    *("print-summary", "print-details", "print-units", "print-source", "print-kernel-base"),
    *("print-metric-name", "print-metric-instances", "print-nvtx-rename", "resolve-source-file"),
    "view",
)
# Which results are chosen, of a run and of a report.
CHOICE_VALUES = (
    *("kernel-name", "kernel-name-base", "devices", "filter-mode", "range-filter"),
    *("launch-skip-before-match", "rename-kernels", "rename-kernels-path", "import-source"),
    "source-folders",
)
RUN_FLAGS = (
    *("call-stack", "support-32bit", "null-stdin", "disable-extra-suffixes", "quiet", "verbose"),
    *("disable-profiler-start-stop", "forward-signals", "lockstep-kernel-launch", "open-in-ui"),
    "section-folder-restore",
)
RUN_VALUES = (
    *("mode", "port", "max-connections", "hostname", "config-file", "config-file-path"),
    *("mps", "mps-num-clients", "mps-timeout", "check-exit-code", "kill", "preload-library"),
    *("injection-path-32", "injection-path-64", "call-stack-type", "target-processes-filter"),
    *("nvtx-push-pop-scope", "profile-from-start", "graph-profiling", "range-replay-options"),
    *("app-replay-buffer", "app-replay-match", "app-replay-mode", "rename-kernels-export"),
    *("native-include", "native-exclude", "python-include", "python-exclude"),
    *("section-folder", "section-folder-recursive", "rule", "apply-rules", "pipeline-boost-state"),
    *("pm-sampling-interval", "pm-sampling-buffer-size", "pm-sampling-max-passes"),
    *("warp-sampling-interval", "warp-sampling-buffer-size", "warp-sampling-max-passes"),
    *("sampling-interval", "sampling-buffer-size", "sampling-max-passes", "communicator"),
    *("communicator-num-peers", "communicator-tcp-num-peers", "communicator-shmem-num-peers"),
    *("lockstep-nvtx-include", "lockstep-nvtx-exclude"),
)
PAGES = ("details", "raw", "source", "session")
FLAGS = (*QUERY_FLAGS, *PRINT_FLAGS, *RUN_FLAGS)
VALUES = (*QUERY_VALUES, *PRINT_VALUES, *CHOICE_VALUES, *RUN_VALUES)
SHORT = {"version": "-v", "port": "-p"}


def words_of(options: Mapping[str, object], names: Iterable[str]) -> list[str]:
    """Options as words for ncu: `options` has lists of the values of each, and True for flags."""
    words = []
    for name in names:
        value = options.get(name.replace("-", "_"))
        if value is True:
            words.append(f"--{name}")
        elif isinstance(value, list):
            words += [word for each in value for word in (f"--{name}", each)]
    return words


def printing(options: Mapping[str, object]) -> list[str]:
    """How ncu is to print a report; nothing where nvspan's tables show what is asked for."""
    words = words_of(options, (*PRINT_FLAGS, *PRINT_VALUES))
    page = options["page"]
    if words or page not in (None, "details"):
        words = [*(["--page", str(page)] if page else []), *words]
        words += ["--csv"] if options["format"] == "csv" else []
    return words
