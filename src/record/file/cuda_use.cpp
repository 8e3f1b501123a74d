// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/file/cuda_use.hpp"

#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace nvspan::record {
namespace {

constexpr std::string_view driver_library = "/libcuda.so";
constexpr std::string_view context_device = "/dev/nvidia-uvm\n";
constexpr std::size_t overlap = std::max(driver_library.size(), context_device.size()) - 1;

}  // namespace

CudaUse find_cuda_use() noexcept {
  const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return CudaUse::unknown;
  bool has_driver = false;
  bool has_context = false;
  char buffer[2048];  // small: a signal handler's stack may be 8 KB
  std::size_t kept = 0;
  while (!(has_driver && has_context)) {
    const ssize_t count = ::read(file, buffer + kept, sizeof buffer - kept);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    const std::string_view text(buffer, kept + static_cast<std::size_t>(count));
    has_driver = has_driver || text.find(driver_library) != std::string_view::npos;
    has_context = has_context || text.find(context_device) != std::string_view::npos;
    kept = std::min(text.size(), overlap);
    std::memmove(buffer, text.data() + text.size() - kept, kept);
  }
  ::close(file);
  if (!has_driver) return CudaUse::none;
  return has_context ? CudaUse::context : CudaUse::mapped;
}

}  // namespace nvspan::record
