// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/values/methods.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace py = pybind11;

namespace nvspan::bindings {

void Methods::Method::arrange(const py::args& args, const py::kwargs& rest,
                              PyObject** given) const {
  const std::size_t fixed = takes_rest ? count - 1 : count;
  const std::size_t first_named = fixed - named.size();
  const std::size_t placed = args.size();
  if (placed > std::min(fixed, first_named + named_by_place)) throw py::reference_cast_error();
  std::size_t used = 0;
  for (std::size_t i = 0; i < fixed; ++i) {
    if (i < placed) {
      given[i] = PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i));
      continue;
    }
    if (i < first_named) throw py::reference_cast_error();
    const Parameter& parameter = named[i - first_named];
    given[i] = PyDict_GetItemString(rest.ptr(), parameter.name);
    if (given[i] != nullptr) {
      ++used;
    } else {
      given[i] = parameter.otherwise.ptr();
      if (given[i] == nullptr) throw py::reference_cast_error();
    }
  }
  if (takes_rest) {
    given[fixed] = rest.ptr();
  } else if (used != rest.size()) {
    throw py::reference_cast_error();
  }
}

void Methods::name_parameter(Method& method, const py::arg& parameter) {
  method.named.push_back(Parameter{parameter.name, py::object()});
}

void Methods::name_parameter(Method& method, const py::arg_v& parameter) {
  method.named.push_back(Parameter{parameter.name, parameter.value});
}

void Methods::name_parameter(Method& method, const py::kw_only&) {
  method.named_by_place = method.named.size();
}

void Methods::finish(const char* name, Method method) {
  const bool is_class = PyType_Check(owner_.ptr()) != 0;
  auto call = [method = std::make_shared<const Method>(std::move(method))](const py::args& args,
                                                                           const py::kwargs& rest) {
    std::array<PyObject*, most_parameters> given;
    method->arrange(args, rest, given.data());
    return method->call(*method, given.data());
  };
  if (is_class) {
    owner_.attr(name) = py::cpp_function(std::move(call), py::name(name), py::is_method(owner_));
  } else {
    owner_.attr(name) = py::cpp_function(std::move(call), py::name(name), py::scope(owner_));
  }
}

}  // namespace nvspan::bindings
