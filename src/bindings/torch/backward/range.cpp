// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch/backward/range.hpp"

#include <algorithm>
#include <new>
#include <unordered_map>
#include <utility>

#include "bindings/annotation/annotation.hpp"
#include "bindings/device/range_object.hpp"
#include "bindings/device/stream.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

// What is open in one pass: a callable for the engine.
struct Pass {
  PyObject_HEAD int64_t number;
  BackwardRanges ranges;
};

object_mutex passes_mutex;

std::unordered_map<int64_t, Pass*>& passes() {
  static auto* const map = new std::unordered_map<int64_t, Pass*>;
  return *map;
}

Pass* as_pass(PyObject* object) noexcept { return reinterpret_cast<Pass*>(object); }

void end_pass(Pass* pass) noexcept {
  const BackwardRanges ranges = std::exchange(pass->ranges, {});
  for (auto each = ranges.rbegin(); each != ranges.rend(); ++each) {
    (*each)->end(pass->number);
  }
}

PyObject* pass_call(PyObject* object, PyObject*, PyObject*) {
  end_pass(as_pass(object));
  Py_RETURN_NONE;
}

void pass_dealloc(PyObject* object) {
  const py_error_scope scope;
  Pass* pass = as_pass(object);
  end_pass(pass);
  {
    const std::lock_guard<object_mutex> lock(passes_mutex);
    passes().erase(pass->number);
  }
  pass->ranges.~BackwardRanges();
  free_object(object);
}

// The pass that this thread runs; the engine holds it. Null if the engine does not take it.
Pass* pass_of(int64_t number) {
  {
    const std::lock_guard<object_mutex> lock(passes_mutex);
    const auto found = passes().find(number);
    if (found != passes().end()) return found->second;
  }
  Pass* pass = PyObject_New(Pass, state().torch.pass_type);
  if (!pass) return nullptr;
  pass->number = number;
  new (&pass->ranges) BackwardRanges;
  const py_ref owned = py_ref::steal(reinterpret_cast<PyObject*>(pass));
  {
    const std::lock_guard<object_mutex> lock(passes_mutex);
    passes()[number] = pass;
  }
  const py_ref done =
      py_ref::steal(PyObject_CallOneArg(state().torch.functions.queue_callback, owned.get()));
  return done ? pass : nullptr;
}

void begin_in(Pass& pass, const std::shared_ptr<BackwardRange>& range) {
  const auto over = [&](const std::shared_ptr<BackwardRange>& each) {
    if (each->is_open() && each->is_before(*range)) each->close();
    return !each->is_open();
  };
  for (size_t i = pass.ranges.size(); i-- > 0;) {  // the innermost first
    if (over(pass.ranges[i])) pass.ranges.erase(pass.ranges.begin() + static_cast<ptrdiff_t>(i));
  }
  pass.ranges.push_back(range);
}

annotate::Span start(Annotation* annotation, uint64_t payload) noexcept {
  const annotate::ToolTable* tool = annotate::listening_tool();
  annotate::ReadyEvent& event = annotation->fields->event;
  annotate::Outgoing out;
  if (!tool || !annotate::prepare(event, *tool, out)) return {};
  out.attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  out.attributes.payload.llValue = static_cast<int64_t>(payload);
  const annotate::Span span = {annotate::send_start(out, *tool), out.epoch, event.domain};
  if (overflow_pending(*event.domain)) warn_overflow(*event.domain);
  return span;
}

cuda::DeviceRange* start_on_device(Annotation* annotation, uint64_t payload) noexcept {
  const annotate::ToolTable* tool = annotate::listening_tool();
  if (!tool || !cuda::available()) return nullptr;
  EventFields fields;
  copy_fields(fields, *annotation->fields);
  fields.event.attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  fields.event.attributes.payload.llValue = static_cast<int64_t>(payload);
  cuda::DeviceRange* range = begin_device_range(fields, tool, nullptr, {});
  clear_fields(fields);
  return range;
}

}  // namespace

int64_t current_pass() noexcept {
  const py_ref number = py_ref::steal(PyObject_CallNoArgs(state().torch.functions.graph_task_id));
  const long long value = number ? PyLong_AsLongLong(number.get()) : no_pass;
  if (value == no_pass) PyErr_Clear();
  return value;
}

BackwardRange::BackwardRange(Annotation* annotation, bool device, uint64_t first,
                             uint64_t last) noexcept
    : annotation_(annotation),
      first_(first),
      last_(last),
      forward_thread_(PyThread_get_thread_ident()),
      device_(device) {
  Py_INCREF(reinterpret_cast<PyObject*>(annotation));
}

BackwardRange::~BackwardRange() {
  close();
  Py_DECREF(reinterpret_cast<PyObject*>(annotation_));
}

void BackwardRange::begin(const std::shared_ptr<BackwardRange>& range, int64_t pass) noexcept {
  if (range->pass_ == pass || !annotate::listening_tool()) return;
  range->close();  // of a pass that has not ended
  range->pass_ = pass;
  range->backward_thread_ = PyThread_get_thread_ident();
  try {
    if (Pass* known = pass_of(pass)) begin_in(*known, range);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();  // it ends by other means
  }
  PyErr_Clear();
  range->open();
}

void BackwardRange::open() noexcept {
  span_ = start(annotation_, first_);
  if (device_ && span_.epoch != 0) device_range_ = start_on_device(annotation_, first_);
  PyErr_Clear();
}

void BackwardRange::end_here(int64_t pass) noexcept {
  if (pass_ == pass) close(true);
}

void BackwardRange::end(int64_t pass) noexcept {
  if (pass_ == pass) close();
}

void BackwardRange::close(bool on_current_stream) noexcept {
  const annotate::Span span = std::exchange(span_, annotate::Span{});
  cuda::DeviceRange* device = std::exchange(device_range_, nullptr);
  if (device) {
    const py_error_scope scope;
    cuda::Target here;
    const bool elsewhere = on_current_stream && resolve_stream(nullptr, here) == 0 &&
                           here.stream != device->target.stream;
    PyErr_Clear();
    {
      const released_gil released;
      cuda::end_range(device, elsewhere ? &here : nullptr);
    }
    cuda::release(device);
  }
  annotate::end_span(span);
}

int backward_range_init() {
  state().torch.pass_type =
      make_type("nvspan._core.BackwardPass", sizeof(Pass), Py_TPFLAGS_DISALLOW_INSTANTIATION,
                {{Py_tp_dealloc, slot(pass_dealloc)}, {Py_tp_call, slot(pass_call)}});
  return state().torch.pass_type ? 0 : -1;
}

}  // namespace nvspan::bindings
