// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A column of a recording as Python sees it: memoryview(column) shares its memory.

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include "reader/tables/columns.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace nvspan::bindings {

struct ColumnView {
  std::shared_ptr<const reader::Column> column;
};

// A column of its own.
ColumnView view_of(std::vector<std::int64_t> values);

void bind_column(pybind11::module_& module);

}  // namespace nvspan::bindings
