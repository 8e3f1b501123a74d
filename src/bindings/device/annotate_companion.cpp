// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/device/annotate_companion.hpp"

#include "bindings/annotation/companion.hpp"
#include "bindings/device/range_object.hpp"
#include "bindings/device/stream.hpp"
#include "cuda/device_ranges.hpp"

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

void annotate_device_init() noexcept { companion_calls = {begin, end}; }

}  // namespace nvspan::bindings
