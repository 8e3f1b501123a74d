// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/device/stream.hpp"

#include <atomic>

#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

namespace {

constexpr size_t most_known_types = 16;
constexpr size_t most_sources = 8;

// Where to find the current stream of a framework other than torch.
struct StreamSource {
  PyObject* module;   // interned: the name of the module that shows that it is loaded
  PyObject* current;  // () -> handle, 0 for the default stream
};

// What is known of frameworks. Never freed.
struct Frameworks {
  PyObject* torch_stream;  // (device) -> handle of the current stream
  PyObject* torch_device;  // () -> the current device
  PyObject* name_torch;    // interned
  PyObject* name_cuda_stream;
  PyObject* name_device_index;
  StreamSource sources[most_sources];  // in the order in which they are asked
  std::atomic<size_t> source_count;
  PyTypeObject* known_types[most_known_types];
  size_t known_count;
};

Frameworks frameworks;

bool is_known(PyTypeObject* type) noexcept {
  for (size_t i = 0; i < frameworks.known_count; ++i) {
    if (frameworks.known_types[i] == type) return true;
  }
  return false;
}

void remember(PyTypeObject* type) noexcept {
#ifndef Py_GIL_DISABLED
  if (frameworks.known_count < most_known_types) {
    Py_INCREF(reinterpret_cast<PyObject*>(type));
    frameworks.known_types[frameworks.known_count++] = type;
  }
#else
  (void)type;
#endif
}

int from_int(PyObject* value, cuda::Target& target) {
  const unsigned long long handle = PyLong_AsUnsignedLongLong(value);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "stream must be a stream handle, not %R", value);
    return -1;
  }
  target.stream = reinterpret_cast<cuda::StreamHandle>(static_cast<uintptr_t>(handle));
  return 0;
}

// torch.cuda.Stream, the commonest: two attributes. False: it is something else.
bool from_torch(PyObject* stream, cuda::Target& target) noexcept {
  py_ref handle = py_ref::steal(PyObject_GetAttr(stream, frameworks.name_cuda_stream));
  py_ref device =
      py_ref::steal(handle ? PyObject_GetAttr(stream, frameworks.name_device_index) : nullptr);
  if (device && PyLong_Check(handle.get()) && PyLong_Check(device.get())) {
    target.device = static_cast<int>(PyLong_AsLong(device.get()));
    if (!PyErr_Occurred() && from_int(handle.get(), target) == 0) return true;
  }
  PyErr_Clear();
  return false;
}

int from_object(PyObject* stream, cuda::Target& target) {
  if (is_known(Py_TYPE(stream)) && from_torch(stream, target)) return 0;
  py_ref found = py_ref::steal(call_hook(&PythonHooks::stream_of, stream));
  if (!found) return -1;
  PyObject* handle = PyTuple_GET_ITEM(found.get(), 0);
  target.device = static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(found.get(), 1)));
  if (PyErr_Occurred() || from_int(handle, target) < 0) return -1;
  if (!is_known(Py_TYPE(stream))) remember(Py_TYPE(stream));
  return 0;
}

bool loaded(PyObject* modules, PyObject* name) noexcept {
  return PyDict_GetItemWithError(modules, name) != nullptr;
}

int find_torch() {
  py_ref found = py_ref::steal(call_hook(&PythonHooks::find_torch_streams));
  if (!found) return -1;
  if (found.get() == Py_None) return 0;
  frameworks.torch_device = Py_NewRef(PyTuple_GET_ITEM(found.get(), 1));
  frameworks.torch_stream = Py_NewRef(PyTuple_GET_ITEM(found.get(), 0));
  return 0;
}

int current_torch_stream(cuda::Target& target) {
  target.device = cuda::current_device();
  py_ref device = py_ref::steal(target.device >= 0 ? PyLong_FromLong(target.device)
                                                   : PyObject_CallNoArgs(frameworks.torch_device));
  if (!device) return -1;
  if (target.device < 0) target.device = static_cast<int>(PyLong_AsLong(device.get()));
  py_ref handle = py_ref::steal(PyObject_CallOneArg(frameworks.torch_stream, device.get()));
  if (!handle || PyErr_Occurred()) return -1;
  return from_int(handle.get(), target);
}

int current_stream(cuda::Target& target) {
  PyObject* modules = PyImport_GetModuleDict();  // borrowed
  if (!frameworks.torch_stream && loaded(modules, frameworks.name_torch) && find_torch() < 0) {
    return -1;
  }
  if (frameworks.torch_stream) {
    if (current_torch_stream(target) < 0) return -1;
    if (target.stream) return 0;
  }
  const size_t count = frameworks.source_count.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    const StreamSource& source = frameworks.sources[i];
    if (!loaded(modules, source.module)) continue;
    py_ref handle = py_ref::steal(PyObject_CallNoArgs(source.current));
    if (!handle || from_int(handle.get(), target) < 0) return -1;
    if (target.stream) return 0;
  }
  return 0;
}

// _add_stream_source(module, current): from now on the framework whose `module` is loaded is asked
// for its current stream, after those that were added before.
PyObject* add_stream_source(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2 || !PyUnicode_CheckExact(args[0]) || !PyCallable_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, "_add_stream_source() takes a module's name and a function");
    return nullptr;
  }
  const py_section section(state().module);
  const size_t count = frameworks.source_count.load(std::memory_order_relaxed);
  for (size_t i = 0; i < count; ++i) {
    if (PyUnicode_Compare(frameworks.sources[i].module, args[0]) != 0) continue;
    frameworks.sources[i].current = Py_NewRef(args[1]);  // a thread may be calling the one before
    Py_RETURN_NONE;
  }
  if (count == most_sources) {
    return PyErr_Format(PyExc_RuntimeError, "at most %zu stream sources can be added", count);
  }
  PyObject* module = Py_NewRef(args[0]);
  PyUnicode_InternInPlace(&module);
  frameworks.sources[count] = {module, Py_NewRef(args[1])};
  frameworks.source_count.store(count + 1, std::memory_order_release);
  Py_RETURN_NONE;
}

PyObject* stream_target(PyObject*, PyObject* stream) {
  cuda::Target target;
  if (resolve_stream(stream, target) < 0) return nullptr;
  return Py_BuildValue("(Ki)",
                       static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(target.stream)),
                       target.device);
}

PyMethodDef stream_functions[] = {
    {"_add_stream_source", as_method(add_stream_source), METH_FASTCALL, nullptr},
    {"_stream_target", as_method(stream_target), METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int check_stream(PyObject* stream) {
  if (!stream || stream == Py_None || is_known(Py_TYPE(stream))) return 0;
  cuda::Target ignored;
  return resolve_stream(stream, ignored);
}

int resolve_stream(PyObject* stream, cuda::Target& target) {
  if (!stream || stream == Py_None) return current_stream(target);
  if (PyLong_CheckExact(stream)) return from_int(stream, target);
  return from_object(stream, target);
}

int device_stream_add_to_module(PyObject* module) {
  if (intern_names({{&frameworks.name_torch, "torch"},
                    {&frameworks.name_cuda_stream, "cuda_stream"},
                    {&frameworks.name_device_index, "device_index"}}) < 0) {
    return -1;
  }
  return PyModule_AddFunctions(module, stream_functions);
}

}  // namespace nvspan::bindings
