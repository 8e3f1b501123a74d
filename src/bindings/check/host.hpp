// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Check mode's view of Python: calling lines, tasks, and how a report is shown.

#include "bindings/support/py.hpp"
#include "annotate/layers/check.hpp"

namespace nvspan::bindings {

// `strict`: a report raises CheckError at the call at fault, where that call can raise. Lines of
// files below `own_folder` and of contextlib are looked through to their callers.
void start_check_mode(bool strict, const char* own_folder);

// The reports: a list of (kind, text, (file, line, function), the other such place or None, count).
PyObject* check_report_list();
uint64_t check_reports_lost();

int check_host_add_to_module(PyObject* module);

// Runs `call`, whose reports may raise. False with an exception set if one did.
class RaisingChecks {
 public:
  RaisingChecks() noexcept;
  ~RaisingChecks();
  RaisingChecks(const RaisingChecks&) = delete;
  RaisingChecks& operator=(const RaisingChecks&) = delete;

 private:
  bool before_;
};

template <class Call>
bool with_raising_checks(Call&& call) {
  const RaisingChecks scope;
  call();
  return PyErr_Occurred() == nullptr;
}

// Runs `close` after a call that gave `result`, null for an exception, which is kept. Null too if a
// report raises.
template <class Close>
PyObject* closed_result(PyObject* result, Close&& close) {
  if (!result) {
    const py_error_scope error;
    close();
  } else if (!annotate::checking()) {
    close();
  } else if (!with_raising_checks(close)) {
    Py_CLEAR(result);
  }
  return result;
}

}  // namespace nvspan::bindings
