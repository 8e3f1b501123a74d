// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The extension module nvspan._core: hot types and functions are raw CPython types, the rest is
// pybind11.
#include "bindings/module/module.hpp"

#include <pybind11/pybind11.h>

#include "annotate/event/switchboard.hpp"
#include "annotate/names/thread_names.hpp"
#include "annotate/tool/attachment.hpp"
#include "bindings/annotation/annotation_type.hpp"
#include "bindings/check/host.hpp"
#include "bindings/counter/object.hpp"
#include "bindings/decorate/registry/registry.hpp"
#include "bindings/device/handle.hpp"
#include "bindings/device/range_object.hpp"
#include "bindings/device/stream.hpp"
#include "bindings/event/event_attributes.hpp"
#include "bindings/event/thread_name.hpp"
#include "bindings/module/domain_type.hpp"
#include "bindings/profile/session.hpp"
#include "bindings/range/push_pop.hpp"
#include "bindings/range/range_handle.hpp"
#include "bindings/range/span_object.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/python_hooks.hpp"
#include "bindings/torch/backward/calls.hpp"
#include "bindings/torch/nvtx/functions.hpp"
#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace nvspan::bindings {

namespace {

void on_tool_changed(bool possible);

// False in a thread that Python does not know or that has released the GIL.
bool has_thread_state() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked() != nullptr;
#else
  return _PyThreadState_UncheckedGet() != nullptr;
#endif
}

int tell_tool_change(void*) {
  on_tool_changed(annotate::tool_possible());
  return 0;
}

// Runs in the thread that attached, detached or made the first annotation. One of NCCL's may not
// wait for the GIL: the main thread does it then.
void on_tool_changed(bool possible) {
  if (!has_thread_state()) {
    Py_AddPendingCall(tell_tool_change, nullptr);
    return;
  }
  py_error_scope scope;
  const std::string& problem = annotate::DomainSwitches::of_environment().problem();
  if (!problem.empty()) warn_once_quietly("switchboard", "%s; it is ignored", problem.c_str());
  if (decorated_set_listening(state().module, possible) < 0) PyErr_WriteUnraisable(state().module);
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

void add_contents(py::module_ m) {
  state().module = Py_NewRef(m.ptr());
  init_state();
  m.attr("NumberRangeError") = py::reinterpret_borrow<py::object>(state().range_error);
  m.attr("NvspanWarning") = py::reinterpret_borrow<py::object>(state().warning_type);
  m.attr("__version__") = NVSPAN_VERSION;
  m.attr("have_nvtx") = static_cast<bool>(NVSPAN_HAVE_NVTX);
  require(python_hooks_add_to_module(m.ptr()));
  require(domain_type_add_to_module(m.ptr()));
  require(attributes_object_add_to_module(m.ptr()));
  require(range_handle_add_to_module(m.ptr()));
  require(annotation_type_add_to_module(m.ptr()));
  require(ranges_add_to_module(m.ptr()));
  require(decorated_add_to_module(m.ptr()));
  require(span_object_add_to_module(m.ptr()));
  require(check_host_add_to_module(m.ptr()));
  require(profile_add_to_module(m.ptr()));
  require(counter_object_add_to_module(m.ptr()));
  require(device_stream_add_to_module(m.ptr()));
  require(device_handle_add_to_module(m.ptr()));
  require(device_range_object_add_to_module(m.ptr()));
  require(torch_nvtx_add_to_module(m.ptr()));
  require(torch_backward_add_to_module(m.ptr()));
  add_device_functions(m);
  add_process_functions(m);
  add_domain_functions(m);
  annotate::set_thread_namer(python_thread_name);
  annotate::set_tool_listener(on_tool_changed);
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

}  // namespace nvspan::bindings

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&nvspan::bindings::module_definition); }
