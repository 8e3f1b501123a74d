// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/support/py.hpp"

#include "reader/projection/projection.hpp"

#include <pybind11/stl.h>

#include "bindings/reader/reader_object.hpp"
#include "bindings/reader/values/result.hpp"
#include "reader/projection/sums.hpp"

#include <utility>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using reader::Projection;
using reader::Recording;
using reader::Tables;

template <typename Value>
ColumnView column_of(const Projection& projection, Value&& value) {
  std::vector<std::int64_t> values;
  values.reserve(projection.size());
  for (const std::int64_t row : projection.row) {
    values.push_back(static_cast<std::int64_t>(value(static_cast<std::size_t>(row))));
  }
  return view_of(std::move(values));
}

py::dict columns_of(const Recording& recording, const Tables& tables, Projection& projection) {
  const reader::RangeTable& ranges = tables.ranges;
  const auto site = [&](std::size_t row) -> const reader::ReadSite& {
    return recording.sites()[ranges.site[row]];
  };
  py::dict columns;
  columns["thread"] = column_of(projection, [&](std::size_t row) { return ranges.thread[row]; });
  columns["domain"] =
      column_of(projection, [&](std::size_t row) { return recording.domains()[site(row).domain]; });
  columns["name"] = column_of(projection, [&](std::size_t row) { return site(row).name; });
  columns["kind"] = column_of(projection, [&](std::size_t row) { return ranges.kind[row]; });
  columns["start"] = column_of(projection, [&](std::size_t row) { return ranges.start[row]; });
  const std::pair<const char*, std::vector<std::int64_t>*> own[] = {
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
  for (const auto& [name, values] : own) columns[name] = view_of(std::move(*values));
  return columns;
}

py::object text_at(const Recording& recording, std::int32_t index) {
  if (index < 0) return py::none();
  return text_of(recording.strings()[static_cast<std::size_t>(index)]);
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
    row["domain"] = text_at(recording, recording.domains()[sum.domain]);
    row["name"] = text_at(recording, sum.name);
    row["kind"] = kind_text(sum.kind);
    row["calls"] = sum.calls;
    put(row, sum.projected);
    row["range_time"] = sum.range_time;
    row["sum"] = sum.work_time;
    row["busy"] = sum.busy;
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
      row["domain"] = text_at(recording, recording.domains()[domain]);
    }
    row["name"] = text_at(recording, sum.name);
    if (ranged) row["kind"] = kind_text(sum.kind);
    row["kernel"] = text_at(recording, sum.kernel);
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
                              const py::object& unclosed_end, bool midpoints) {
  reader::ProjectionOptions options;
  options.call_domain = call_domain;
  options.work_domain = work_domain;
  options.without = without;
  if (!unclosed_end.is_none()) options.unclosed_end = unclosed_end.cast<std::int64_t>();
  options.with_pairs = !kernel_category.empty();
  Projection projection;
  std::vector<reader::ProjectionSum> sums;
  std::vector<reader::KernelSum> kernels;
  const Tables* tables = nullptr;
  {
    const released_gil released;
    tables = &(whole_ != nullptr ? whole_ : columns_)->tables();
    projection = reader::project(*recording_, *tables, selection_, options);
    sums = reader::sum_by_name(*recording_, *tables, projection,
                               midpoints ? reader::Median::midpoint : reader::Median::p50);
    if (options.with_pairs) {
      kernels = reader::sum_kernels(*recording_, *tables, projection, kernel_category);
    }
  }
  NewResult result("ProjectedWork");
  result["work"] = projection.work;
  result["outside"] = projection.outside;
  result["unlaunched"] = projection.unlaunched;
  result["of_device_ranges"] = projection.of_device_ranges;
  result["sums"] = list_sums(*recording_, sums);
  result["kernels"] = list_kernels(*recording_, kernels);
  result["columns"] = columns_of(*recording_, *tables, projection);
  return result.done();
}

}  // namespace nvspan::bindings
