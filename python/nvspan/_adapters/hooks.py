# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of this package that the extension module calls, imported at their first call."""

from __future__ import annotations

from nvspan._lazy import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The names are those of PythonHooks in src/bindings/support/python_hooks.hpp.
HOOKS = {
    "annotate_class": "nvspan._decorate:annotate_class",
    "carried_over": "nvspan._decorate.codegen:carried_over",
    "color_from_object": "nvspan.colors:_color_from_object",
    "copy_callable": "nvspan._decorate.callables:copy_callable",
    "counter_meaning": "nvspan._adapters.numpy:counter_meaning",
    "decorate": "nvspan._decorate.dispatch:decorate",
    "decorate_with_device_range": "nvspan._decorate.device:decorate",
    "decorate_with_torch_range": "nvspan.torch.nvtx:_decorate",
    "domain_handle": "nvspan._compat.handles:domain_handle",
    "dtype_layout": "nvspan._adapters.numpy:dtype_layout",
    "event_batch": "nvspan._adapters.numpy:event_batch",
    "fields_layout": "nvspan._adapters.numpy:fields_layout",
    "find_torch_streams": "nvspan._adapters.torch:find_streams",
    "generate": "nvspan._decorate.codegen:generate",
    "get_counter": "nvspan.counters:_get_counter",
    "number_column": "nvspan._adapters.numpy:number_column",
    "reduce_callable": "nvspan._decorate.callables:reduce_callable",
    "registered_string": "nvspan._compat.handles:registered_string",
    "scalar": "nvspan._decorate.payload_values:scalar",
    "stream_of": "nvspan._device.streams:stream_of",
    "wait_for_device_range": "nvspan._device.awaiting:wait",
}


def load_hook(name: str) -> Callable[..., Any]:
    hook: Callable[..., Any] = load(HOOKS[name])
    return hook
