// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/profile/session.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "annotate/tool/attachment.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/profile/code.hpp"
#include "bindings/profile/threads.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

namespace {

uint64_t last_session;

int read_patterns(PyObject* patterns, std::vector<std::string>& result) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(patterns); ++i) {
    Py_ssize_t size = 0;
    const char* utf8 = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(patterns, i), &size);
    if (!utf8) return -1;
    result.emplace_back(utf8, static_cast<size_t>(size));
  }
  return 0;
}

int begin() {
  profile_forget_calls();  // what they do until now is unseen
  profile_state.session.store(++last_session, std::memory_order_release);
  if (profile_backend_begin() == 0) return 0;
  profile_state.session.store(0, std::memory_order_release);
  return -1;
}

// _profile_start(profile, linenos, annotate_cfuncs, include, exclude, max_depth, own_folder,
// library): with False for "enabled already", True otherwise.
PyObject* start(PyObject*, PyObject* arguments) {
  PyObject *profile, *include, *exclude, *library;
  int linenos = 0;
  int c_functions = 0;
  unsigned int max_depth = 0;
  const char* own_folder = nullptr;
  if (!PyArg_ParseTuple(arguments, "OppOO!IsO!:_profile_start", &profile, &linenos, &c_functions,
                        &include, &PyTuple_Type, &exclude, &max_depth, &own_folder, &PyTuple_Type,
                        &library)) {
    return nullptr;
  }
  if (state().profile.enabled == profile) Py_RETURN_FALSE;
  if (state().profile.enabled) {
    PyErr_Format(PyExc_RuntimeError, "another profile is already enabled: %R",
                 state().profile.enabled);
    return nullptr;
  }
  ProfileSettings settings;
  settings.linenos = linenos != 0;
  settings.c_functions = c_functions != 0;
  settings.max_depth = max_depth;
  settings.include_all = include == Py_None;
  try {
    settings.own_folder = own_folder;
    if (!settings.include_all && read_patterns(include, settings.include) < 0) return nullptr;
    if (read_patterns(exclude, settings.exclude) < 0) return nullptr;
    if (read_patterns(library, settings.library) < 0) return nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  if (!annotate::disabled_by_environment()) {
    if (profile_codes_prepare() < 0 || profile_backend_claim() < 0) return nullptr;
    profile_set_settings(std::move(settings));
    if (annotate::listening_tool() && begin() < 0) {
      profile_backend_end();
      return nullptr;
    }
  }
  state().profile.enabled = Py_NewRef(profile);
  Py_RETURN_TRUE;
}

// Of the generators and coroutines in `frames`, (begin, end, code) each, those that the profile saw
// suspended.
void send_unfinished(PyObject* frames) noexcept {
  const std::vector<ProfileCall> calls = profile_take_suspended_calls();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(frames); ++i) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    PyObject* code = nullptr;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(frames, i), "KKO!", &begin, &end, &PyCode_Type, &code)) {
      PyErr_Clear();
      continue;
    }
    const auto call = std::lower_bound(
        calls.begin(), calls.end(), begin,
        [](const ProfileCall& each, unsigned long long address) { return each.frame < address; });
    if (call == calls.end() || call->frame >= end) continue;
    if (call->code == profile_code_known(code)) {
      profile_send_unfinished(code, *call->code, call->number);
    }
  }
}

// _profile_stop(profile, frames): True, or False if that profile is not enabled. `frames`: what
// send_unfinished() takes.
PyObject* stop(PyObject*, PyObject* arguments) {
  PyObject* profile = nullptr;
  PyObject* frames = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO!:_profile_stop", &profile, &PyList_Type, &frames)) {
    return nullptr;
  }
  if (state().profile.enabled != profile) Py_RETURN_FALSE;
  profile_state.session.store(0, std::memory_order_release);
  if (ProfileThread* thread = detail::profile_thread) profile_close_all(*thread);
  send_unfinished(frames);
  Py_CLEAR(state().profile.enabled);
  if (annotate::disabled_by_environment()) Py_RETURN_TRUE;
  profile_backend_end();
  Py_RETURN_TRUE;
}

PyObject* running(PyObject*, PyObject* profile) {
  return PyBool_FromLong(state().profile.enabled == profile);
}

PyMethodDef profile_functions[] = {{"_profile_start", start, METH_VARARGS, nullptr},
                                   {"_profile_stop", stop, METH_VARARGS, nullptr},
                                   {"_profile_running", running, METH_O, nullptr},
                                   {nullptr, nullptr, 0, nullptr}};

}  // namespace

void profile_tool_changed(bool possible) noexcept {
  if (!possible || !state().profile.enabled || profile_state.session.load() != 0) return;
  if (annotate::disabled_by_environment() || !annotate::listening_tool()) return;
  if (profile_state.session.load() != 0) return;
  if (begin() < 0) PyErr_WriteUnraisable(state().profile.enabled);
}

int profile_add_to_module(PyObject* module) {
  return PyModule_AddFunctions(module, profile_functions);
}

}  // namespace nvspan::bindings
