// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/annotation/companion.hpp"

#include "annotate/event/open_ranges.hpp"
#include "bindings/event/open_spans.hpp"
#include "bindings/event/send.hpp"
#include "bindings/support/entering_frame.hpp"

namespace nvspan::bindings {

CompanionCalls companion_calls;

namespace {

int flag(const char* name, PyObject* value, bool& result) {
  if (!value) return 0;
  if (!PyBool_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s must be a bool, not %R", name, value);
    return -1;
  }
  result = value == Py_True;
  return 0;
}

// Opens the CPU range as the kind says. Returns what is open; its epoch is 0 if nobody wants it.
OpenEntry open_on_cpu(Annotation* annotation, EventFields& fields, bool as_span,
                      const annotate::ToolTable& tool) noexcept {
  OpenEntry open;
  if (as_span) {
    open.span = send_start_of(fields, tool, annotation->failed_lazily);
    return open;
  }
  open.pushed = true;
  open.span.epoch = send_push_of(annotation, fields, tool, annotation->failed_lazily);
  if (open.span.epoch != 0) annotate::note_push(annotation, fields.event.domain, open.span.epoch);
  return open;
}

}  // namespace

int set_companion(Annotation* annotation, PyObject* device, PyObject* sync) {
  Companion companion;
  if (flag("device", device, companion.device) < 0 || flag("sync", sync, companion.sync) < 0) {
    return -1;
  }
  delete annotation->companion;
  annotation->companion = companion.device || companion.sync ? new Companion(companion) : nullptr;
  return 0;
}

void enter_with_companion(Annotation* annotation, AnnotationKind kind,
                          const annotate::ToolTable& tool) noexcept {
  EventFields* fields = annotation->fields;
  EventFields evaluated;  // once for both ranges
  if (fields->lazy()) {
    if (!fields->event.domain->connected(tool)) return;
    evaluate_fields(evaluated, *fields, annotation->failed_lazily);
    fields = &evaluated;
  }
  const EnteringFrame frame = entering_frame();
  const bool as_span =
      kind == AnnotationKind::span || (kind == AnnotationKind::automatic && frame.suspends);
  if (annotation->companion->sync && tool.reaches_tool) companion_calls.before_wait(*fields);
  OpenEntry open = open_on_cpu(annotation, *fields, as_span, tool);
  if (open.span.epoch != 0) {
    if (annotation->companion->device && tool.reaches_tool) {
      open.device = companion_calls.begin(*fields, tool);
    }
    if (!annotation->spans) annotation->spans = new OpenSpans;
    annotation->spans->add(frame.key, PyThread_get_thread_ident(), open);
  }
  clear_fields(evaluated);
}

void close_with_companion(Annotation* annotation, const OpenEntry& open) noexcept {
  companion_calls.end(open.device, annotation->companion->sync);
  if (open.pushed) {
    annotate::pop_owned(annotation);
  } else {
    annotate::end_span(open.span);
  }
}

}  // namespace nvspan::bindings
