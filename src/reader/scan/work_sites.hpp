// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/file/recording.hpp"
#include "record/file/work_format.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvspan::reader {

// The kernels with which nvspan compares clocks and stamps streams are not the program's work. Our
// recorder leaves them out; in reports of other tools they are.
inline bool is_own_kernel(std::string_view name) { return name.rfind("nvspan_", 0) == 0; }

// Of each site: whether it is of the domain called so, and no kernel of nvspan's.
inline void mark_sites(const Recording& recording, std::string_view domain_name,
                       std::vector<std::uint8_t>& sites) {
  const std::int64_t domain = recording.domain_called(domain_name);
  sites.resize(recording.sites().size());
  for (std::size_t i = 0; i < sites.size() && domain >= 0; ++i) {
    const ReadSite& site = recording.sites()[i];
    if (site.domain == domain && !is_own_kernel(recording.text(site.name))) sites[i] = 1;
  }
}

// "kernel", "copy", "set" or "graph", of a site of work: as its category says, or in traces of
// torch's profiler its domain.
inline std::string_view work_kind_of(const Recording& recording, std::uint32_t site) {
  const ReadSite& of = recording.sites()[site];
  const std::string_view domain = recording.text(recording.domains()[of.domain]);
  if (domain == "gpu_memcpy") return "copy";
  if (domain == "gpu_memset") return "set";
  const std::string_view category = recording.text(of.category_name);
  for (const auto kind : {record::WorkKind::copy, record::WorkKind::set, record::WorkKind::graph}) {
    if (category == record::work_kind_text(kind)) return category;
  }
  return record::work_kind_text(record::WorkKind::kernel);
}

// Whether a call of CUDA does nothing but launch kernels or a graph: there are as many as kernels.
inline bool is_launch_call(std::string_view name) {
  for (const std::string_view start :
       {"cudaLaunchKernel", "cuLaunchKernel", "cudaGraphLaunch", "cuGraphLaunch"}) {
    if (name.substr(0, start.size()) == start) return true;
  }
  return false;
}

// By the name of a copy: nsys and our recorder write "Device-to-Host", torch's profiler "DtoH".
inline bool is_copy_to_host(std::string_view name) {
  return name.find("Device-to-Host") != std::string_view::npos ||
         name.find("DtoH") != std::string_view::npos;
}

}  // namespace nvspan::reader
