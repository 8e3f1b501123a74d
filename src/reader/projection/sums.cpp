// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/projection/sums.hpp"
#include "core/key_order.hpp"
#include "core/statistics/order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace nvspan::reader {
namespace {

std::uint64_t count_distinct(std::vector<std::uint64_t>& values) {
  std::sort(values.begin(), values.end());
  return static_cast<std::uint64_t>(std::unique(values.begin(), values.end()) - values.begin());
}

// What a key has, with one look-up for neighbours that share it.
template <typename Key, typename Value>
class ByKey {
 public:
  Value& operator[](const Key& key) {
    if (last_ == nullptr || key != *last_key_) {
      const auto found = values_.try_emplace(key).first;
      last_key_ = &found->first;
      last_ = &found->second;
    }
    return *last_;
  }
  std::map<Key, Value>& all() noexcept { return values_; }

 private:
  std::map<Key, Value> values_;
  const Key* last_key_ = nullptr;
  Value* last_ = nullptr;
};

// Of a range that launched work: one of a device did so as a start/end range.
std::uint8_t kind_of(RangeKind kind) {
  return static_cast<std::uint8_t>(kind == RangeKind::device ? RangeKind::start_end : kind);
}

}  // namespace

DurationFigures figures_of(std::vector<std::int64_t>& durations, Median median) {
  DurationFigures figures;
  const std::size_t count = durations.size();
  if (count == 0) return figures;
  figures.count = count;
  const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
  figures.shortest = *least;
  figures.longest = *most;
  for (const std::int64_t duration : durations) figures.sum += duration;
  figures.mean = static_cast<double>(figures.sum) / static_cast<double>(count);
  double squares = 0;
  for (const std::int64_t duration : durations) {
    const double off = static_cast<double>(duration) - figures.mean;
    squares += off * off;
  }
  if (count > 1) figures.deviation = std::sqrt(squares / static_cast<double>(count - 1));
  figures.median = median == Median::midpoint ? core::midpoint(durations)
                                              : static_cast<double>(core::median(durations));
  return figures;
}

std::vector<ProjectionSum> sum_by_name(const Recording& recording, const Projection& projection,
                                       Median median) {
  using Key = std::tuple<std::uint32_t, std::int32_t, std::uint8_t>;
  struct Sum {
    ProjectionSum sum;
    std::vector<std::int64_t> durations;
  };
  ByKey<Key, Sum> sums;
  for (std::size_t i = 0; i < projection.size(); ++i) {
    const ReadSite& site = recording.sites()[static_cast<std::size_t>(projection.site[i])];
    Sum& of = sums[{site.domain, site.name, kind_of(static_cast<RangeKind>(projection.kind[i]))}];
    ProjectionSum& sum = of.sum;
    sum.backward_ops += projection.backward_ops[i];
    sum.backward_time += projection.backward_sum[i];
    sum.backward_busy += projection.backward_busy[i];
    if (projection.ops[i] == 0) continue;
    ++sum.calls;
    sum.range_time += projection.end[i] - projection.start[i];
    sum.work_time += projection.sum[i];
    sum.busy += projection.busy[i];
    sum.exclusive += projection.exclusive[i];
    sum.ops += projection.ops[i];
    sum.launches += projection.calls[i];
    sum.levels += projection.level[i];
    sum.children += projection.children[i];
    of.durations.push_back(projection.last[i] - projection.first[i]);
  }
  std::vector<ProjectionSum> rows;
  for (auto& [key, of] : sums.all()) {
    ProjectionSum& sum = of.sum;
    sum.domain = std::get<0>(key);
    sum.name = std::get<1>(key);
    sum.kind = static_cast<RangeKind>(std::get<2>(key));
    sum.projected = figures_of(of.durations, median);
    rows.push_back(sum);
  }
  core::stable_sort_by(rows.begin(), rows.end(),
                       [](const ProjectionSum& row) { return ~row.projected.sum; });
  return rows;
}

std::vector<KernelSum> sum_kernels(const Recording& recording, const Projection& projection,
                                   std::string_view category) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::int32_t, std::uint8_t, std::int32_t>;
  struct Sum {
    std::vector<std::uint64_t> ranges, kernels;
    std::vector<std::int64_t> durations;
  };
  ByKey<Key, Sum> sums;
  for (const Projection::Pair& pair : projection.pairs) {
    const ReadSite& work = recording.sites()[pair.work_site];
    if (work.category_name < 0 || recording.text(work.category_name) != category) continue;
    Key key{pair.thread, -1, no_name, 0, work.name};
    if (pair.range != Projection::no_range) {
      const ReadSite& site = recording.sites()[pair.range_site];
      key = {pair.thread, site.domain, site.name, kind_of(pair.kind), work.name};
    }
    Sum& sum = sums[key];
    if (pair.range != Projection::no_range) sum.ranges.push_back(pair.range);
    sum.kernels.push_back(pair.work);
    sum.durations.push_back(pair.duration);
  }
  std::vector<KernelSum> rows;
  for (auto& [key, of] : sums.all()) {
    KernelSum row;
    std::uint8_t kind = 0;
    std::tie(row.thread, row.domain, row.name, kind, row.kernel) = key;
    row.kind = static_cast<RangeKind>(kind);
    row.ranges = count_distinct(of.ranges);
    row.kernels = count_distinct(of.kernels);
    row.durations = figures_of(of.durations, Median::midpoint);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace nvspan::reader
