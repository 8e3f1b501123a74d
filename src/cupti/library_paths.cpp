// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "cupti/library_paths.hpp"

#include "core/os/library.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace nvspan::cupti {
namespace {

// The newest first. Each works with any driver of its own or a later CUDA version.
constexpr const char* names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                 "libcupti.so"};
// Of a folder that holds Python packages.
constexpr const char* wheels[] = {"/nvidia/cu13/lib", "/nvidia/cuda_cupti/lib"};
// Of a CUDA toolkit, or of the folder of another of its libraries.
constexpr const char* in_toolkit[] = {"/extras/CUPTI/lib64", "/lib64", "/lib"};
constexpr const char* beside[] = {"", "/../extras/CUPTI/lib64", "/../../../extras/CUPTI/lib64"};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

class Search {
 public:
  void add_folder(const std::string& folder) {
    if (folder.empty()) return;
    for (const char* name : names) {
      const std::string path = folder + "/" + name;
      const auto& known = paths.candidates;
      if (std::find(known.begin(), known.end(), path) != known.end()) continue;
      if (::access(path.c_str(), R_OK) == 0) paths.candidates.push_back(path);
    }
  }
  // Of a library that is installed with Python packages: the wheels beside.
  void add_wheels(const std::string& path) {
    for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
      const std::size_t at = path.rfind(packages);
      if (at == std::string::npos) continue;
      const std::string folder = path.substr(0, at + packages.size() - 1);
      for (const char* wheel : wheels) add_folder(folder + wheel);
    }
  }
  void add_loaded(const std::string& path) {
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (name.substr(0, 11) == "libcupti.so") {
      paths.loaded = path;
      return;
    }
    const bool is_cuda = name.substr(0, 9) == "libcudart" || name.substr(0, 9) == "libcublas" ||
                         name.substr(0, 10) == "libc10_cuda";
    if (!is_cuda) return;
    for (const char* folder : beside) add_folder(folder_of(path) + folder);
    add_wheels(path);
  }

  LibraryPaths paths;
};

}  // namespace

LibraryPaths library_paths() {
  Search search;
  std::ifstream maps("/proc/self/maps");
  std::string line, last;
  while (std::getline(maps, line)) {
    const std::size_t at = line.find('/');
    if (at == std::string::npos || line.compare(at, std::string::npos, last) == 0) continue;
    last = line.substr(at);
    search.add_loaded(last);
  }
  search.add_wheels(core::library_of(reinterpret_cast<void (*)()>(library_paths)));
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const folder = std::getenv(variable);
    if (folder == nullptr || *folder == '\0') continue;
    for (const char* within : in_toolkit) search.add_folder(std::string(folder) + within);
  }
  for (const char* within : in_toolkit) {
    search.add_folder(std::string("/usr/local/cuda") + within);
  }
  for (const char* name : names) search.paths.candidates.emplace_back(name);
  return search.paths;
}

}  // namespace nvspan::cupti
