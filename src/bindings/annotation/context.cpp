// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Entering and leaving an annotation.
#include "bindings/annotation/annotation_type.hpp"

#include "annotate/event/open_ranges.hpp"
#include "bindings/annotation/companion.hpp"
#include "bindings/check/host.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/event/send.hpp"
#include "bindings/support/entering_frame.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

namespace {

void start_on(Annotation* annotation, const void* frame, const annotate::ToolTable& tool) noexcept {
  const annotate::Span span = send_start_of(*annotation->fields, tool, annotation->failed_lazily);
  if (span.epoch == 0) return;
  if (!annotation->spans) annotation->spans = new OpenSpans;
  annotation->spans->add(frame, PyThread_get_thread_ident(), {span});
}

void push_on(Annotation* annotation, const annotate::ToolTable& tool) noexcept {
  EventFields& fields = *annotation->fields;
  const uint64_t epoch = send_push_of(annotation, fields, tool, annotation->failed_lazily);
  if (epoch != 0) annotate::note_push(annotation, fields.event.domain, epoch);
}

void enter_as(Annotation* annotation, AnnotationKind kind,
              const annotate::ToolTable& tool) noexcept {
  if (annotation->companion) {
    enter_with_companion(annotation, kind, tool);
  } else if (kind == AnnotationKind::nested) {
    push_on(annotation, tool);
  } else {
    const EnteringFrame frame = entering_frame();
    if (kind == AnnotationKind::span || frame.suspends) {
      start_on(annotation, frame.key, tool);
    } else {
      push_on(annotation, tool);
    }
  }
  notice_overflow(*annotation->fields);
}

void close(Annotation* annotation, const OpenEntry& open) noexcept {
  if (annotation->companion) {
    close_with_companion(annotation, open);
  } else {
    annotate::end_span(open.span);
  }
}

// Ends the span that this exit belongs to, if the object has one open.
[[gnu::noinline]] bool leave_span(Annotation* annotation) noexcept {
  constexpr int deepest = 6;  // contextlib puts up to four frames of its own in between
  const void* frames[deepest];
  const int count = calling_frames(frames, deepest);
  OpenEntry open;
  for (int i = 0; i < count; ++i) {
    if (annotation->spans->take_of_frame(frames[i], open)) {
      close(annotation, open);
      return true;
    }
  }
  if (!annotation->companion && annotate::has_open_range(annotation)) return false;
  if (annotation->spans->take_newest(PyThread_get_thread_ident(), false, open) ||
      annotation->spans->take_newest(0, true, open)) {
    close(annotation, open);
    return true;
  }
  return false;
}

}  // namespace

void annotation_enter(Annotation* annotation) noexcept {
  if (const annotate::ToolTable* tool = annotate::listening_tool())
    enter_as(annotation, annotation->kind, *tool);
}

void annotation_enter_suspended(Annotation* annotation) noexcept {
  const annotate::ToolTable* tool = annotate::listening_tool();
  if (!tool) return;
  const AnnotationKind kind = annotation->kind;
  enter_as(annotation, kind == AnnotationKind::nested ? kind : AnnotationKind::span, *tool);
}

void annotation_exit(Annotation* annotation) noexcept {
  if (annotation->spans && !annotation->spans->empty() && leave_span(annotation)) return;
  annotate::pop_owned(annotation);
}

void annotation_push(PyObject* annotation) noexcept {
  const annotate::ToolTable* tool = annotate::listening_tool();
  if (!tool) return;
  push_on(as_annotation(annotation), *tool);
  notice_overflow(*as_annotation(annotation)->fields);
}

bool annotation_wanted(PyObject* annotation) noexcept {
  const annotate::ReadyEvent& event = as_annotation(annotation)->fields->event;
  return event.domain->enabled() && event.level <= event.domain->level();
}

void annotation_pop(PyObject* annotation) noexcept { annotate::pop_owned(annotation); }

annotate::Span annotation_start(PyObject* annotation) noexcept {
  const annotate::ToolTable* tool = annotate::listening_tool();
  if (!tool) return {};
  Annotation* self = as_annotation(annotation);
  const annotate::Span span = send_start_of(*self->fields, *tool, self->failed_lazily);
  notice_overflow(*self->fields);
  return span;
}

void span_end(annotate::Span span) noexcept { annotate::end_span(span); }
bool listening() noexcept { return annotate::listening_tool() != nullptr; }
bool decided() noexcept { return annotate::tool_decided(); }

namespace {

struct AnnotationMethods {
  using Owner = Annotation;
  static constexpr const char* type = "annotate";
  static constexpr const char* object = "an annotate";
  static bool is_owner(PyObject* object) noexcept {
    return PyObject_TypeCheck(object, state().annotation.type);
  }
  static PyObject* enter(Annotation* annotation) {
    annotation_enter(annotation);
    return Py_NewRef(reinterpret_cast<PyObject*>(annotation));
  }
  static PyObject* exit(Annotation* annotation) {
    if (annotate::checking()) {
      if (!with_raising_checks([&] { annotation_exit(annotation); })) return nullptr;
    } else {
      annotation_exit(annotation);
    }
    Py_RETURN_FALSE;
  }
};

}  // namespace

int add_context_descriptors(PyTypeObject* type) {
  return add_context_methods<AnnotationMethods>(type);
}

void init_bound_methods(Annotation* annotation) noexcept {
  init_bound_methods<AnnotationMethods>(annotation);
}

}  // namespace nvspan::bindings
