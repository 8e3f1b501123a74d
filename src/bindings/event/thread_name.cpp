// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/event/thread_name.hpp"

#include <cstring>
#include <utility>

#include "bindings/support/py.hpp"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace nvspan::bindings {

namespace {

// An item of a dict, or nothing; never an exception.
py_ref item(PyObject* dict, PyObject* key) noexcept {
  if (!dict || !key || !PyDict_Check(dict)) return {};
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* found = nullptr;
  if (PyDict_GetItemRef(dict, key, &found) < 0) PyErr_Clear();
  return py_ref::steal(found);
#else
  PyObject* found = PyDict_GetItemWithError(dict, key);
  if (!found) PyErr_Clear();
  return py_ref::borrow(found);
#endif
}

py_ref item(PyObject* dict, const char* key) noexcept {
  const py_ref text = py_ref::steal(PyUnicode_FromString(key));
  return item(dict, text.get());
}

// What a module has under a name; nothing if it has not been imported.
py_ref global(const char* module, const char* name) noexcept {
  const py_ref found = item(PyImport_GetModuleDict(), module);
  if (!found || !PyModule_Check(found.get())) return {};
  return item(PyModule_GetDict(found.get()), name);
}

// An attribute as `object` itself has it: a __getattr__ of its class is not called.
py_ref attribute(const py_ref& object, const char* name) noexcept {
  if (!object || object.get() == Py_None) return {};
  const py_ref text = py_ref::steal(PyUnicode_FromString(name));
  PyObject* found = text ? PyObject_GenericGetAttr(object.get(), text.get()) : nullptr;
  if (!found) PyErr_Clear();
  return py_ref::steal(found);
}

py_ref name_of_process() noexcept {
  const py_ref process = global("multiprocessing.process", "_current_process");
  const py_ref parent = attribute(process, "_parent_pid");
  if (!parent || parent.get() == Py_None) return {};
  const py_ref worker = attribute(global("torch.utils.data._utils.worker", "_worker_info"), "id");
  if (!worker || !PyLong_Check(worker.get())) return attribute(process, "_name");
  const long number = PyLong_AsLong(worker.get());
  if (number == -1 && PyErr_Occurred()) PyErr_Clear();
  return py_ref::steal(PyUnicode_FromFormat("DataLoader worker %ld", number));
}

bool is_first_thread() noexcept {
#if defined(__linux__)
  return syscall(SYS_gettid) == getpid();
#else
  return false;
#endif
}

py_ref name_of_thread() noexcept {
  const py_ref active = global("threading", "_active");
  if (!active && is_first_thread()) {  // `threading` has not been imported
    py_ref process = name_of_process();
    return process ? std::move(process) : py_ref::steal(PyUnicode_FromString("MainThread"));
  }
  const py_ref number = py_ref::steal(PyLong_FromUnsignedLong(PyThread_get_thread_ident()));
  const py_ref thread = item(active.get(), number.get());
  if (!thread) return {};
  if (thread.get() == global("threading", "_main_thread").get()) {
    py_ref process = name_of_process();
    if (process) return process;
  }
  return attribute(thread, "_name");
}

}  // namespace

size_t python_thread_name(char* name, size_t room) noexcept {
  if (PyGILState_Check() != 1 || interpreter_finalizing() ||
      PyInterpreterState_Get() != PyInterpreterState_Main()) {
    return 0;
  }
  const py_error_scope scope;
  const py_ref found = name_of_thread();
  if (!found || !PyUnicode_Check(found.get())) return 0;
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(found.get(), &length);
  if (!text) {
    PyErr_Clear();
    return 0;
  }
  auto size = static_cast<size_t>(length);
  if (const void* zero = std::memchr(text, 0, size)) {
    size = static_cast<size_t>(static_cast<const char*>(zero) - text);
  }
  if (size > room) {
    size = room;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  }
  std::memcpy(name, text, size);
  return size;
}

}  // namespace nvspan::bindings
