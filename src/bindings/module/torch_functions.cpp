// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/module/module.hpp"

#include "bindings/torch/nvtx/mirror.hpp"

namespace py = pybind11;

namespace nvspan::bindings {

void add_torch_functions(py::module_& m) {
  m.def("torch_emit_enable", [](bool enable) { torch_emit_enable(enable); });
  m.def("torch_emit_enabled", [] { return torch_emit_enabled(); });
  m.def("torch_profiler_started",
        [](const py::object& record_function) { torch_profiler_started(record_function.ptr()); });
  m.def("torch_profiler_stopping", [] { torch_profiler_stopping(); });
  m.def("torch_profiler_stopped", [] { torch_profiler_stopped(); });
}

}  // namespace nvspan::bindings
