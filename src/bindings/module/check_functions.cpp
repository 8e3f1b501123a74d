// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/module/module.hpp"

#include "annotate/layers/check.hpp"
#include "bindings/check/host.hpp"

namespace py = pybind11;

namespace nvspan::bindings {

void add_check_functions(py::module_& m) {
  m.def("start_checking",
        [](bool strict, const std::string& folder) { start_check_mode(strict, folder.c_str()); });
  m.def("stop_checking", [] { annotate::stop_checking(); });
  m.def("checking", [] { return annotate::checking(); });
  m.def("check_at_exit", [] { annotate::check_at_exit(); });
  m.def("check_reports_lost", [] { return check_reports_lost(); });
  m.def("check_reports", [] {
    PyObject* list = check_report_list();
    if (!list) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(list);
  });
}

}  // namespace nvspan::bindings
