// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/profile/session.hpp"

// The profile before CPython 3.12: a profile function in each thread. The one that was there before
// goes on being called, and is put back.

#if PY_VERSION_HEX < 0x030C0000

#include <cstring>

#include "bindings/profile/code.hpp"
#include "bindings/profile/threads.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

// The argument of the profile function of one thread. Python sees it as sys.getprofile(), and calls
// it when it is given back to sys.setprofile or, in a new thread, by threading.setprofile.
struct Hook {
  PyObject_HEAD Py_tracefunc previous;
  PyObject* previous_argument;  // owned, or null
  ProfileThread* thread;  // of the thread that it is installed in; null before its first event
  bool starter;           // the one of threading.setprofile: makes one for each thread
};

Hook* as_hook(PyObject* object) noexcept { return reinterpret_cast<Hook*>(object); }

PyObject* new_hook(Py_tracefunc previous, PyObject* argument, bool is_starter) noexcept {
  Hook* hook = PyObject_GC_New(Hook, state().profile.hook_type);
  if (!hook) return nullptr;
  hook->previous = previous;
  hook->previous_argument = Py_XNewRef(argument);
  hook->thread = nullptr;
  hook->starter = is_starter;
  PyObject_GC_Track(reinterpret_cast<PyObject*>(hook));
  return reinterpret_cast<PyObject*>(hook);
}

int call_previous(Hook* hook, PyFrameObject* frame, int what, PyObject* argument) noexcept {
  return hook->previous ? hook->previous(hook->previous_argument, frame, what, argument) : 0;
}

int last_offset(PyFrameObject* frame) noexcept {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  return frame->f_lasti;
#endif
}

// Of a generator or coroutine that is being left.
bool is_suspended_in(PyFrameObject* frame) noexcept {
#if PY_VERSION_HEX >= 0x030B0000
  constexpr int suspended = -1;  // FRAME_SUSPENDED, of CPython's internal headers
  const py_ref generator = py_ref::steal(PyFrame_GetGenerator(frame));
  return generator && reinterpret_cast<PyGenObject*>(generator.get())->gi_frame_state == suspended;
#else
  return frame->f_state == FRAME_SUSPENDED;
#endif
}

void record(ProfileThread& thread, PyFrameObject* frame, int what, PyObject* argument,
            uint64_t session) noexcept {
  const bool of_c_function =
      what == PyTrace_C_CALL || what == PyTrace_C_RETURN || what == PyTrace_C_EXCEPTION;
  const bool enters = what == PyTrace_CALL || what == PyTrace_C_CALL;
  if (!enters && !of_c_function && what != PyTrace_RETURN) return;
  if (of_c_function && !profile_state.settings.c_functions) return;
  const uintptr_t entry =
      reinterpret_cast<uintptr_t>(frame) | (of_c_function ? profile_c_function : 0);
  const auto is_suspended = [frame] { return is_suspended_in(frame); };
  if (!enters && profile_leave(thread, entry, is_suspended)) return;
  PyCodeObject* code = PyFrame_GetCode(frame);
  ProfileCode* known = profile_code(reinterpret_cast<PyObject*>(code), session);
  Py_DECREF(code);
  if (!known || !known->wanted()) return;
  if (!enters) {
    profile_leave_any(thread, entry, is_suspended);
    return;
  }
  const uint32_t max_depth = profile_state.settings.max_depth;
  if (!of_c_function) {
    const ProfileStretch stretch =
        known->call_category == 0 ? ProfileStretch{} : known->stretch(entry, last_offset(frame));
    return profile_enter(thread, entry, *known->event.load(), max_depth, stretch);
  }
  if (annotate::ReadyEvent* event = profile_c_function_event(argument)) {
    profile_enter(thread, entry, *event, max_depth);
  }
}

// Puts back what was there before `hook` in the calling thread.
void uninstall(Hook* hook) noexcept {
  PyObject* argument = Py_XNewRef(hook->previous_argument);
  PyEval_SetProfile(hook->previous, argument);
  Py_XDECREF(argument);
}

int on_event(PyObject* self, PyFrameObject* frame, int what, PyObject* argument) noexcept {
  Hook* hook = as_hook(self);
  const uint64_t session = profile_state.session.load(std::memory_order_acquire);
  ProfileThread* thread = profile_thread();
  if (thread) {
    hook->thread = thread;
    if (thread->session != session) {
      profile_close_all(*thread);
      thread->session = session;
    }
    if (session != 0) record(*thread, frame, what, argument, session);
  }
  if (session != 0) return call_previous(hook, frame, what, argument);
  py_ref alive = py_ref::borrow(self);
  uninstall(hook);
  return call_previous(hook, frame, what, argument);
}

int install(PyThreadState* thread) noexcept {
  if (thread->c_profilefunc == on_event) return 0;
  py_ref hook = py_ref::steal(new_hook(thread->c_profilefunc, thread->c_profileobj, false));
  return hook ? _PyEval_SetProfile(thread, on_event, hook.get()) : -1;
}

// Gives the new thread that calls the starter what threading.setprofile had before, and a hook.
int start_in_thread(Hook* self) noexcept {
  PyObject* previous = self->previous_argument;
  PyObject* setprofile = PySys_GetObject("setprofile");
  if (!setprofile) return 0;
  py_ref done = py_ref::steal(PyObject_CallOneArg(setprofile, previous ? previous : Py_None));
  if (!done) return -1;
  return profile_state.session.load() != 0 ? install(PyThreadState_Get()) : 0;
}

PyObject* hook_call(PyObject* self, PyObject* arguments, PyObject*) {
  PyObject* frame = nullptr;
  const char* event = nullptr;
  PyObject* argument = nullptr;
  if (!PyArg_ParseTuple(arguments, "O!sO", &PyFrame_Type, &frame, &event, &argument)) {
    return nullptr;
  }
  static const char* const names[] = {"call",   "exception",   "line",     "return",
                                      "c_call", "c_exception", "c_return", "opcode"};
  int what = -1;
  for (int i = 0; i < 8; ++i) {
    if (strcmp(names[i], event) == 0) what = i;
  }
  py_ref alive = py_ref::borrow(self);
  if (as_hook(self)->starter) {
    if (start_in_thread(as_hook(self)) < 0) return nullptr;
  } else if (profile_state.session.load() != 0) {
    if (_PyEval_SetProfile(PyThreadState_Get(), on_event, self) < 0) return nullptr;
  } else {
    uninstall(as_hook(self));
  }
  PyThreadState* thread = PyThreadState_Get();
  py_ref installed = py_ref::borrow(thread->c_profileobj);
  if (what >= 0 && thread->c_profilefunc &&
      thread->c_profilefunc(installed.get(), reinterpret_cast<PyFrameObject*>(frame), what,
                            argument) < 0) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

int hook_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_hook(self)->previous_argument);
  return 0;
}

int hook_clear(PyObject* self) {
  Py_CLEAR(as_hook(self)->previous_argument);
  as_hook(self)->previous = nullptr;
  return 0;
}

void hook_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  hook_clear(self);
  free_object(self);
}

template <class Visit>
void for_each_thread(Visit&& visit) noexcept {
  PyInterpreterState* interpreter = PyThreadState_Get()->interp;
  for (PyThreadState* thread = PyInterpreterState_ThreadHead(interpreter); thread;
       thread = PyThreadState_Next(thread)) {
    visit(thread);
  }
}

// 1 if threading's hook for new threads is ours, 0 if it is not; -1 with an exception set.
int threads_get_starter() {
  py_ref current = call_method(state().profile.threading, "getprofile");
  if (!current) return -1;
  return state().profile.starter && current.get() == state().profile.starter;
}

int install_starter() {
  py_ref current = call_method(state().profile.threading, "getprofile");
  if (!current) return -1;
  py_ref starter =
      py_ref::steal(new_hook(nullptr, current.get() == Py_None ? nullptr : current.get(), true));
  if (!starter) return -1;
  py_ref done = call_method(state().profile.threading, "setprofile", starter.get());
  if (!done) return -1;
  Py_XSETREF(state().profile.starter, starter.release());
  return 0;
}

void uninstall_starter() noexcept {
  const int ours = threads_get_starter();
  PyObject* previous =
      state().profile.starter ? as_hook(state().profile.starter)->previous_argument : nullptr;
  py_ref done;
  if (ours > 0) {
    done = call_method(state().profile.threading, "setprofile", previous ? previous : Py_None);
  }
  if (ours < 0 || (ours > 0 && !done)) PyErr_WriteUnraisable(state().profile.threading);
  Py_CLEAR(state().profile.starter);
}

}  // namespace

int profile_backend_claim() {
  if (!state().profile.hook_type) {
    state().profile.hook_type = make_type("nvspan._core._ProfileHook", sizeof(Hook),
                                          Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                          {{Py_tp_call, slot(hook_call)},
                                           {Py_tp_traverse, slot(hook_traverse)},
                                           {Py_tp_clear, slot(hook_clear)},
                                           {Py_tp_dealloc, slot(hook_dealloc)}});
  }
  if (!state().profile.threading) state().profile.threading = PyImport_ImportModule("threading");
  return state().profile.hook_type && state().profile.threading ? 0 : -1;
}

int profile_backend_begin() {
  if (install_starter() < 0) return -1;
  bool failed = false;
  for_each_thread([&](PyThreadState* thread) { failed = failed || install(thread) < 0; });
  return failed ? -1 : 0;
}

// A thread that has ranges open keeps its hook, which closes them and goes at its next event.
void profile_backend_end() noexcept {
  if (!state().profile.starter) return;
  py_error_scope scope;
  uninstall_starter();
  PyThreadState* const own = PyThreadState_Get();
  for_each_thread([&](PyThreadState* thread) {
    if (thread->c_profilefunc != on_event) return;
    py_ref self = py_ref::borrow(thread->c_profileobj);
    Hook* hook = as_hook(self.get());
    if (thread != own && hook->thread && hook->thread->size.load() != 0) return;
    if (_PyEval_SetProfile(thread, hook->previous, hook->previous_argument) < 0) {
      PyErr_WriteUnraisable(self.get());
    }
  });
}

}  // namespace nvspan::bindings

#endif
