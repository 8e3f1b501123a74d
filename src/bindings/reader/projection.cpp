// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/support/py.hpp"

#include "reader/projection/projection.hpp"

#include <pybind11/stl.h>

#include "bindings/reader/reader_object.hpp"
#include "bindings/reader/reports.hpp"
#include "bindings/reader/values/result.hpp"
#include "reader/projection/sums.hpp"

#include <utility>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using reader::Projection;
using reader::Recording;

py::dict columns_of(const Recording& recording, Projection& projection) {
  std::vector<std::int64_t> domains, names;
  for (const std::int64_t number : projection.site) {
    const reader::ReadSite& site = recording.sites()[static_cast<std::size_t>(number)];
    domains.push_back(recording.domains()[site.domain]);
    names.push_back(site.name);
  }
  py::dict columns;
  const std::pair<const char*, std::vector<std::int64_t>*> all[] = {
      {"thread", &projection.thread},
      {"domain", &domains},
      {"name", &names},
      {"kind", &projection.kind},
      {"start", &projection.start},
      {"row", &projection.row},
      {"end", &projection.end},
      {"first", &projection.first},
      {"last", &projection.last},
      {"sum", &projection.sum},
      {"busy", &projection.busy},
      {"exclusive", &projection.exclusive},
      {"ops", &projection.ops},
      {"launches", &projection.calls},
      {"level", &projection.level},
      {"parent", &projection.parent},
      {"children", &projection.children},
      {"backward_ops", &projection.backward_ops},
      {"backward_sum", &projection.backward_sum},
      {"backward_busy", &projection.backward_busy}};
  for (const auto& [name, values] : all) columns[name] = view_of(std::move(*values));
  return columns;
}

void put(NewResult& row, const reader::DurationFigures& figures) {
  row["total"] = figures.sum;
  row["mean"] = figures.mean;
  row["median"] = figures.median;
  row["min"] = figures.shortest;
  row["max"] = figures.longest;
  row["std"] = figures.deviation;
}

py::list list_sums(const Recording& recording, const std::vector<reader::ProjectionSum>& sums) {
  py::list rows;
  for (const reader::ProjectionSum& sum : sums) {
    NewResult row("ProjectedRow");
    row["domain"] = string_at(recording, recording.domains()[sum.domain]);
    row["name"] = string_at(recording, sum.name);
    row["kind"] = kind_text(sum.kind);
    row["calls"] = sum.calls;
    put(row, sum.projected);
    row["range_time"] = sum.range_time;
    row["sum"] = sum.work_time;
    row["busy"] = sum.busy;
    row["waiting"] = sum.projected.sum - sum.busy;
    row["exclusive"] = sum.exclusive;
    row["ops"] = sum.ops;
    row["launches"] = sum.launches;
    row["levels"] = sum.levels;
    row["children"] = sum.children;
    row["backward_ops"] = sum.backward_ops;
    row["backward_sum"] = sum.backward_time;
    row["backward_busy"] = sum.backward_busy;
    rows.append(row.done());
  }
  return rows;
}

py::list list_kernels(const Recording& recording, const std::vector<reader::KernelSum>& sums) {
  py::list rows;
  for (const reader::KernelSum& sum : sums) {
    NewResult row("KernelRow");
    if (sum.thread >= 0) row["thread"] = sum.thread;
    const bool ranged = sum.domain >= 0;
    if (ranged) {
      const auto domain = static_cast<std::size_t>(sum.domain);
      row["domain"] = string_at(recording, recording.domains()[domain]);
    }
    row["name"] = string_at(recording, sum.name);
    if (ranged) row["kind"] = kind_text(sum.kind);
    row["kernel"] = string_at(recording, sum.kernel);
    row["ranges"] = sum.ranges;
    row["kernels"] = sum.kernels;
    put(row, sum.durations);
    rows.append(row.done());
  }
  return rows;
}

}  // namespace

py::object Reader::projection(const std::string& call_domain, const std::string& work_domain,
                              const std::string& kernel_category,
                              const std::vector<std::string>& without,
                              const py::object& unclosed_end, bool as_nsys) {
  reader::ProjectionOptions options;
  options.call_domain = call_domain;
  options.work_domain = work_domain;
  options.without = without;
  if (!unclosed_end.is_none()) options.unclosed_end = unclosed_end.cast<std::int64_t>();
  options.as_nsys = as_nsys;
  options.with_pairs = !kernel_category.empty();
  Projection projection;
  std::vector<reader::ProjectionSum> sums;
  std::vector<reader::KernelSum> kernels;
  {
    const released_gil released;
    projection = reader::project(*recording_, selection_, options);
    sums = reader::sum_by_name(*recording_, projection,
                               as_nsys ? reader::Median::midpoint : reader::Median::p50);
    if (options.with_pairs) {
      kernels = reader::sum_kernels(*recording_, projection, kernel_category);
    }
  }
  NewResult result("ProjectedWork");
  result["work"] = projection.work;
  result["outside"] = projection.outside;
  result["unlaunched"] = projection.unlaunched;
  result["of_device_ranges"] = projection.of_device_ranges;
  result["sums"] = list_sums(*recording_, sums);
  result["kernels"] = list_kernels(*recording_, kernels);
  result["columns"] = columns_of(*recording_, projection);
  return result.done();
}

}  // namespace nvspan::bindings
