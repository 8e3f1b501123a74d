// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/device/annotate_companion.hpp"

#include "bindings/annotation/companion.hpp"
#include "bindings/device/range_object.hpp"
#include "bindings/device/stream.hpp"
#include "bindings/support/module_state.hpp"
#include "cuda/device_ranges.hpp"

#include <atomic>

namespace nvspan::bindings {

namespace {

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

// Range replay measures such a range as one thing, for which the context has to be there.
void before_wait(const EventFields& fields) noexcept {
  static std::atomic<bool> is_warm{false};
  if (!annotate::tool_replays_ranges() || is_warm.load(std::memory_order_relaxed)) return;
  is_warm.store(true, std::memory_order_relaxed);  // or this is said once
  if (cuda::has_context()) return;
  const py_error_scope scope;
  warn_once_quietly(
      "cold context",
      "annotate(%R, sync=True) starts before the process has a CUDA context: range replay of "
      "Nsight Compute cannot profile what makes one; run it once before "
      "(nvspan.torch.warmup(model, *inputs), or nvspan.nsight.profile_region(..., warmup=1))",
      fields.message ? fields.message : Py_None);
}

cuda::DeviceRange* begin(EventFields& fields, const annotate::ToolTable& tool) noexcept {
  return begin_device_range(fields, &tool, nullptr, {});
}

void end(cuda::DeviceRange* range, bool wait) noexcept {
  cuda::Target target;
  wait = wait && stream_of(range, target);
  if (!range && !wait) return;
  {
    const released_gil released;
    if (range) cuda::end_range(range, nullptr);
    if (wait) cuda::synchronize(target);
  }
  if (range) cuda::release(range);
}

}  // namespace

void annotate_device_init() noexcept { companion_calls = {before_wait, begin, end}; }

}  // namespace nvspan::bindings
