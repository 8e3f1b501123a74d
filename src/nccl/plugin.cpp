// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// What NCCL finds by name in the extension module, and calls. Nothing here fails: a communicator or
// an operation that cannot be shown is left out, and NCCL goes on.

#include "cuda/device_ranges.hpp"
#include "nccl/communicator.hpp"
#include "nccl/profiler_abi.hpp"

namespace nvspan::nccl {

namespace {

// How long the end of a communicator waits for its last ranges to be sent, in seconds.
constexpr double longest_wait = 2;

Result begin_communicator(void** context, int* mask, uint64_t id, int ranks, int rank) noexcept {
  *context = nullptr;
  *mask = 0;
  cuda::DeviceContext* here = annotate::tool_possible() ? cuda::context_of_caller() : nullptr;
  if (!here) return success;
  *context = new Communicator(*here, id, ranks, rank);
  *mask = collective | point_to_point | kernel_channel;
  return success;
}

Result init4(void** context, int* mask, const char*, uint64_t communicator, int, int ranks,
             int rank, void*) {
  return begin_communicator(context, mask, communicator, ranks, rank);
}

Result init5(void** context, uint64_t communicator, int* mask, const char*, int, int ranks,
             int rank, void*) {
  return begin_communicator(context, mask, communicator, ranks, rank);
}

Handle* started(Communicator* communicator, const EventDescription& event, uint64_t type) noexcept {
  if (type == kernel_channel) {
    auto* parent = static_cast<Handle*>(event.parent);
    return parent ? parent->operation->channel_began(event.channel.time) : nullptr;
  }
  if (!communicator) return nullptr;
  Operation* operation = nullptr;
  if (type == collective) {
    const CollectiveCall& call = event.collective;
    operation = communicator->begin_collective(call.function, call.sequence, call.channels);
  } else if (type == point_to_point) {
    const PointToPointCall& call = event.point_to_point;
    operation =
        communicator->begin_pair(call.function, static_cast<uint64_t>(call.peer), call.channels);
  }
  return operation ? operation->call() : nullptr;
}

Result start4(void* context, void** handle, EventDescription* event) {
  *handle = started(static_cast<Communicator*>(context), *event, event->type4);
  return success;
}

Result start5(void* context, void** handle, EventDescription* event) {
  *handle = started(static_cast<Communicator*>(context), *event, event->type5);
  return success;
}

Result stop(void* handle) {
  if (!handle) return success;
  Operation* operation = static_cast<Handle*>(handle)->operation;
  if (operation->let_go()) operation->owner().forget(operation);
  return success;
}

Result record_state(void* handle, int state, StateArguments* arguments) {
  if (!handle || state != kernel_channel_stopped || !arguments) return success;
  auto* channel = static_cast<Handle*>(handle);
  if (channel->is_channel) channel->operation->channel_stopped(arguments->time);
  return success;
}

Result finalize(void* context) {
  if (!context) return success;
  delete static_cast<Communicator*>(context);
  cuda::flush(longest_wait);
  return success;
}

}  // namespace

}  // namespace nvspan::nccl

#if defined(__GNUC__)
#define NVSPAN_NCCL_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define NVSPAN_NCCL_EXPORT extern "C"
#endif

// NCCL's names. NOLINTBEGIN(readability-identifier-naming)
NVSPAN_NCCL_EXPORT nvspan::nccl::Profiler<nvspan::nccl::Init4> ncclProfiler_v4;
NVSPAN_NCCL_EXPORT nvspan::nccl::Profiler<nvspan::nccl::Init5> ncclProfiler_v5;

nvspan::nccl::Profiler<nvspan::nccl::Init4> ncclProfiler_v4 = {
    "nvspan",           nvspan::nccl::init4,        nvspan::nccl::start4,
    nvspan::nccl::stop, nvspan::nccl::record_state, nvspan::nccl::finalize};
nvspan::nccl::Profiler<nvspan::nccl::Init5> ncclProfiler_v5 = {
    "nvspan",           nvspan::nccl::init5,        nvspan::nccl::start5,
    nvspan::nccl::stop, nvspan::nccl::record_state, nvspan::nccl::finalize};
// NOLINTEND(readability-identifier-naming)
