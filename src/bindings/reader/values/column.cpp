// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/support/py.hpp"

#include "bindings/reader/values/column.hpp"

#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/text.hpp"

#include <algorithm>
#include <string>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

const char* format_of(char type) {
  switch (type) {
    case 'C':
      return "B";
    case 'i':
      return "i";
    case 'I':
      return "I";
    case 'L':
      return "Q";
    case 'g':
      return "d";
    default:
      return "q";
  }
}

py::buffer_info buffer_of(const ColumnView& view) {
  const reader::Column& column = *view.column;
  const auto size = static_cast<py::ssize_t>(column.item_size());
  return py::buffer_info(const_cast<void*>(column.data), size, format_of(column.type), 1,
                         {static_cast<py::ssize_t>(column.length)}, {size}, true);
}

bool has_value(const reader::Column& column, std::size_t row) {
  return column.validity == nullptr || ((*column.validity)[row / 8] >> row % 8 & 1) != 0;
}

// A byte for each row of the stretch, 0 where it has no value.
py::bytes valid(const ColumnView& view, std::size_t begin, std::size_t end) {
  end = std::min(end, view.column->length);
  std::string bytes(begin < end ? end - begin : 0, 1);
  for (std::size_t i = begin; view.column->validity != nullptr && i < end; ++i) {
    bytes[i - begin] = static_cast<char>(has_value(*view.column, i));
  }
  return py::bytes(bytes);
}

}  // namespace

void bind_column(py::module_& module) {
  py::class_<ColumnView> column(module, "Column", py::buffer_protocol());
  column.def_buffer(&buffer_of)
      .def_property_readonly("name",
                             [](const ColumnView& view) { return text_of(view.column->name); })
      .def_property_readonly(
          "is_text", [](const ColumnView& view) { return view.column->dictionary != nullptr; })
      .def_property_readonly("null_count",
                             [](const ColumnView& view) { return view.column->null_count; });
  Methods(column)
      .def("is_null",
           [](const ColumnView& view, std::size_t row) {
             if (row >= view.column->length) throw py::index_error();
             return !has_value(*view.column, row);
           })
      .def("valid", &valid)
      .def("__len__", [](const ColumnView& view) { return view.column->length; });
}

}  // namespace nvspan::bindings
