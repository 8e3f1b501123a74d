// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The extension module nvspan._core: hot types and functions are raw CPython types, the rest is
// pybind11.
#include "bindings/py.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>

#include "annotate/cuda_names.hpp"
#include "annotate/deferred.hpp"
#include "annotate/emit.hpp"
#include "annotate/switchboard.hpp"
#include "annotate/thread_names.hpp"
#include "annotate/tool.hpp"
#include "bindings/annotate_object.hpp"
#include "bindings/attributes_object.hpp"
#include "bindings/check_host.hpp"
#include "bindings/counter_object.hpp"
#include "bindings/decorated_registry.hpp"
#include "bindings/device_handle.hpp"
#include "bindings/device_range_object.hpp"
#include "bindings/device_stream.hpp"
#include "bindings/domain_object.hpp"
#include "bindings/event_fields.hpp"
#include "bindings/module_state.hpp"
#include "bindings/profile_session.hpp"
#include "bindings/range_handle.hpp"
#include "bindings/ranges.hpp"
#include "bindings/span_object.hpp"
#include "bindings/torch_backward.hpp"
#include "bindings/torch_emit.hpp"
#include "bindings/torch_nvtx.hpp"
#include "cuda/device_range.hpp"

namespace py = pybind11;

namespace nvspan {

namespace {

PyObject* module_object;  // for the listener; never freed

void check(int result) {
  if (result < 0) throw py::error_already_set();
}

// Runs in the thread that attached, detached or made the first annotation, which holds the GIL.
void on_tool_changed(bool possible) {
  py_error_scope scope;
  const std::string& problem = Switchboard::of_environment().problem();
  if (!problem.empty()) warn_once_quietly("switchboard", "%s; it is ignored", problem.c_str());
  if (decorated_set_listening(module_object, possible) < 0) PyErr_WriteUnraisable(module_object);
  profile_tool_changed(possible);
}

void init_state() {
  ModuleState& module_state = state();
  static const char* const names[] = {"message", "color", "domain",    "category", "payload",
                                      "kind",    "level", "name_from", "device",   "sync"};
  static_assert(sizeof(names) / sizeof(names[0]) == field_count);
  for (unsigned i = 0; i < field_count; ++i) {
    module_state.field_names[i] = PyUnicode_InternFromString(names[i]);
    if (!module_state.field_names[i]) throw py::error_already_set();
  }
  module_state.warned = PySet_New(nullptr);
  module_state.warning_type =
      PyErr_NewExceptionWithDoc("nvspan.NvspanWarning",
                                "What nvspan warns with: input that cannot be sent, names that "
                                "overflow, callables that fail.",
                                PyExc_UserWarning, nullptr);
  if (!module_state.warned || !module_state.warning_type) throw py::error_already_set();
  const py_ref bases = py_ref::steal(PyTuple_Pack(2, PyExc_ValueError, PyExc_OverflowError));
  module_state.range_error =
      bases ? PyErr_NewExceptionWithDoc("nvspan.NumberRangeError",
                                        "A number is too small or too large for its place in an "
                                        "event: a ValueError, and an OverflowError as nvtx has it.",
                                        bases.get(), nullptr)
            : nullptr;
  if (!module_state.range_error) throw py::error_already_set();
}

uint32_t color_to_argb(py::handle color) {
  uint32_t argb = 0;
  check(color_from_object(color.ptr(), argb));
  return argb;
}

uint64_t string_handle(py::handle domain, py::handle string) {
  EventFields fields;
  set_domain(fields, domain.ptr());
  const ToolTable* tool = listening_tool();
  uint64_t handle = 0;
  const int result = set_message(fields, string.ptr(), false);
  Outgoing out;
  if (result == 0 && tool && arm(fields.event, *tool, out) &&
      out.attributes.messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
    handle = reinterpret_cast<uintptr_t>(out.attributes.message.registered);
  }
  clear_fields(fields);
  check(result);
  return handle;
}

// For a RegisteredString.
void request_message(py::handle domain, py::handle string) {
  EventFields fields;
  set_domain(fields, domain.ptr());
  const int result = set_message(fields, string.ptr(), false);
  if (result == 0 && fields.event.text) {
    fields.event.domain->request_message({fields.event.text, fields.event.text_size});
  }
  clear_fields(fields);
  check(result);
}

Domain* domain_or_null(const py::object& domain) {
  if (domain.is_none()) return nullptr;
  PyObject* found = domain_from_object(domain.ptr());
  if (!found) throw py::error_already_set();
  return reinterpret_cast<DomainObject*>(found)->core;
}

void set_message_limit(size_t limit, const py::object& domain) {
  if (limit == 0) throw py::value_error("limit must be at least 1, not 0");
  Domain* one = domain_or_null(domain);
  if (one)
    one->set_message_limit(limit);
  else
    Domain::set_default_message_limit(limit);
}

// None is the whole process here, so the default domain is named by its object.
void set_enabled(bool enabled, const py::object& domain) {
  Domain* one = domain_or_null(domain);
  if (one)
    one->set_enabled(enabled);
  else
    set_annotations_enabled(enabled);
}

void name_category_id(uint32_t id, const py::str& name, const py::object& domain) {
  PyObject* owner = domain_from_object(domain.ptr());
  if (!owner) throw py::error_already_set();
  py_ref utf8 = py_ref::steal(escaped_utf8(name.ptr()));
  if (!utf8) throw py::error_already_set();
  Domain* core = reinterpret_cast<DomainObject*>(owner)->core;
  if (!core->name_category_id(id, PyBytes_AS_STRING(utf8.get()))) {
    throw py::value_error("category " + std::to_string(id) + " or name '" +
                          PyBytes_AS_STRING(utf8.get()) + "' is taken in this domain");
  }
}

void pause(int change, const py::object& domain) {
  Domain* one = domain_or_null(domain);
  if (one)
    one->pause(change);
  else
    pause_annotations(change);
}

bool is_active(const py::object& domain) {
  Domain* one = domain_or_null(domain);
  const ToolTable* tool = listening_tool();
  return tool && (tool->reaches_tool || emitting()) && (!one || one->connected(*tool));
}

void add_device_functions(py::module_& m) {
  m.def("device_available", [] { return cuda::available(); });
  m.def("device_problem", [] { return cuda::driver_problem(); });
  m.def("device_library", [] { return cuda::driver() ? cuda::driver_library() : std::string(); });
  m.def("name_cuda_object", [](const std::string& what, uint64_t handle, const py::str& name) {
    py_ref utf8 = py_ref::steal(escaped_utf8(name.ptr()));
    if (!utf8) throw py::error_already_set();
    const CudaObject kind = what == "device"   ? CudaObject::device
                            : what == "stream" ? CudaObject::stream
                                               : CudaObject::event;
    name_cuda_object(kind, handle, PyBytes_AS_STRING(utf8.get()));
  });
  m.def("named_cuda_objects", [] { return named_cuda_objects(); });
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
    const ToolTable* tool = tool_decided() || ask ? listening_tool() : nullptr;
    if (!tool) return py::none();
    Domain& domain = Domain::get(nullptr);
    const bool exact =
        ask ? domain.connected(*tool) && takes_deferred(*tool, domain) : may_take_deferred(*tool);
    return py::str(exact ? "exact" : "callback");
  });
  m.def("device_counts", [] {
    py::dict counts;
    for (size_t i = 0; i < cuda::count_names_size; ++i) {
      counts[cuda::count_names[i]] = cuda::counters().get(static_cast<cuda::Count>(i));
    }
    return counts;
  });
}

void add_contents(py::module_ m) {
  module_object = m.ptr();
  Py_INCREF(module_object);
  init_state();
  m.attr("NumberRangeError") = py::reinterpret_borrow<py::object>(state().range_error);
  m.attr("NvspanWarning") = py::reinterpret_borrow<py::object>(state().warning_type);
  m.attr("__version__") = NVSPAN_VERSION;
  m.attr("have_nvtx") = static_cast<bool>(NVSPAN_HAVE_NVTX);
  check(domain_object_add_to_module(m.ptr()));
  check(attributes_object_add_to_module(m.ptr()));
  check(range_handle_add_to_module(m.ptr()));
  check(annotate_object_add_to_module(m.ptr()));
  check(ranges_add_to_module(m.ptr()));
  check(decorated_add_to_module(m.ptr()));
  check(span_object_add_to_module(m.ptr()));
  check(check_host_add_to_module(m.ptr()));
  check(profile_add_to_module(m.ptr()));
  check(counter_object_add_to_module(m.ptr()));
  check(device_stream_add_to_module(m.ptr()));
  check(device_handle_add_to_module(m.ptr()));
  check(device_range_object_add_to_module(m.ptr()));
  check(torch_nvtx_add_to_module(m.ptr()));
  check(torch_backward_add_to_module(m.ptr()));
  add_device_functions(m);
  set_tool_listener(on_tool_changed);

  m.def(
      "get_domain",
      [](const py::object& name) {
        PyObject* domain = domain_from_object(name.ptr());
        if (!domain) throw py::error_already_set();
        return py::reinterpret_borrow<py::object>(domain);
      },
      py::arg("name") = py::none());
  m.def("attach", [](const std::string& library, const std::string& config) {
    const std::string problem = attach_tool(library, config);
    if (!problem.empty()) throw std::runtime_error("cannot attach: " + problem);
  });
  m.def("detach", [] { detach_tool(); });
  m.def("tool_attached", [] { return tool_decided() && real_tool() && annotations_enabled(); });
  m.def("listening", [] { return listening(); });
  m.def("decided", [] { return decided(); });
  m.def("enabled", [] { return !disabled_by_environment(); });
  m.def("set_enabled", set_enabled, py::arg("enabled"), py::arg("domain") = py::none());
  m.def("pause", pause, py::arg("change"), py::arg("domain") = py::none());
  m.def("is_active", is_active, py::arg("domain") = py::none());
  m.def("name_thread", [](const std::string& name, std::optional<uint32_t> native_id) {
    name_thread(native_id ? *native_id : native_thread_id(), name);
  });
  m.def("forget_thread", [](uint32_t native_id) { forget_thread(native_id); });
  m.def("name_category", name_category_id);
  m.def("set_default_enabled", [](const py::object& domain, bool enabled) {
    domain_or_null(domain)->set_default_enabled(enabled);
  });
  m.def("all_domains", [] {
    PyObject* domains = PyDict_Values(state().domains);
    if (!domains) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(domains);
  });
  m.def("has_thread_name", [](uint32_t native_id) { return has_thread_name(native_id); });
  m.def("named_threads", [] { return named_threads(); });
  m.def("dropped_pushes", [] { return dropped_pushes(); });
  m.def("tool_library", [] { return tool_library(); });
  m.def("switchboard_problem", [] { return Switchboard::of_environment().problem(); });
  m.def("start_checking",
        [](bool strict, const std::string& folder) { start_check_mode(strict, folder.c_str()); });
  m.def("stop_checking", [] { stop_checking(); });
  m.def("checking", [] { return checking(); });
  m.def("torch_emit_enable", [](bool enable) { torch_emit_enable(enable); });
  m.def("torch_emit_enabled", [] { return torch_emit_enabled(); });
  m.def("torch_profiler_started",
        [](const py::object& record_function) { torch_profiler_started(record_function.ptr()); });
  m.def("torch_profiler_stopping", [] { torch_profiler_stopping(); });
  m.def("torch_profiler_stopped", [] { torch_profiler_stopped(); });
  m.def("check_at_exit", [] { check_at_exit(); });
  m.def("check_reports_lost", [] { return check_reports_lost(); });
  m.def("check_reports", [] {
    PyObject* list = check_report_list();
    if (!list) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(list);
  });
  m.def("color_to_argb", color_to_argb);
  m.def("string_handle", string_handle);
  m.def("request_message", request_message);
  m.def("set_message_limit", set_message_limit, py::arg("limit"), py::arg("domain") = py::none());
}

int exec_module(PyObject* module) {
  // Checked before pybind11 does anything: its start-up waits for ever in another interpreter.
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError,
                    "nvspan can be imported in the main interpreter only: an NVTX tool belongs to "
                    "the process");
    return -1;
  }
  try {
    py::detail::get_internals();
    add_contents(py::reinterpret_borrow<py::module_>(module));
    return 0;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_ImportError, error.what());
  }
  return -1;
}

PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(exec_module)},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr}};

PyModuleDef module_definition = {PyModuleDef_HEAD_INIT, "nvspan._core", nullptr, 0,      nullptr,
                                 module_slots,          nullptr,        nullptr, nullptr};

}  // namespace

}  // namespace nvspan

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&nvspan::module_definition); }
