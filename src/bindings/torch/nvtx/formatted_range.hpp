// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// `range(msg, *args, **kwargs)` of nvspan.torch.nvtx, where the message is formatted.

#include "bindings/support/py.hpp"
#include "bindings/annotation/annotation.hpp"

namespace nvspan::bindings {

// Adds the type as `_FormattedRange`. 0, or -1 with an exception set.
int torch_range_add_to_module(PyObject* module);

// A range whose message is `args[0].format(*rest)`, formatted each time that it is entered while a
// tool listens. `args[0]` is a str. `options` has the other attributes, or is null; its reference
// is taken over. A new reference, or null with an exception set.
PyObject* formatted_range(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                          Annotation* options);

// torch's events carry no color unless one is given.
inline void without_default_color(EventFields& fields) noexcept {
  if (!fields.color || fields.color == Py_None) {
    fields.event.attributes.colorType = NVTX_COLOR_UNKNOWN;
  }
}

}  // namespace nvspan::bindings
