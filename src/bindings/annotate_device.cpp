// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/annotate_device.hpp"

#include <memory>

#include "annotate/open_ranges.hpp"
#include "bindings/device_range_object.hpp"
#include "bindings/device_stream.hpp"
#include "bindings/entering_frame.hpp"
#include "bindings/module_state.hpp"
#include "bindings/open_spans.hpp"
#include "bindings/ranges.hpp"
#include "cuda/device_range.hpp"

namespace nvspan {

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
                      const ToolTable& tool) noexcept {
  OpenEntry open;
  if (as_span) {
    open.span = send_start_of(fields, tool, annotation->failed_lazily);
    return open;
  }
  open.pushed = true;
  open.span.epoch = send_push_of(annotation, fields, tool, annotation->failed_lazily);
  if (open.span.epoch != 0) note_push(annotation, fields.event.domain, open.span.epoch);
  return open;
}

// Where the range lies, or else the current stream. False: there is none.
bool stream_of(const cuda::DeviceRange* range, cuda::Target& target) noexcept {
  if (range) {
    target = range->target;
    return true;
  }
  const py_error_scope scope;
  if (resolve_stream(nullptr, target) == 0) return true;
  PyErr_Clear();
  return false;
}

}  // namespace

int set_device_part(Annotation* annotation, PyObject* device, PyObject* sync) {
  DevicePart part;
  if (flag("device", device, part.range) < 0 || flag("sync", sync, part.sync) < 0) return -1;
  delete annotation->device;
  annotation->device = part.range || part.sync ? new DevicePart(part) : nullptr;
  return 0;
}

void enter_with_device(Annotation* annotation, RangeKind kind, const ToolTable& tool) noexcept {
  EventFields* fields = annotation->fields;
  EventFields evaluated;  // once for both ranges
  if (fields->lazy()) {
    if (!fields->event.domain->connected(tool)) return;
    evaluate_fields(evaluated, *fields, annotation->failed_lazily);
    fields = &evaluated;
  }
  const EnteringFrame frame = entering_frame();
  const bool as_span = kind == RangeKind::span || (kind == RangeKind::automatic && frame.suspends);
  OpenEntry open = open_on_cpu(annotation, *fields, as_span, tool);
  if (open.span.epoch != 0) {
    if (annotation->device->range && tool.reaches_tool) {
      open.device = begin_device_range(*fields, &tool, nullptr, {});
    }
    if (!annotation->spans) annotation->spans = new OpenSpans;
    annotation->spans->add(frame.key, PyThread_get_thread_ident(), open);
  }
  clear_fields(evaluated);
}

void close_with_device(Annotation* annotation, const OpenEntry& open) noexcept {
  cuda::Target target;
  const bool wait = annotation->device->sync && stream_of(open.device, target);
  if (open.device || wait) {
    {
      const released_gil released;
      if (open.device) cuda::end_range(open.device, nullptr);
      if (wait) cuda::synchronize(target);
    }
    if (open.device) cuda::release(open.device);
  }
  if (open.pushed) {
    pop_owned(annotation);
  } else {
    end_span(open.span);
  }
}

}  // namespace nvspan
