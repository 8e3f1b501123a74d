// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The tool, what is switched on, the names of threads, check mode and torch's own ranges.
#include "bindings/module/module.hpp"

#include <pybind11/stl.h>

#include <optional>

#include "annotate/event/open_ranges.hpp"
#include "annotate/event/switchboard.hpp"
#include "annotate/layers/check.hpp"
#include "annotate/layers/mirror.hpp"
#include "annotate/names/thread_names.hpp"
#include "annotate/tool/attachment.hpp"
#include "bindings/annotation/annotation.hpp"
#include "bindings/check/host.hpp"
#include "bindings/torch/nvtx/mirror.hpp"

namespace py = pybind11;

namespace nvspan::bindings {

namespace {

// None is the whole process here, so the default domain is named by its object.
void set_enabled(bool enabled, const py::object& domain) {
  annotate::Domain* one = domain_or_null(domain);
  if (one)
    one->set_enabled(enabled);
  else
    annotate::set_annotations_enabled(enabled);
}

void pause(int change, const py::object& domain) {
  annotate::Domain* one = domain_or_null(domain);
  if (one)
    one->pause(change);
  else
    annotate::pause_annotations(change);
}

bool is_active(const py::object& domain) {
  annotate::Domain* one = domain_or_null(domain);
  const annotate::ToolTable* tool = annotate::listening_tool();
  return tool && (tool->reaches_tool || annotate::mirroring()) && (!one || one->connected(*tool));
}

}  // namespace

void add_process_functions(py::module_& m) {
  m.def("attach", [](const std::string& library, const std::string& config) {
    const std::string problem = annotate::attach_tool(library, config);
    if (!problem.empty()) throw std::runtime_error("cannot attach: " + problem);
  });
  m.def("detach", [] { annotate::detach_tool(); });
  m.def("tool_attached", [] {
    return annotate::tool_decided() && annotate::real_tool() && annotate::annotations_enabled();
  });
  m.def("listening", [] { return listening(); });
  m.def("decided", [] { return decided(); });
  m.def("enabled", [] { return !annotate::disabled_by_environment(); });
  m.def("set_enabled", set_enabled, py::arg("enabled"), py::arg("domain") = py::none());
  m.def("pause", pause, py::arg("change"), py::arg("domain") = py::none());
  m.def("is_active", is_active, py::arg("domain") = py::none());
  m.def("name_thread", [](const std::string& name, std::optional<uint32_t> native_id) {
    annotate::name_thread(native_id ? *native_id : annotate::native_thread_id(), name);
  });
  m.def("forget_thread", [](uint32_t native_id) { annotate::forget_thread(native_id); });
  m.def("has_thread_name", [](uint32_t native_id) { return annotate::has_thread_name(native_id); });
  m.def("named_threads", [] { return annotate::named_threads(); });
  m.def("dropped_pushes", [] { return annotate::dropped_pushes(); });
  m.def("tool_library", [] { return annotate::tool_library(); });
  m.def("switchboard_problem", [] { return annotate::DomainSwitches::of_environment().problem(); });
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
  m.def("torch_emit_enable", [](bool enable) { torch_emit_enable(enable); });
  m.def("torch_emit_enabled", [] { return torch_emit_enabled(); });
  m.def("torch_profiler_started",
        [](const py::object& record_function) { torch_profiler_started(record_function.ptr()); });
  m.def("torch_profiler_stopping", [] { torch_profiler_stopping(); });
  m.def("torch_profiler_stopped", [] { torch_profiler_stopped(); });
}

}  // namespace nvspan::bindings
