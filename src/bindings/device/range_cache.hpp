// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// device_range objects of calls that come again with the same arguments, so that such a call makes
// nothing. Arguments are compared by identity; a call with an argument that may change, or that
// shall not be kept alive (a stream object), is not kept.

#include "bindings/support/py.hpp"
#include "bindings/support/call_arguments.hpp"

namespace nvspan::bindings {

// A new reference to the call's object if nobody else holds it; null: there is none.
PyObject* kept_range(const PythonCall& call) noexcept;

// For a call that kept_range() knew nothing of. Kept from the second such call on.
void keep_range(const PythonCall& call, PyObject* range);

}  // namespace nvspan::bindings
