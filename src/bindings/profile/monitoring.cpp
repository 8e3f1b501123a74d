// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/profile/session.hpp"

// The profile from CPython 3.12 on: callbacks of sys.monitoring. They see every thread.

#if PY_VERSION_HEX >= 0x030C0000

#include <climits>
#include <iterator>
#include <new>
#include <unordered_set>

#include "bindings/profile/code.hpp"
#include "bindings/profile/threads.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

struct MonitoringTool {
  PyObject* monitoring = nullptr;  // sys.monitoring
  PyObject* disable = nullptr;     // sys.monitoring.DISABLE
  int tool = -1;                   // -1: none is claimed
  bool muted_code = false;         // DISABLE was returned since the last restart_events()

  // After the profile was disabled while other threads had ranges open: the callbacks stay until
  // those threads have closed them. `still_running` is the code of their frames, which must go on
  // reporting; all other code is muted at its first event.
  bool draining = false;
  bool mute_nothing = false;
  std::unordered_set<const ProfileCode*> still_running;
};

MonitoringTool& backend() noexcept {
  static MonitoringTool* const instance = new MonitoringTool;
  return *instance;
}

PyObject* none() noexcept { return Py_NewRef(Py_None); }

PyObject* mute() noexcept {
  backend().muted_code = true;
  return Py_NewRef(backend().disable);
}

uintptr_t running_frame() noexcept {
  PyThreadState* thread = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030D0000
  return reinterpret_cast<uintptr_t>(thread->current_frame);
#else
  return reinterpret_cast<uintptr_t>(thread->cframe->current_frame);
#endif
}

py_ref number(int value) noexcept { return py_ref::steal(PyLong_FromLong(value)); }

// sys.monitoring.name(arguments...). False with an exception set.
template <class... Arguments>
bool call_monitoring(const char* name, const Arguments&... arguments) noexcept {
  return bool(call_method(backend().monitoring, name, arguments.get()...));
}

void release() noexcept;

// An event that comes while this thread's record is of another session, or while none is: then it
// has an answer at once.
void catch_up(ProfileThread& thread, uint64_t session, PyObject* code, bool can_mute,
              PyObject*& answer) noexcept {
  profile_close_all(thread);
  thread.session = session;
  if (session != 0) return;
  MonitoringTool& state = backend();
  if (state.draining && !profile_any_open()) {
    release();
    answer = none();
    return;
  }
  const bool runs = state.mute_nothing || state.still_running.count(profile_code_known(code)) != 0;
  answer = can_mute && !runs ? mute() : none();
}

// What a callback needs of its thread and code. With `answer` set there is nothing to do.
struct Reported {
  ProfileThread* thread = nullptr;
  PyObject* code = nullptr;
  uint64_t session = 0;
  PyObject* answer = nullptr;

  Reported(PyObject* const* arguments, size_t count, size_t least, bool can_mute) noexcept {
    if (static_cast<size_t>(PyVectorcall_NARGS(count)) < least || !PyCode_Check(arguments[0])) {
      answer = none();
      return;
    }
    code = arguments[0];
    thread = profile_thread();
    if (!thread) {
      answer = none();
      return;
    }
    session = profile_state.session.load(std::memory_order_acquire);
    if (session == 0 || thread->session != session) {
      catch_up(*thread, session, code, can_mute, answer);
    }
  }
};

// `offset`: of the latest instruction.
void enter(ProfileThread& thread, const ProfileCode& code, int offset) noexcept {
  const uintptr_t frame = running_frame();
  profile_enter(thread, frame, *code.event.load(std::memory_order_acquire),
                profile_state.settings.max_depth, code.stretch(frame, offset));
}

template <bool begins>
PyObject* on_enter(PyObject*, PyObject* const* arguments, size_t count, PyObject*) noexcept {
  Reported reported(arguments, count, 1, true);
  if (reported.answer) return reported.answer;
  ProfileCode* code = profile_code(reported.code, reported.session);
  if (!code) return none();
  if (!code->wanted()) return mute();
  enter(*reported.thread, *code, begins ? INT_MIN : INT_MAX);
  return none();
}

// throw() into a generator or coroutine: entered, too, but this event cannot be muted.
PyObject* on_throw(PyObject*, PyObject* const* arguments, size_t count, PyObject*) noexcept {
  Reported reported(arguments, count, 2, false);
  if (reported.answer) return reported.answer;
  ProfileCode* code = profile_code(reported.code, reported.session);
  if (!code || !code->wanted()) return none();
  enter(*reported.thread, *code, static_cast<int>(PyLong_AsLong(arguments[1])));
  return none();
}

template <bool suspends>
PyObject* on_leave(PyObject*, PyObject* const* arguments, size_t count, PyObject*) noexcept {
  Reported reported(arguments, count, 1, true);
  if (reported.answer) return reported.answer;
  const uintptr_t frame = running_frame();
  const auto is_suspended = [] { return suspends; };
  if (profile_leave(*reported.thread, frame, is_suspended)) return none();
  ProfileCode* code = profile_code(reported.code, reported.session);
  if (code && !code->wanted()) return mute();
  profile_leave_any(*reported.thread, frame, is_suspended);
  return none();
}

PyObject* on_unwind(PyObject*, PyObject* const* arguments, size_t count, PyObject*) noexcept {
  Reported reported(arguments, count, 1, false);
  if (reported.answer) return reported.answer;
  const uintptr_t frame = running_frame();
  const auto is_suspended = [] { return false; };
  if (profile_leave(*reported.thread, frame, is_suspended)) return none();
  ProfileCode* code = profile_code(reported.code, reported.session);
  if (!code || code->wanted()) profile_leave_any(*reported.thread, frame, is_suspended);
  return none();
}

PyObject* on_call(PyObject*, PyObject* const* arguments, size_t count, PyObject*) noexcept {
  Reported reported(arguments, count, 3, true);
  if (reported.answer) return reported.answer;
  ProfileCode* code = profile_code(reported.code, reported.session);
  if (!code) return none();
  if (!code->wanted()) return mute();
  if (annotate::ReadyEvent* event = profile_c_function_event(arguments[2])) {
    profile_enter(*reported.thread, running_frame() | profile_c_function, *event,
                  profile_state.settings.max_depth);
  }
  return none();
}

PyObject* on_c_end(PyObject*, PyObject* const* arguments, size_t count, PyObject*) noexcept {
  Reported reported(arguments, count, 3, false);
  if (reported.answer) return reported.answer;
  if (PyCFunction_Check(arguments[2]) || Py_IS_TYPE(arguments[2], &PyMethodDescr_Type)) {
    profile_leave_any(*reported.thread, running_frame() | profile_c_function, [] { return false; });
  }
  return none();
}

// A callable that is its C function and nothing else: unlike a built-in function it does not count
// as recursion, so that it never fails in a program that recurses deeply.
struct Callback {
  PyObject_HEAD vectorcallfunc vectorcall;
};

struct Wanted {
  const char* event;
  vectorcallfunc function;
  bool of_c_functions;
};

const Wanted wanted_events[] = {{"PY_START", on_enter<true>, false},
                                {"PY_RESUME", on_enter<false>, false},
                                {"PY_THROW", on_throw, false},
                                {"PY_RETURN", on_leave<false>, false},
                                {"PY_YIELD", on_leave<true>, false},
                                {"PY_UNWIND", on_unwind, false},
                                {"CALL", on_call, true},
                                {"C_RETURN", on_c_end, true},
                                {"C_RAISE", on_c_end, true}};

// The value of sys.monitoring.events.<name>, or -1 with an exception set.
int event_number(const char* name) {
  py_ref events = py_ref::steal(PyObject_GetAttrString(backend().monitoring, "events"));
  py_ref value = py_ref::steal(events ? PyObject_GetAttrString(events.get(), name) : nullptr);
  return value ? static_cast<int>(PyLong_AsLong(value.get())) : -1;
}

// Made once and kept: the interpreter holds no reference while it calls one, and a callback may be
// the one that gives them all back.
PyObject* make_callback(const Wanted& wanted) {
  static PyTypeObject* type;
  static PyObject* callbacks[std::size(wanted_events)];
  if (!type) {
    type = make_type(
        "nvspan._core._ProfileCallback", sizeof(Callback),
        Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        {{Py_tp_call, slot(PyVectorcall_Call)}, {Py_tp_members, vectorcall_members<Callback>}});
  }
  PyObject*& callback = callbacks[&wanted - wanted_events];
  if (callback || !type) return callback;
  Callback* object = PyObject_New(Callback, type);
  if (object) object->vectorcall = wanted.function;
  callback = reinterpret_cast<PyObject*>(object);
  return callback;
}

// Registers the callbacks, or takes them back. False with an exception set.
bool set_callbacks(bool ours) {
  for (const Wanted& wanted : wanted_events) {
    const int event = event_number(wanted.event);
    PyObject* callback = event < 0 ? nullptr : ours ? make_callback(wanted) : Py_None;
    if (!callback || !call_monitoring("register_callback", number(backend().tool), number(event),
                                      py_ref::borrow(callback))) {
      return false;
    }
  }
  return true;
}

// Gives everything back: the end of disabling.
void release() noexcept {
  MonitoringTool& state = backend();
  state.draining = false;
  state.still_running.clear();
  if (state.tool < 0) return;
  py_error_scope scope;
  const bool done = call_monitoring("set_events", number(state.tool), number(0)) &&
                    set_callbacks(false) && call_monitoring("free_tool_id", number(state.tool));
  state.tool = -1;
  if (!done) PyErr_WriteUnraisable(state.monitoring);
}

// Takes the first free tool id; those that debuggers, coverage and profilers ask for come last.
int claim_tool() {
  for (const int id : {4, 3, 5, 2, 1, 0}) {
    if (call_monitoring("use_tool_id", number(id), py_ref::steal(PyUnicode_FromString("nvspan")))) {
      backend().tool = id;
      return 0;
    }
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) return -1;
    PyErr_Clear();
  }
  PyErr_SetString(PyExc_RuntimeError,
                  "the profile needs a tool id of sys.monitoring, and other tools use all six");
  return -1;
}

// The code that other threads are running now.
void note_running_code() noexcept {
  MonitoringTool& state = backend();
  state.still_running.clear();
  state.mute_nothing = false;
#ifdef Py_GIL_DISABLED
  state.mute_nothing = true;  // those threads run meanwhile
#else
  PyThreadState* const own = PyThreadState_Get();
  try {
    for (PyThreadState* thread = PyInterpreterState_ThreadHead(own->interp); thread;
         thread = PyThreadState_Next(thread)) {
      if (thread == own) continue;
      PyFrameObject* frame = PyThreadState_GetFrame(thread);
      while (frame) {
        PyCodeObject* code = PyFrame_GetCode(frame);
        state.still_running.insert(profile_code_known(reinterpret_cast<PyObject*>(code)));
        Py_DECREF(code);
        PyFrameObject* back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
      }
    }
    state.still_running.erase(nullptr);
  } catch (const std::bad_alloc&) {
    state.mute_nothing = true;
  }
#endif
}

}  // namespace

int profile_backend_claim() {
  MonitoringTool& state = backend();
  if (!state.monitoring) {
    PyObject* monitoring = PySys_GetObject("monitoring");
    if (!monitoring) {
      PyErr_SetString(PyExc_RuntimeError, "this interpreter has no sys.monitoring");
      return -1;
    }
    state.disable = PyObject_GetAttrString(monitoring, "DISABLE");
    if (!state.disable) return -1;
    state.monitoring = Py_NewRef(monitoring);
  }
  state.draining = false;
  if (state.tool >= 0) return 0;  // of the profile before, which other threads have yet to close
  if (claim_tool() < 0) return -1;
  if (set_callbacks(true)) return 0;
  release();
  return -1;
}

int profile_backend_begin() {
  MonitoringTool& state = backend();
  state.draining = false;
  state.still_running.clear();
  if (state.muted_code) {
    state.muted_code = false;
    if (!call_monitoring("restart_events")) return -1;
  }
  int mask = 0;
  for (const Wanted& wanted : wanted_events) {
    if (wanted.of_c_functions && !profile_state.settings.c_functions) continue;
    const int event = event_number(wanted.event);
    if (event < 0) return -1;
    mask |= event;
  }
  return call_monitoring("set_events", number(state.tool), number(mask)) ? 0 : -1;
}

void profile_backend_end() noexcept {
  if (backend().tool < 0) return;
  if (!profile_any_open()) {
    release();
    return;
  }
  py_error_scope scope;
  note_running_code();
  backend().draining = true;
}

}  // namespace nvspan::bindings

#endif
