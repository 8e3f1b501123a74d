// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/check/host.hpp"

#include <cstdio>

#include "annotate/layers/check.hpp"
#include "bindings/check/sites.hpp"
#include "bindings/support/entering_frame.hpp"
#include "bindings/support/module_state.hpp"

#if PY_VERSION_HEX < 0x030B0000
#include <frameobject.h>
#endif

namespace nvspan::bindings {

namespace {

thread_local bool may_raise;

constexpr int coroutine_flags = CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;

// The frame of the outermost coroutine that runs in this thread.
const void* outermost_coroutine() noexcept {
  if (!inside_coroutine()) return nullptr;
  const py_error_scope scope;
  const void* outermost = nullptr;
  py_ref frame =
      py_ref::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame) {
    auto* current = reinterpret_cast<PyFrameObject*>(frame.get());
    py_ref code = py_ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(current)));
    if (reinterpret_cast<PyCodeObject*>(code.get())->co_flags & coroutine_flags)
      outermost = current;
    frame = py_ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(current)));
  }
  return outermost;
}

void warn_at(const annotate::CheckReport& report) noexcept {
  const SourceLine site = line_of_site(report.site);
  py_ref text = py_ref::steal(PyUnicode_DecodeUTF8(
      report.text.data(), static_cast<Py_ssize_t>(report.text.size()), "replace"));
  py_ref file = py_ref::steal(
      PyUnicode_DecodeUTF8(site.file.data(), static_cast<Py_ssize_t>(site.file.size()), "replace"));
  if (text && file) {
    PyErr_WarnExplicitObject(state().warning_type, text.get(), file.get(), site.line, nullptr,
                             nullptr);
  }
}

void report_finding(const annotate::CheckReport& report, bool first, bool calling) noexcept {
  if (!calling) {
    if (first) std::fprintf(stderr, "nvspan check: %s\n", report.text.c_str());
    return;
  }
  if (may_raise && !PyErr_Occurred()) {
    if (state().check.is_strict)
      PyErr_SetString(state().check.error, report.text.c_str());
    else if (first)
      warn_at(report);
    return;
  }
  const py_error_scope scope;
  if (state().check.is_strict)
    PyErr_SetString(state().check.error, report.text.c_str());
  else if (first)
    warn_at(report);
  if (PyErr_Occurred()) PyErr_WriteUnraisable(state().warning_type);
}

std::string text_of_site(uint32_t site) { return site_text(site); }

constexpr annotate::CheckHost host = {calling_site, text_of_site, outermost_coroutine,
                                      report_finding};

PyObject* site_tuple(uint32_t id) {
  if (id == 0) Py_RETURN_NONE;
  const SourceLine site = line_of_site(id);
  return Py_BuildValue("(sis)", site.file.c_str(), site.line, site.function.c_str());
}

}  // namespace

RaisingChecks::RaisingChecks() noexcept : before_(may_raise) { may_raise = true; }
RaisingChecks::~RaisingChecks() { may_raise = before_; }

void start_check_mode(bool strict, const char* own_folder) {
  state().check.is_strict = strict;
  if (own_folder) look_through(own_folder);
  annotate::start_checking(host);
}

PyObject* check_report_list() {
  uint64_t lost = 0;
  const std::vector<annotate::CheckReport> reports = annotate::check_reports(lost);
  py_ref list = py_ref::steal(PyList_New(0));
  for (const annotate::CheckReport& report : reports) {
    py_ref site = py_ref::steal(site_tuple(report.site));
    py_ref other = py_ref::steal(site_tuple(report.other));
    if (!list || !site || !other) return nullptr;
    py_ref item = py_ref::steal(Py_BuildValue("(ssOOK)", annotate::name_of(report.kind),
                                              report.text.c_str(), site.get(), other.get(),
                                              static_cast<unsigned long long>(report.count)));
    if (!item || PyList_Append(list.get(), item.get()) < 0) return nullptr;
  }
  return list.release();
}

uint64_t check_reports_lost() {
  uint64_t lost = 0;
  annotate::check_reports(lost);
  return lost;
}

int check_host_add_to_module(PyObject* module) {
  state().check.error = PyErr_NewExceptionWithDoc(
      "nvspan.CheckError", "Raised in strict check mode by the call that does not pair up.",
      PyExc_RuntimeError, nullptr);
  return state().check.error ? PyModule_AddObjectRef(module, "CheckError", state().check.error)
                             : -1;
}

}  // namespace nvspan::bindings
