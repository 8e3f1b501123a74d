// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Device ranges as nvspan's own annotations report them while they are open, for readers of the
// recording's file.

#include "inject/decode/call.hpp"
#include "record/live/live_devices.hpp"

#define NVSPAN_EXPORT extern "C" __attribute__((visibility("default")))

// `domain` null: the default domain. `of`: number, rank and ranks of NCCL's operation. What
// nvspan_inject_device_state() takes; 0: it is not kept.
NVSPAN_EXPORT std::uint64_t nvspan_inject_open_device(const char* domain, const char* name,
                                                      int device, std::uint64_t stream,
                                                      std::uint32_t tid, const std::uint32_t* of) {
  using nvspan::inject::Call;
  return nvspan::inject::guarded(std::uint64_t{0}, [&](Call& call) {
    nvspan::record::DeviceOpening range;
    if (domain != nullptr) range.domain = domain;
    if (name != nullptr) range.name = name;
    range.device = static_cast<std::uint64_t>(device);
    range.stream = stream;
    range.tid = tid;
    range.number = of[0];
    range.rank = of[1];
    range.ranks = of[2];
    return call.session.capture().open_device(range);
  });
}

// `state` is of record::LiveDeviceState.
NVSPAN_EXPORT void nvspan_inject_device_state(std::uint64_t range, unsigned state) {
  using nvspan::inject::Call;
  nvspan::inject::guarded([&](Call& call) {
    call.session.capture().device_state(range, static_cast<nvspan::record::LiveDeviceState>(state));
  });
}
