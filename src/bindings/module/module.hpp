// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions of nvspan._core that the package's own modules call and that are not hot, by theme.

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include "annotate/event/domain.hpp"

namespace nvspan::bindings {

void add_process_functions(pybind11::module_& m);
void add_domain_functions(pybind11::module_& m);
void add_device_functions(pybind11::module_& m);

// For what calls CPython: below 0 an exception is set.
inline void require(int result) {
  if (result < 0) throw pybind11::error_already_set();
}

// The domain that an argument names; null for None, which stands for all of them.
annotate::Domain* domain_or_null(const pybind11::object& domain);

}  // namespace nvspan::bindings
