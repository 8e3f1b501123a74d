// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/ranks/rank_heat.hpp"
#include "bindings/reader/values/methods.hpp"

#include <pybind11/stl.h>

#include "ranks/heat/heat.hpp"

#include <cstddef>

namespace py = pybind11;

namespace nvspan::bindings {

void bind_rank_heat(py::module_& module) {
  py::class_<ranks::Heat> heat(module, "RankHeat");
  heat.def(py::init<std::size_t, std::size_t, std::size_t, std::size_t>())
      .def_property_readonly("rows", &ranks::Heat::rows)
      .def_property_readonly("columns", &ranks::Heat::columns);
  Methods(heat).def("add", &ranks::Heat::add).def("bytes", [](const ranks::Heat& heat) {
    return py::bytes(heat.bytes());
  });
}

}  // namespace nvspan::bindings
