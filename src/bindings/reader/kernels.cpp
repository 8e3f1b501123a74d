// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/kernels.hpp"

#include <pybind11/stl.h>

#include "bindings/reader/reports.hpp"
#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/result.hpp"
#include "reader/projection/kernel_sums.hpp"
#include "reader/projection/occupancy.hpp"
#include "reader/scan/work_sites.hpp"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using reader::KernelTimes;
using reader::Recording;

// The limits that all GPUs of the recording have; null: it has none, or they differ.
const record::GpuLimitsDefinition* common_limits(const Recording& recording) {
  const record::GpuLimitsDefinition* common = nullptr;
  const auto essence = [](const record::GpuLimitsDefinition& gpu) {
    return std::tie(gpu.major_capability, gpu.minor_capability, gpu.threads_of_warp, gpu.warps,
                    gpu.blocks, gpu.registers, gpu.shared_bytes);
  };
  for (const reader::ReadProcess& process : recording.processes()) {
    for (const auto& [device, gpu] : process.gpus) {
      if (common != nullptr && essence(*common) != essence(gpu.limits)) return nullptr;
      common = &gpu.limits;
    }
  }
  return common;
}

py::object kernel_row(const Recording& recording, const KernelTimes& times, std::int64_t busy,
                      const record::GpuLimitsDefinition* gpu) {
  const reader::ReadSite& site = recording.sites()[times.kernel];
  NewResult row("KernelTime");
  row["name"] = string_at(recording, site.name);
  row["kind"] = reader::work_kind_of(recording, times.kernel);
  row["shapes"] = times.shapes;
  if (site.shape != 0) {
    const record::LaunchShape& shape = recording.shapes()[site.shape];
    const auto& [grid, block, registers, static_shared, dynamic_shared] = shape;
    row["grid"] = py::make_tuple(grid[0], grid[1], grid[2]);
    row["block"] = py::make_tuple(block[0], block[1], block[2]);
    row["registers"] = registers;
    row["shared"] = std::uint64_t{static_shared} + dynamic_shared;
    if (gpu != nullptr) {
      const auto found = reader::find_occupancy(*gpu, shape);
      if (found) row["occupancy"] = found->share;
      row["limiter"] = found ? found->limiter : "unknown";
    }
  }
  if (times.range >= 0) {
    const reader::ReadSite& range = recording.sites()[static_cast<std::size_t>(times.range)];
    row["domain"] = string_at(recording, recording.domains()[range.domain]);
    row["range"] = string_at(recording, range.name);
  }
  row["ranges"] = times.ranges;
  row["module"] = string_at(recording, times.module);
  row["backward"] = times.backward;
  row["count"] = times.count;
  row["total"] = times.total;
  row["mean"] = static_cast<double>(times.total) / static_cast<double>(times.count);
  if (times.median >= 0) row["p50"] = times.median;
  row["min"] = times.shortest;
  row["max"] = times.longest;
  row["first"] = times.first;
  row["share"] = busy == 0 ? 0.0 : static_cast<double>(times.total) / static_cast<double>(busy);
  return row.done();
}

// `by`: 0 name, 1 range, 2 module; `forward`: sites of modules; `within`: whether each site's
// ranges count, empty: all do.
py::object kernels(const RecordingHandle& handle, std::uint8_t by, const std::string& call_domain,
                   const std::vector<std::string>& work_domains,
                   const std::vector<std::uint32_t>& forward, const std::vector<bool>& within) {
  reader::KernelOptions options;
  options.by = static_cast<reader::KernelGroups>(by);
  options.call_domain = call_domain;
  options.work_domains = work_domains;
  options.forward = forward;
  options.within = within;
  reader::KernelWork work;
  {
    const released_gil released;
    work = reader::sum_kernel_times(*handle.recording, handle.selection, options);
  }
  py::list rows;
  const record::GpuLimitsDefinition* const gpu = common_limits(*handle.recording);
  for (const KernelTimes& times : work.rows) {
    rows.append(kernel_row(*handle.recording, times, work.busy, gpu));
  }
  NewResult result("KernelWork");
  result["rows"] = rows;
  result["count"] = work.count;
  result["total"] = work.total;
  result["busy"] = work.busy;
  result["span"] = work.last - work.first;
  result["outside"] = work.outside;
  result["unlaunched"] = work.unlaunched;
  result["devices"] = work.devices;
  result["has_work"] = work.has_work;
  return result.done();
}

}  // namespace

void bind_kernels(py::module_& module) {
  Methods(module).def("kernels", &kernels, py::arg("handle"), py::arg("by"), py::arg("call_domain"),
                      py::arg("work_domains"), py::arg("forward"), py::arg("within"));
}

}  // namespace nvspan::bindings
