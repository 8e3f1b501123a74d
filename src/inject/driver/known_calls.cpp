// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/driver/known_calls.hpp"

#include <cstddef>
#include <cstring>

namespace nvspan::inject {
namespace {

// A call's parameters lie as members of a struct in their order.
struct LaunchParameters {
  void* function;
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
};
struct LaunchConfigurationParameters {  // CUlaunchConfig
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
};
struct CopyParameters {
  void *to, *from;
  std::size_t bytes;
  void* stream;
};
struct PeerCopyParameters {
  void *to, *to_context, *from, *from_context;
  std::size_t bytes;
  void* stream;
};
struct ArrayCopyParameters {
  void* array;
  std::size_t offset;
  void* memory;
  std::size_t bytes;
  void* stream;
};
struct SetParameters {
  void* to;
  unsigned value;
  std::size_t count;
  void* stream;
};
struct Set2DParameters {
  void* to;
  std::size_t pitch;
  unsigned value;
  std::size_t width, height;
  void* stream;
};

struct CallPlace {
  std::string_view name;  // without the version
  std::size_t stream = CallTraits::nowhere;
  std::size_t event = CallTraits::nowhere;
};
constexpr CallPlace places[] = {
    {"cuLaunchKernel", offsetof(LaunchParameters, stream)},
    {"cuLaunchCooperativeKernel", offsetof(LaunchParameters, stream)},
    {"cuLaunchKernelEx", offsetof(LaunchConfigurationParameters, stream)},
    {"cuLaunchHostFunc", 0},
    {"cuGraphLaunch", sizeof(void*)},
    {"cuStreamSynchronize", 0},
    {"cuStreamWaitEvent", 0, sizeof(void*)},
    {"cuEventRecord", sizeof(void*), 0},
    {"cuEventRecordWithFlags", sizeof(void*), 0},
    {"cuEventSynchronize", CallTraits::nowhere, 0},
    {"cuEventDestroy", CallTraits::nowhere, 0},
    {"cuStreamAddCallback", 0},
    {"cuMemcpyAsync", offsetof(CopyParameters, stream)},
    {"cuMemcpyHtoDAsync", offsetof(CopyParameters, stream)},
    {"cuMemcpyDtoHAsync", offsetof(CopyParameters, stream)},
    {"cuMemcpyDtoDAsync", offsetof(CopyParameters, stream)},
    {"cuMemcpyHtoAAsync", offsetof(ArrayCopyParameters, stream)},
    {"cuMemcpyAtoHAsync", offsetof(ArrayCopyParameters, stream)},
    {"cuMemcpy2DAsync", sizeof(void*)},
    {"cuMemcpy3DAsync", sizeof(void*)},
    {"cuMemcpy3DPeerAsync", sizeof(void*)},
    {"cuMemcpyPeerAsync", offsetof(PeerCopyParameters, stream)},
    {"cuMemsetD8Async", offsetof(SetParameters, stream)},
    {"cuMemsetD16Async", offsetof(SetParameters, stream)},
    {"cuMemsetD32Async", offsetof(SetParameters, stream)},
    {"cuMemsetD2D8Async", offsetof(Set2DParameters, stream)},
    {"cuMemsetD2D16Async", offsetof(Set2DParameters, stream)},
    {"cuMemsetD2D32Async", offsetof(Set2DParameters, stream)},
};

constexpr std::string_view memory_changes[] = {
    "cuMemAlloc",    "cuMemFree",   "cuMemCreate",   "cuMemRelease",  "cuMemPool",
    "cuArrayCreate", "cuArray3DCr", "cuArrayDestro", "cuMipmapped",   "cuModuleLoad",
    "cuLibraryLo",   "cuCtxCreate", "cuModuleUnl",   "cuLibraryUnlo", "cuDevicePrima"};

bool begins_with(std::string_view text, std::string_view with) noexcept {
  return text.substr(0, with.size()) == with;
}

bool cut_end(std::string_view& text, std::string_view end) noexcept {
  if (text.size() < end.size() || text.substr(text.size() - end.size()) != end) return false;
  text.remove_suffix(end.size());
  return true;
}

std::uintptr_t handle_at(const void* parameters, std::uint8_t offset) noexcept {
  std::uintptr_t handle = 0;
  std::memcpy(&handle, static_cast<const char*>(parameters) + offset, sizeof handle);
  return handle;
}

}  // namespace

CallTraits traits_of(std::string_view name) noexcept {
  CallTraits traits;
  for (const std::string_view change : memory_changes) {
    traits.changes_memory = traits.changes_memory || begins_with(name, change);
  }
  traits.per_thread = cut_end(name, "_ptsz") || cut_end(name, "_ptds");
  if (!cut_end(name, "_v2")) cut_end(name, "_v3");
  traits.launches = begins_with(name, "cuLaunch") || name == "cuGraphLaunch";
  traits.in_configuration = name == "cuLaunchKernelEx";
  for (const CallPlace& place : places) {
    if (place.name != name) continue;
    traits.stream = static_cast<std::uint8_t>(place.stream);
    traits.event = static_cast<std::uint8_t>(place.event);
  }
  return traits;
}

std::uint64_t stream_of(const CallTraits& traits, const void* parameters) noexcept {
  if (traits.stream == CallTraits::nowhere || parameters == nullptr) return 0;
  const void* from = parameters;
  if (traits.in_configuration) {
    std::memcpy(&from, parameters, sizeof from);
    if (from == nullptr) return 0;
  }
  const std::uintptr_t stream = handle_at(from, traits.stream);
  if (stream == 0) return traits.per_thread ? 2 : 1;
  return stream;
}

std::uint64_t event_of(const CallTraits& traits, const void* parameters) noexcept {
  if (traits.event == CallTraits::nowhere || parameters == nullptr) return 0;
  return handle_at(parameters, traits.event);
}

}  // namespace nvspan::inject
