// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the profile knows of one code object or C function: whether it is wanted, and its event.
//
// It is kept in the code object itself and goes with it.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/support/py.hpp"
#include "bindings/event/event_fields.hpp"
#include "bindings/profile/threads.hpp"

namespace nvspan::bindings {

struct ProfileSettings {
  bool linenos = true;
  bool c_functions = false;
  uint32_t max_depth = UINT32_MAX;
  bool include_all = true;  // whatever `include` says
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  std::string own_folder;  // of our own Python files, whose calls are not shown
  // The folders of the standard library, each with a slash at its end. Its code and the import
  // machinery are hidden, so that their time is their caller's; with no folder they are not.
  std::vector<std::string> library;
};

// The profile that is enabled. Changed under the GIL, by whoever enables one.
struct ProfileState {
  std::atomic<uint64_t> session{0};  // 0: none collects; each that begins has a number of its own
  ProfileSettings settings;
};

extern ProfileState profile_state;

void profile_set_settings(ProfileSettings settings) noexcept;

struct ProfileCode {
  std::atomic<uint64_t> verdict{0};  // the session that it is of, shifted, and whether it is wanted
  std::atomic<annotate::ReadyEvent*> event{nullptr};
  EventFields named;
  EventFields with_line;
  bool have_named = false;
  bool have_line = false;
  // Of a generator or coroutine; 0: of another function. By category the recording's reader knows
  // the stretches in which it runs: src/reader/file/resolve.cpp.
  uint32_t call_category = 0;
  uint32_t resumed_category = 0;
  int first_offset = -1;  // bytes: of its first instruction after that which makes the object

  bool judged(uint64_t session) const noexcept {
    return verdict.load(std::memory_order_acquire) >> 1 == session;
  }
  bool wanted() const noexcept { return verdict.load(std::memory_order_relaxed) & 1; }

  // Of the frame that runs, whose latest instruction is at `offset`.
  ProfileStretch stretch(uintptr_t frame, int offset) const noexcept {
    if (call_category == 0) return {};
    if (offset <= first_offset) return {call_category, profile_begin_call(frame, this)};
    return {resumed_category, profile_resume_call(frame, this)};
  }
};

#if PY_VERSION_HEX >= 0x030C0000
constexpr auto get_code_extra = PyUnstable_Code_GetExtra;
constexpr auto set_code_extra = PyUnstable_Code_SetExtra;
constexpr auto request_code_extra_index = PyUnstable_Eval_RequestCodeExtraIndex;
#else
constexpr auto get_code_extra = _PyCode_GetExtra;
constexpr auto set_code_extra = _PyCode_SetExtra;
constexpr auto request_code_extra_index = _PyEval_RequestCodeExtraIndex;
#endif

namespace detail {
extern Py_ssize_t profile_code_index;
extern object_mutex profile_codes_mutex;  // of what code objects keep; nothing else inside
ProfileCode* judge_profile_code(PyObject* code, uint64_t session) noexcept;
}  // namespace detail

// What is known of `code`, perhaps from an earlier session, or null.
inline ProfileCode* profile_code_known(PyObject* code) noexcept {
  std::lock_guard<object_mutex> lock(detail::profile_codes_mutex);
  void* extra = nullptr;
  if (get_code_extra(code, detail::profile_code_index, &extra) < 0) PyErr_Clear();
  return static_cast<ProfileCode*>(extra);
}

// The same, judged by the settings of `session`; null without memory. `code` is that of the frame
// that runs, whose module it is judged by.
inline ProfileCode* profile_code(PyObject* code, uint64_t session) noexcept {
  ProfileCode* known = profile_code_known(code);
  return known && known->judged(session) ? known : detail::judge_profile_code(code, session);
}

// Of a call of `code` that is suspended and never goes on: where the profile ends, it does.
void profile_send_unfinished(PyObject* code, const ProfileCode& known, uint64_t call) noexcept;

// The event of a C function, or null for any other callable.
annotate::ReadyEvent* profile_c_function_event(PyObject* callable) noexcept;

// The domain of all events, a Domain; borrowed. Valid after profile_codes_prepare. Its critical
// section is that of the settings and of what code objects keep.
PyObject* profile_domain() noexcept;

// Called before the first session. 0, or -1 with an exception set.
int profile_codes_prepare();

}  // namespace nvspan::bindings
