// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/support/py.hpp"
#include "bindings/lines/layout_of_python.h"
#include "core/os/library.hpp"
#include "lines/interpreter.hpp"

#include <frameobject.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace nvspan::lines {
namespace {

Deaths deaths;
Interpreter interpreter;

#if PY_VERSION_HEX >= 0x030C0000
int on_code_event(PyCodeEvent event, PyCodeObject* code) {
  if (event == PY_CODE_EVENT_DESTROY) deaths.add(reinterpret_cast<Address>(code));
  return 0;
}

bool follow_deaths() {
  static int watcher = -1;
  if (watcher < 0) watcher = PyCode_AddWatcher(on_code_event);
  if (watcher < 0) PyErr_Clear();  // all places are taken
  return watcher >= 0;
}
#else
destructor dealloc_code = nullptr;

void on_dealloc(PyObject* code) {
  deaths.add(reinterpret_cast<Address>(code));
  dealloc_code(code);
}

bool follow_deaths() {
  if (dealloc_code == nullptr) {
    dealloc_code = PyCode_Type.tp_dealloc;
    PyCode_Type.tp_dealloc = on_dealloc;
  }
  return true;
}
#endif

// The functions of the injection library, which is never unloaded.
struct SamplerLibrary {
  using FrameTaker = void (*)(void* context, const SeenFrame* frame);

  const char* (*check)(const Interpreter*, FrameTaker, void*) = nullptr;
  const char* (*start)(const Interpreter*, std::int64_t) = nullptr;
  void (*pause)() = nullptr;
  void (*resume)(int) = nullptr;
  void (*stop)() = nullptr;

  bool load(const char* path) {
    std::string error;
    const core::Library library = core::Library::open(path, error);
    return library && find(library, "nvspan_inject_check_sampler", check) &&
           find(library, "nvspan_inject_start_sampler", start) &&
           find(library, "nvspan_inject_pause_sampler", pause) &&
           find(library, "nvspan_inject_resume_sampler", resume) &&
           find(library, "nvspan_inject_stop_sampler", stop);
  }

 private:
  template <typename Function>
  static bool find(const core::Library& library, const char* name, Function& function) {
    function = library.symbol<Function>(name);
    return function != nullptr;
  }
};

SamplerLibrary library;

struct Copy {
  Address code;
  std::string file;
  std::string name;
  std::int32_t first_line;
  std::uint32_t line;
  std::string c_function;
};

// Whether the sampler sees the calling thread's stack as Python does, frame by frame.
bool is_same(PyFrameObject* frame, const std::vector<Copy>& seen) {
  std::size_t i = 0;
  bool same = true;
  Py_XINCREF(frame);
  while (frame != nullptr && same) {
    PyCodeObject* const code = PyFrame_GetCode(frame);
    const char* const file = PyUnicode_AsUTF8(code->co_filename);
    const char* const name = PyUnicode_AsUTF8(code->co_name);
    same = i < seen.size() && file != nullptr && name != nullptr &&
           seen[i].code == reinterpret_cast<Address>(code) && seen[i].file == file &&
           seen[i].name == name && seen[i].first_line == code->co_firstlineno &&
           static_cast<int>(seen[i].line) == PyFrame_GetLineNumber(frame);
    Py_DECREF(code);
    PyFrameObject* const caller = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = caller;
    ++i;
  }
  Py_XDECREF(frame);
  PyErr_Clear();
  return same && i == seen.size();
}

const char* check() {
  std::vector<Copy> seen;
  const auto take = [](void* context, const SeenFrame* frame) {
    static_cast<std::vector<Copy>*>(context)->push_back(Copy{
        frame->code, frame->file, frame->name, frame->first_line, frame->line, frame->c_function});
  };
  const char* const problem = library.check(&interpreter, take, &seen);
  if (problem != nullptr) return problem;
  if (!is_same(PyEval_GetFrame(), seen)) return "its stack is read wrong";
  const bool is_known = !seen.empty() && !seen.front().c_function.empty();
  if (is_known && seen.front().c_function != "nvspan._lines.start") {
    interpreter.layout.calls = nullptr;  // calls are read wrong
  }
  return nullptr;
}

const char* prepare(const char* path) {
  if (!library.load(path)) return "the injection library is of another nvspan";
  const char* const problem = nvspan_layout_of_python(&interpreter.layout);
  if (problem != nullptr) return problem;
  interpreter.deaths = follow_deaths() ? &deaths : nullptr;
  return check();
}

PyObject* text_or_none(const char* problem) {
  if (problem == nullptr) Py_RETURN_NONE;
  return PyUnicode_FromString(problem);
}

// Once: the sampler's thread ends before a fork. False: an exception is set.
bool follow_forks(PyObject* module) {
  static bool followed = false;
  if (followed) return true;
  PyObject* const os = PyImport_ImportModule("os");
  PyObject* const enter = os == nullptr ? nullptr : PyObject_GetAttrString(os, "register_at_fork");
  PyObject* const none = PyTuple_New(0);
  PyObject* const hooks = PyDict_New();
  bool ready = enter != nullptr && none != nullptr && hooks != nullptr;
  const std::pair<const char*, const char*> names[] = {
      {"before", "pause"}, {"after_in_parent", "resume"}, {"after_in_child", "resume_in_child"}};
  for (const auto& [moment, name] : names) {
    PyObject* const hook = ready ? PyObject_GetAttrString(module, name) : nullptr;
    ready = hook != nullptr && PyDict_SetItemString(hooks, moment, hook) == 0;
    Py_XDECREF(hook);
  }
  PyObject* const done = ready ? PyObject_Call(enter, none, hooks) : nullptr;
  followed = done != nullptr;
  for (PyObject* const each : {os, enter, none, hooks, done}) Py_XDECREF(each);
  return followed;
}

PyObject* start(PyObject* module, PyObject* arguments) {
  PyObject* path = nullptr;
  long long period = 0;
  if (PyArg_ParseTuple(arguments, "O&L", PyUnicode_FSConverter, &path, &period) == 0) {
    return nullptr;
  }
  const char* problem = prepare(PyBytes_AS_STRING(path));
  Py_DECREF(path);
  if (problem == nullptr) {
    if (!follow_forks(module)) return nullptr;
    problem = library.start(&interpreter, period);
  }
  return text_or_none(problem);
}

PyObject* pause(PyObject*, PyObject*) {
  if (library.pause != nullptr) library.pause();
  Py_RETURN_NONE;
}

int resume_now(void*) {
  if (library.resume != nullptr) library.resume(0);
  return 0;
}

// CPython 3.13 counts the process's threads after this, and warns where there are two: the
// sampler's begins when the main thread runs Python again.
PyObject* resume(PyObject*, PyObject*) {
#if PY_VERSION_HEX >= 0x030D0000 && PY_VERSION_HEX < 0x030E0000
  if (Py_AddPendingCall(resume_now, nullptr) == 0) Py_RETURN_NONE;
#endif
  resume_now(nullptr);
  Py_RETURN_NONE;
}

PyObject* resume_in_child(PyObject*, PyObject*) {
  if (library.resume != nullptr) library.resume(1);
  Py_RETURN_NONE;
}

PyObject* stop(PyObject*, PyObject*) {
  if (library.stop != nullptr) library.stop();
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"start", start, METH_VARARGS,
     "start(library, period)\n--\n\nBegins to sample the Python threads of this process into the "
     "recording of the injection library `library`, every `period` ns, or as often as a "
     "two-hundredth of a CPU core allows where it is 0. None, or a str that says why not."},
    {"pause", pause, METH_NOARGS,
     "pause()\n--\n\nEnds the sampler's thread for a while: the process is about to fork."},
    {"resume", resume, METH_NOARGS, "resume()\n--\n\nGoes on after pause()."},
    {"resume_in_child", resume_in_child, METH_NOARGS,
     "resume_in_child()\n--\n\nGoes on after pause(), in the forked child."},
    {"stop", stop, METH_NOARGS, "stop()\n--\n\nEnds what start() started."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "nvspan._lines",
                          "Starts the sampler of Python stacks.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace nvspan::lines

PyMODINIT_FUNC PyInit__lines() { return PyModule_Create(&nvspan::lines::definition); }
