// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "cupti/library.hpp"

#include "core/os/library.hpp"
#include "cupti/library_paths.hpp"

#include <cstdlib>
#include <type_traits>

namespace nvspan::cupti {
namespace {

bool take_functions(const core::Library& library, const std::string& path, CuptiLibrary& found) {
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function = library.symbol<std::decay_t<decltype(function)>>(name);
    if (function == nullptr && missing.empty()) missing = name;
  };
  CuptiFunctions& functions = found.functions;
  find(functions.version, "cuptiGetVersion");
  find(functions.subscribe, "cuptiSubscribe");
  find(functions.unsubscribe, "cuptiUnsubscribe");
  find(functions.enable_callback, "cuptiEnableCallback");
  find(functions.enable_domain, "cuptiEnableDomain");
  find(functions.result_string, "cuptiGetResultString");
  find(functions.register_buffers, "cuptiActivityRegisterCallbacks");
  find(functions.register_clock, "cuptiActivityRegisterTimestampCallback");
  find(functions.timestamp, "cuptiGetTimestamp");
  find(functions.enable, "cuptiActivityEnable");
  find(functions.disable, "cuptiActivityDisable");
  find(functions.next_record, "cuptiActivityGetNextRecord");
  find(functions.dropped_records, "cuptiActivityGetNumDroppedRecords");
  find(functions.flush, "cuptiActivityFlushAll");
  functions.graph_node = library.symbol<decltype(functions.graph_node)>("cuptiGetGraphNodeId");
  found.path = path;
  found.problem = missing.empty() ? "" : path + " is too old: it has no " + missing;
  return missing.empty();
}

CuptiLibrary find_library() {
  CuptiLibrary found;
  std::string error;
  const auto take = [&](const std::string& path) {
    const core::Library library = core::Library::open(path, error);
    return library && take_functions(library, path, found);
  };
  if (const char* chosen = std::getenv("NVSPAN_LIBCUPTI"); chosen != nullptr && *chosen != '\0') {
    if (!take(chosen) && found.problem.empty()) found.problem = "NVSPAN_LIBCUPTI: " + error;
    return found;
  }
  const LibraryPaths paths = library_paths();
  // A second copy beside the program's own would disturb both.
  if (!paths.loaded.empty()) {
    if (!take(paths.loaded) && found.problem.empty()) found.problem = error;
    return found;
  }
  for (const std::string& path : paths.candidates) {
    if (take(path)) return found;
  }
  if (found.problem.empty()) {
    found.problem = "no CUPTI was found (libcupti.so, of the CUDA toolkit or nvidia-cuda-cupti)";
  }
  return found;
}

}  // namespace

const CuptiLibrary& cupti_library() {
  static const CuptiLibrary* const library = new CuptiLibrary(find_library());  // immortal
  return *library;
}

std::string result_text(const CuptiFunctions& functions, CuptiResult result) {
  const char* text = nullptr;
  if (functions.result_string(result, &text) != cupti_success || text == nullptr) text = "error";
  return std::string(text) + " (" + std::to_string(result) + ")";
}

}  // namespace nvspan::cupti
