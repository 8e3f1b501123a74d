// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/names/cuda_names.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "annotate/tool/attachment.hpp"
#include "core/os/fork_lock.hpp"

namespace nvspan::annotate {

namespace {

constexpr size_t most_names = 4096;

struct CudaName {
  CudaObject kind;
  uint64_t handle;
  std::string text;
};

struct CudaNames {
  std::mutex mutex;
  std::vector<CudaName> all;  // oldest first
};

CudaNames& cuda_names() noexcept {
  static CudaNames* const it = new CudaNames;
  return *it;
}

#if NVSPAN_HAVE_NVTX
template <class Handle>
void send(const ToolTable& tool, unsigned id, Handle handle, const std::string& text) noexcept {
  using Call = void(NVTX_API*)(Handle, const char*);
  if (auto call = tool.cuda_slot<Call>(id)) call(handle, text.c_str());
}

void send_name(const ToolTable& tool, const CudaName& name) noexcept {
  const auto pointer = reinterpret_cast<void*>(static_cast<uintptr_t>(name.handle));
  switch (name.kind) {
    case CudaObject::device:
      send(tool, NVTX_CBID_CUDA_NameCuDeviceA, static_cast<int>(name.handle), name.text);
      break;
    case CudaObject::stream:
      send(tool, NVTX_CBID_CUDA_NameCuStreamA, pointer, name.text);
      break;
    default:
      send(tool, NVTX_CBID_CUDA_NameCuEventA, pointer, name.text);
  }
}
#else
void send_name(const ToolTable&, const CudaName&) noexcept {}
#endif

std::mutex& cuda_names_mutex() noexcept { return cuda_names().mutex; }

// A forked child cannot use the parent's streams and events; their handles may come again there.
void keep_devices() noexcept {
  auto& all = cuda_names().all;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const CudaName& name) { return name.kind != CudaObject::device; }),
            all.end());
}

}  // namespace

void name_cuda_object(CudaObject kind, uint64_t handle, const std::string& name) {
  core::hold_over_forks<cuda_names_mutex, keep_devices>();
  listening_tool();  // decides, so that the name reaches the tool now or at its attachment
  const CudaName entry{kind, handle, name};
  {
    std::lock_guard<std::mutex> lock(cuda_names().mutex);
    auto& all = cuda_names().all;
    const auto found = std::find_if(all.begin(), all.end(), [&](const CudaName& other) {
      return other.kind == kind && other.handle == handle;
    });
    if (found != all.end()) all.erase(found);
    if (all.size() >= most_names) all.erase(all.begin());
    all.push_back(entry);
  }
  if (const ToolTable* tool = closing_tool()) send_name(*tool, entry);
}

void send_cuda_names(const ToolTable& tool) noexcept {
  std::vector<CudaName> all;
  {
    std::lock_guard<std::mutex> lock(cuda_names().mutex);
    all = cuda_names().all;
  }
  for (const CudaName& name : all) send_name(tool, name);
}

size_t named_cuda_objects() noexcept {
  std::lock_guard<std::mutex> lock(cuda_names().mutex);
  return cuda_names().all.size();
}

}  // namespace nvspan::annotate
