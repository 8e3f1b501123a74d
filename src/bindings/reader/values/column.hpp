// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A column of a recording as Python sees it: memoryview(column) shares its memory.

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include "reader/tables/columns.hpp"

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace nvspan::bindings {

struct ColumnView {
  std::shared_ptr<const reader::Column> column;
};

// A column of its own.
template <typename Vector>
ColumnView view_of(Vector values) {
  static_assert(std::is_same_v<typename Vector::value_type, std::int64_t>);
  auto data = std::make_shared<Vector>(std::move(values));
  auto column = std::make_shared<reader::Column>();
  column->data = data->data();
  column->length = data->size();
  column->owner = data;
  return ColumnView{std::move(column)};
}

void bind_column(pybind11::module_& module);

}  // namespace nvspan::bindings
