// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/support/entering_frame.hpp"

#if PY_VERSION_HEX < 0x030B0000
#include <frameobject.h>
#endif

namespace nvspan::bindings {

namespace {

// A frame is a frame object on 3.10 and CPython's internal frame from 3.11 on, which is reached
// through the public thread state. Its first members are mirrored here per version; they are fixed
// within a minor version.
#if PY_VERSION_HEX < 0x030B0000

using Frame = PyFrameObject;

Frame* innermost() noexcept { return PyEval_GetFrame(); }
Frame* outer(Frame* frame) noexcept { return frame->f_back; }
PyCodeObject* code_of(Frame* frame) noexcept { return frame->f_code; }

#elif PY_VERSION_HEX < 0x030C0000

struct Frame {
  PyFunctionObject* function;
  PyObject* globals;
  PyObject* builtins;
  PyObject* locals;
  PyCodeObject* code;
  PyFrameObject* frame_object;
  Frame* previous;
};

Frame* innermost() noexcept {
  return reinterpret_cast<Frame*>(_PyThreadState_UncheckedGet()->cframe->current_frame);
}
Frame* outer(Frame* frame) noexcept { return frame->previous; }
PyCodeObject* code_of(Frame* frame) noexcept { return frame->code; }

#else

struct Frame {
  void* executable;
  Frame* previous;
};

Frame* innermost() noexcept {
#if PY_VERSION_HEX < 0x030D0000
  return reinterpret_cast<Frame*>(_PyThreadState_UncheckedGet()->cframe->current_frame);
#else
  return reinterpret_cast<Frame*>(PyThreadState_GetUnchecked()->current_frame);
#endif
}
Frame* outer(Frame* frame) noexcept { return frame->previous; }

// Borrowed: a running frame keeps its code. Null for the interpreter's own entry frames.
PyCodeObject* code_of(Frame* frame) noexcept {
  PyObject* code =
      PyUnstable_InterpreterFrame_GetCode(reinterpret_cast<struct _PyInterpreterFrame*>(frame));
  if (!code) return nullptr;
  Py_DECREF(code);
  return PyCode_Check(code) ? reinterpret_cast<PyCodeObject*>(code) : nullptr;
}

#endif

bool is_entry_frame(PyCodeObject* code) noexcept {
#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030D0000
  // 3.12 gives its entry frames a nameless code object without a first line.
  return code && code->co_firstlineno == 1 && code->co_argcount == 0 && code->co_stacksize <= 2 &&
         PyUnicode_CompareWithASCIIString(code->co_name, "<interpreter trampoline>") == 0;
#else
  return code == nullptr;
#endif
}

Frame* outer_python(Frame* frame) noexcept {
  do {
    frame = outer(frame);
  } while (frame && is_entry_frame(code_of(frame)));
  return frame;
}

// Code objects of contextlib that enter a context on behalf of their caller.
struct ContextlibCode {
  PyCodeObject* enter_context = nullptr;
  PyCodeObject* enter_async_context = nullptr;
  PyCodeObject* generator_enter = nullptr;
};

PyCodeObject* method_code(PyObject* module, const char* type, const char* method) noexcept {
  py_ref owner = py_ref::steal(PyObject_GetAttrString(module, type));
  py_ref function = py_ref::steal(owner ? PyObject_GetAttrString(owner.get(), method) : nullptr);
  if (!function || !PyFunction_Check(function.get())) {
    PyErr_Clear();
    return nullptr;
  }
  return reinterpret_cast<PyCodeObject*>(Py_NewRef(PyFunction_GET_CODE(function.get())));
}

// Taken from sys.modules once contextlib is there, and never imported: an import at an event would
// wait for locks that another thread may have held at a fork. Until then nobody can be inside it.
const ContextlibCode& contextlib_code() noexcept {
  static ContextlibCode codes;
  static PyObject* const name = PyUnicode_InternFromString("contextlib");
  if (codes.enter_context || interpreter_finalizing()) return codes;
  PyObject* module = name ? PyDict_GetItemWithError(PyImport_GetModuleDict(), name) : nullptr;
  if (!module) return codes;
  py_error_scope scope;
  ContextlibCode found;
  found.enter_async_context = method_code(module, "AsyncExitStack", "enter_async_context");
  found.generator_enter = method_code(module, "_GeneratorContextManager", "__enter__");
  found.enter_context = method_code(module, "ExitStack", "enter_context");
  // Half-imported by another thread: look again.
  if (found.enter_async_context && found.generator_enter) codes = found;
  PyErr_Clear();
  return codes;
}

constexpr int coroutine_flags = CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;

}  // namespace

EnteringFrame entering_frame() noexcept {
  Frame* frame = innermost();
  if (!frame) return {};
  PyCodeObject* code = code_of(frame);
  if (!code) return {};
  const ContextlibCode& contextlib = contextlib_code();
  const void* key = frame;
  constexpr int deepest = 16;
  for (int depth = 0; depth < deepest; ++depth) {
    if (code == contextlib.enter_context || code == contextlib.enter_async_context) {
      frame = outer_python(frame);
      key = frame;
    } else if ((code->co_flags & CO_GENERATOR) && !(code->co_flags & coroutine_flags)) {
      // The generator keeps the range open, but it is suspended with the frame that entered it.
      Frame* enter = outer_python(frame);
      if (!enter || code_of(enter) != contextlib.generator_enter) return {key, false};
      frame = outer_python(enter);
    } else {
      break;
    }
    if (!frame) return {key, false};
    code = code_of(frame);
    if (!code) return {key, false};
  }
  return {key, (code->co_flags & coroutine_flags) != 0};
}

bool inside_coroutine() noexcept {
  constexpr int deepest = 500;
  int depth = 0;
  for (Frame* frame = innermost(); frame && depth < deepest; frame = outer(frame), ++depth) {
    const PyCodeObject* code = code_of(frame);
    if (code && (code->co_flags & coroutine_flags)) return true;
  }
  return false;
}

int calling_frames(const void** keys, int limit) noexcept {
  int count = 0;
  for (Frame* frame = innermost(); frame && count < limit; frame = outer_python(frame)) {
    keys[count++] = frame;
  }
  return count;
}

}  // namespace nvspan::bindings
