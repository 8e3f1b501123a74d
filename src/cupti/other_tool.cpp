// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "cupti/other_tool.hpp"

#include <fstream>
#include <string>

namespace nvspan::cupti {
namespace {

struct ToolLibrary {
  const char* part;  // of a path in /proc/self/maps
  const char* tool;
};
constexpr ToolLibrary libraries[] = {
    {"/libToolsInjection", "Nsight Systems"},
    {"/libInterceptorInjection", "Nsight Compute"},
    {"/libTreeLauncherTargetInjection", "Nsight Compute"},
    {"/libcuda-injection.so", "Nsight Compute"},
    {"/libcudadebugger.so", "cuda-gdb"},
};

bool is_debugged_by_cuda_gdb() {
  std::ifstream status("/proc/self/status");
  std::string line;
  constexpr const char key[] = "TracerPid:";
  constexpr std::size_t size = sizeof key - 1;
  while (std::getline(status, line)) {
    if (line.compare(0, size, key) != 0) continue;
    const std::string pid = line.substr(line.find_first_not_of(" \t", size));
    std::string name;
    std::getline(std::ifstream("/proc/" + pid + "/comm") >> std::ws, name);
    return name.compare(0, 8, "cuda-gdb") == 0;
  }
  return false;
}

}  // namespace

const char* other_gpu_tool() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    for (const ToolLibrary& library : libraries) {
      if (line.find(library.part) != std::string::npos) return library.tool;
    }
  }
  return is_debugged_by_cuda_gdb() ? "cuda-gdb" : nullptr;
}

}  // namespace nvspan::cupti
