// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// The start/end range of one call, for generated bodies of kind "span": `d = START()` opens it,
// END(d) closes it; so does the end of the object, should END never run.

// Opens a range now. `annotation` may be null: then nothing opens. A new reference, or null with an
// exception set.
PyObject* open_span_new(PyObject* annotation);

// Makes the type and adds END to the builtins. 0, or -1 with an exception set.
int decorated_span_init();

}  // namespace nvspan::bindings
