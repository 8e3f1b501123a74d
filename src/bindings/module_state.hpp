// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the extension module keeps for its life. Only the main interpreter may import the module, so
// one instance serves the process; it is never torn down, because daemon threads may still annotate
// while the interpreter goes away.

#include "bindings/py.hpp"
#include "bindings/call_arguments.hpp"

namespace nvspan {

struct ModuleState {
  PyTypeObject* annotate_type;
  PyTypeObject* domain_type;
  PyTypeObject* attributes_type;
  PyTypeObject* range_handle_type;
  PyObject* warning_type;              // nvspan.NvspanWarning
  PyObject* range_error;               // of a number out of range: a ValueError and OverflowError
  PyObject* domains;                   // dict: name, or (subclass, name) -> Domain
  PyObject* default_domain;            // Domain of NVTX's default domain
  PyObject* warned;                    // set: what warn_once has said
  PyObject* field_names[field_count];  // interned, in the order of Field
  PyObject* str_dunder_name;           // "__name__"
};

ModuleState& state() noexcept;

// Warns once per `topic`. 0, or -1 with an exception set (warnings may be errors).
int warn_once(const char* topic, const char* format, ...);

// As warn_once where no exception may leave: what the warning raises is reported as unraisable.
void warn_once_quietly(const char* topic, const char* format, ...) noexcept;

// Calls `nvspan.<module>.<function>(*args)`; a new reference or null with an exception set.
PyObject* call_python(const char* module, const char* function, PyObject* const* args,
                      Py_ssize_t count);

}  // namespace nvspan
