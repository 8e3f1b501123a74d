// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch/nvtx/mirror.hpp"

#include <atomic>
#include <new>
#include <string>
#include <vector>

#include "annotate/layers/mirror.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

namespace {

struct OpenFunction {
  nvtxDomainHandle_t domain;
  PyObject* function;  // null: it could not be made
};

// What this thread has open in torch. A record function that a profiler has seen must neither be
// left nor be freed once that profiler is gone, because it points into what the profiler held:
// what other threads had open at its stop is given up, with its few bytes.
struct OpenFunctions {
  uint64_t session = 0;
  uint64_t epoch = 0;
  std::vector<OpenFunction> functions;
};

thread_local OpenFunctions open_here;

std::atomic<PyObject*> record_function_type{nullptr};
std::atomic<uint64_t> session{1};
std::atomic<int> profilers{0};
std::atomic<bool> enabled{false};

void report_failure() noexcept {
  if (!PyErr_Occurred()) return;
  PyErr_Clear();
  warn_once_quietly("torch-emit",
                    "torch's record function failed: ranges are missing from its trace");
}

// Torch writes names into its JSON as they are: a quote would spoil the file, and a control
// character the name.
std::string name_in_torch(const annotate::ReadyEvent& event) {
  std::string name;
  if (!event.domain->is_default()) name = event.domain->name() + ":";
  name.append(event.text ? event.text : "", event.text_size);
  for (char& each : name) {
    if (each == '"') each = '\'';
    if ((each >= 0 && each < ' ') || each == '\x7f') each = ' ';
  }
  return name;
}

// Enters a record function. Null if that failed.
PyObject* enter(const annotate::ReadyEvent& event) {
  PyObject* type = record_function_type.load(std::memory_order_acquire);
  if (!type) return nullptr;
  const std::string text = name_in_torch(event);
  PyObject* name =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (!name) return nullptr;
  PyObject* function = PyObject_CallOneArg(type, name);
  Py_DECREF(name);
  if (!function) return nullptr;
  PyObject* result = PyObject_CallMethodNoArgs(function, state().torch.names.enter);
  if (!result) Py_CLEAR(function);
  Py_XDECREF(result);
  return function;
}

// Leaves what enter() gave, and lets go of it.
void leave(PyObject* function) noexcept {
  if (!function) return;
  PyObject* args[] = {function, Py_None, Py_None, Py_None};
  Py_XDECREF(PyObject_VectorcallMethod(state().torch.names.exit, args, 4, nullptr));
  Py_DECREF(function);
}

void leave_all(OpenFunctions& open) noexcept {
  while (!open.functions.empty()) {
    PyObject* function = open.functions.back().function;
    open.functions.pop_back();
    leave(function);
  }
}

// This thread's functions, without those of an earlier profiler or of a tool that has come or gone
// since: nobody closes those any more.
OpenFunctions& current_functions(uint64_t epoch) noexcept {
  OpenFunctions& open = open_here;
  const uint64_t now = session.load(std::memory_order_acquire);
  if (open.session != now) open.functions.clear();
  open.session = now;
  if (open.epoch != epoch) leave_all(open);
  open.epoch = epoch;
  return open;
}

// The caller may be a thread of a driver's, without the GIL: those only end what they started.
bool may_call_python() noexcept { return PyGILState_Check() == 1 && !interpreter_finalizing(); }

template <class Call>
void without_exceptions(Call&& call) noexcept {
  const py_error_scope scope;
  try {
    call();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  report_failure();
}

void push(const annotate::Outgoing& event) noexcept {
  if (!may_call_python()) return;
  without_exceptions([&] {
    current_functions(event.epoch);  // ends what is stale before this begins
    PyObject* function = enter(*event.source);
    current_functions(event.epoch).functions.push_back({event.domain, function});
  });
}

void pop(nvtxDomainHandle_t domain) noexcept {
  if (!may_call_python()) return;
  const annotate::ToolTable* tool = annotate::closing_tool();
  if (!tool) return;
  const py_error_scope scope;
  auto& functions = current_functions(tool->epoch.load(std::memory_order_acquire)).functions;
  for (size_t i = functions.size(); i-- > 0;) {
    if (functions[i].domain != domain) continue;
    PyObject* function = functions[i].function;
    functions.erase(functions.begin() + static_cast<std::ptrdiff_t>(i));
    leave(function);
    break;
  }
  report_failure();
}

void mark(const annotate::Outgoing& event) noexcept {
  if (!may_call_python()) return;
  without_exceptions([&] { leave(enter(*event.source)); });
}

constexpr annotate::MirrorHost host = {push, pop, mark};

void update() noexcept {
  const bool wanted =
      enabled.load() && profilers.load() > 0 && !annotate::disabled_by_environment();
  annotate::set_mirror_host(wanted ? &host : nullptr);
}

}  // namespace

void torch_emit_enable(bool enable) noexcept {
  if (enabled.exchange(enable) == enable) return;
  if (!enable) torch_profiler_stopping();
  update();
}

bool torch_emit_enabled() noexcept { return enabled.load(); }

void torch_profiler_started(PyObject* record_function) noexcept {
  Py_INCREF(record_function);
  PyObject* before = record_function_type.exchange(record_function);
  Py_XDECREF(before);
  ++profilers;
  update();
}

void torch_profiler_stopping() noexcept {
  OpenFunctions& open = open_here;
  if (open.session != session.load(std::memory_order_acquire)) return;
  const py_error_scope scope;
  leave_all(open);
  report_failure();
}

void torch_profiler_stopped() noexcept {
  int before = profilers.load();
  while (before > 0 && !profilers.compare_exchange_weak(before, before - 1)) {
  }
  if (before != 1) return;
  ++session;
  update();
}

}  // namespace nvspan::bindings
