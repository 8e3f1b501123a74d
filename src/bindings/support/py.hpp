// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The only header that includes Python.h. Everything Python-aware goes through it.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#if PY_VERSION_HEX < 0x030B0000
#include <frameobject.h>
#endif

#include <mutex>
#include <utility>

namespace nvspan::bindings {

// Guards what the GIL guards where there is one, and costs nothing there.
#ifdef Py_GIL_DISABLED
using object_mutex = std::mutex;
#else
struct object_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};
#endif

// What the GIL is around calls into Python: without it a critical section of CPython's, which is
// let go while the thread waits or when the interpreter ends it, as no mutex is. `object` may be
// any that nobody else locks; null: no section.
class py_section {
 public:
#ifdef Py_GIL_DISABLED
  explicit py_section(PyObject* object) noexcept : entered_(object != nullptr) {
    if (entered_) PyCriticalSection_Begin(&section_, object);
  }
  ~py_section() {
    if (entered_) PyCriticalSection_End(&section_);
  }

 private:
  bool entered_;
  PyCriticalSection section_;

 public:
#else
  explicit py_section(PyObject*) noexcept {}
  ~py_section() {}
#endif
  py_section(const py_section&) = delete;
  py_section& operator=(const py_section&) = delete;
};

// An owning reference to a Python object, or nothing.
class py_ref {
 public:
  py_ref() noexcept = default;
  static py_ref steal(PyObject* object) noexcept { return py_ref(object); }
  static py_ref borrow(PyObject* object) noexcept {
    Py_XINCREF(object);
    return py_ref(object);
  }
  py_ref(py_ref&& other) noexcept : object_(other.release()) {}
  py_ref& operator=(py_ref&& other) noexcept {
    PyObject* old = std::exchange(object_, other.release());
    Py_XDECREF(old);
    return *this;
  }
  py_ref(const py_ref&) = delete;
  py_ref& operator=(const py_ref&) = delete;
  ~py_ref() { Py_XDECREF(object_); }

  PyObject* get() const noexcept { return object_; }
  PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  explicit py_ref(PyObject* object) noexcept : object_(object) {}
  PyObject* object_ = nullptr;
};

// Holds the exception that is being raised, if any, and puts it back at the end of the scope: for
// code that runs Python while an exception passes through.
class py_error_scope {
 public:
  py_error_scope() noexcept { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~py_error_scope() { PyErr_Restore(type_, value_, traceback_); }
  py_error_scope(const py_error_scope&) = delete;
  py_error_scope& operator=(const py_error_scope&) = delete;

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

// The exception that is being raised, which is cleared; null: none.
inline py_ref take_exception() noexcept {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return py_ref::steal(value);
}

// Releases the GIL for a scope. Nothing else in the tree gives the GIL back or takes it: while the
// interpreter goes away, CPython up to 3.13 ends the thread here, as in any call into Python, by
// unwinding its stack. bindings/module/forced_unwind.cpp stops that at the first frame of ours.
class released_gil {
 public:
  released_gil() noexcept : thread_(PyEval_SaveThread()) {}
  ~released_gil() { PyEval_RestoreThread(thread_); }
  released_gil(const released_gil&) = delete;
  released_gil& operator=(const released_gil&) = delete;

 private:
  friend class retaken_gil;
  PyThreadState* thread_;
};

// Holds the GIL for a scope within one that released it, in the same thread.
class retaken_gil {
 public:
  explicit retaken_gil(released_gil& outer) noexcept : outer_(outer) {
    PyEval_RestoreThread(outer.thread_);
  }
  ~retaken_gil() { outer_.thread_ = PyEval_SaveThread(); }
  retaken_gil(const retaken_gil&) = delete;
  retaken_gil& operator=(const retaken_gil&) = delete;

 private:
  released_gil& outer_;
};

inline bool interpreter_finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// The memory of an object that exports it without gaps, held for a scope. False: there is none, an
// exception is set.
class ContiguousView {
 public:
  explicit ContiguousView(PyObject* object) noexcept
      : held_(object && PyObject_GetBuffer(object, &view_, PyBUF_C_CONTIGUOUS) == 0) {}
  ~ContiguousView() {
    if (held_) PyBuffer_Release(&view_);
  }
  ContiguousView(const ContiguousView&) = delete;
  ContiguousView& operator=(const ContiguousView&) = delete;

  explicit operator bool() const noexcept { return held_; }
  const void* data() const noexcept { return view_.buf; }
  size_t size() const noexcept { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_;
  bool held_;
};

// object.name(arguments...). Each argument is one object and arrives as it is, which a format
// cannot promise: "O" spreads a tuple over the arguments. Null without a call if an argument is
// null.
template <class... Arguments>
py_ref call_method(PyObject* object, const char* name, Arguments... arguments) {
  if (!object || (... || !arguments)) return {};
  py_ref method = py_ref::steal(PyUnicode_InternFromString(name));
  if (!method) return {};
  PyObject* stack[] = {object, arguments...};
  constexpr size_t count = 1 + sizeof...(arguments);
  return py_ref::steal(PyObject_VectorcallMethod(method.get(), stack, count, nullptr));
}

// For the method tables, whose entries have several signatures.
template <class Function>
PyCFunction as_method(Function* function) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace nvspan::bindings
