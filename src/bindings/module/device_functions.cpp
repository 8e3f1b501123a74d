// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/module/module.hpp"

#include <pybind11/stl.h>

#include "annotate/names/cuda_names.hpp"
#include "annotate/payload/deferred_batch.hpp"
#include "annotate/tool/attachment.hpp"
#include "bindings/event/event_fields.hpp"
#include "cuda/device_ranges.hpp"

namespace py = pybind11;

namespace nvspan::bindings {

void add_device_functions(py::module_& m) {
  m.def("device_available", [] { return cuda::available(); });
  m.def("device_problem", [] { return cuda::driver_problem(); });
  m.def("device_library", [] { return cuda::driver() ? cuda::driver_library() : std::string(); });
  m.def("name_cuda_object", [](const std::string& what, uint64_t handle, const py::str& name) {
    py_ref utf8 = py_ref::steal(escaped_utf8(name.ptr()));
    if (!utf8) throw py::error_already_set();
    const annotate::CudaObject kind = what == "device"   ? annotate::CudaObject::device
                                      : what == "stream" ? annotate::CudaObject::stream
                                                         : annotate::CudaObject::event;
    annotate::name_cuda_object(kind, handle, PyBytes_AS_STRING(utf8.get()));
  });
  m.def("named_cuda_objects", [] { return annotate::named_cuda_objects(); });
  m.def("device_flush", [](double seconds) {
    const released_gil released;
    return cuda::flush(seconds);
  });
  m.def("device_shut_down", [](double seconds) {
    const released_gil released;
    cuda::shut_down(seconds);
  });
  // What "auto" is with the tool that listens now; with `ask` the tool is asked. None: no tool.
  m.def("device_backend", [](bool ask) -> py::object {
    const annotate::ToolTable* tool =
        annotate::tool_decided() || ask ? annotate::listening_tool() : nullptr;
    if (!tool) return py::none();
    annotate::Domain& domain = annotate::Domain::get(nullptr);
    const bool exact = ask ? domain.connected(*tool) && annotate::takes_deferred(*tool, domain)
                           : annotate::may_take_deferred(*tool);
    return py::str(exact ? "exact" : "callback");
  });
  m.def("device_counts", [] {
    py::dict counts;
    for (size_t i = 0; i < cuda::outcomes; ++i) {
      counts[cuda::outcome_names[i]] = cuda::outcome_counts().get(static_cast<cuda::Outcome>(i));
    }
    return counts;
  });
}

}  // namespace nvspan::bindings
