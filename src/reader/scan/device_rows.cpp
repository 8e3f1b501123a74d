// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/scan/device_rows.hpp"

#include <algorithm>
#include <tuple>

namespace nvspan::reader {
namespace {

std::int64_t slack(const LanePlace& a, const LanePlace& b) {
  constexpr std::int64_t most = 10'000;  // ns; times that are less sure are shown as they are
  return std::min(most, std::int64_t{a.uncertainty} + b.uncertainty);
}

// One row in the making: the ranges that are open in it.
template <typename Place>
class RowBuilder {
 public:
  // `likely`: how many ranges it may come to have.
  RowBuilder(core::LargeVector<Place>& spans, std::uint32_t lane, std::size_t likely)
      : spans_(spans) {
    row_.lane = lane;
    row_.steps.reserve(2 * likely);
  }

  // Takes the next range, in the order of their starts, if it nests in or follows those it has.
  bool take(std::uint32_t index) {
    LanePlace& span = spans_[index];
    std::int64_t start = span.start, end = span.end;
    if (!row_.steps.empty() && start < row_.steps.back().time) {
      // The one before was moved to where it begins.
      const DeviceStep& before = row_.steps.back();
      if (before.time - start > slack(spans_[before.span], span)) return false;
      start = before.time;
      end = std::max(start, end);
    }
    std::size_t depth = open_.size();
    while (depth != 0) {
      const LanePlace& top = spans_[open_[depth - 1]];
      if (top.end <= start) {
        --depth;
        continue;
      }
      if (top.end >= end) break;
      const std::int64_t over = end - top.end, under = top.end - start;
      if (std::min(over, under) > slack(top, span)) return false;
      if (over <= under) {
        end = top.end;
      } else {
        start = top.end;
      }
    }
    while (open_.size() != depth) close();
    span.start = start;
    span.end = end;
    span.depth = static_cast<std::uint32_t>(depth);
    levels_ = std::max(levels_, span.depth + 1);
    row_.steps.push_back(DeviceStep{start, index, true});
    open_.push_back(index);
    return true;
  }
  DeviceRow finish(std::uint32_t& first_level) {
    while (!open_.empty()) close();
    row_.first_level = first_level;
    first_level += levels_;
    return std::move(row_);
  }

 private:
  void close() {
    row_.steps.push_back(DeviceStep{spans_[open_.back()].end, open_.back(), false});
    open_.pop_back();
  }

  core::LargeVector<Place>& spans_;
  DeviceRow row_;
  core::LargeVector<std::uint32_t> open_;
  std::uint32_t levels_ = 0;
};

// A range that was begun first is around one that was begun later, also where the stamps of their
// beginnings are the other way round.
template <typename Place>
void untangle(core::LargeVector<Place>& spans, core::LargeVector<std::uint32_t>& order) {
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const LanePlace &x = spans[a], &y = spans[b];
    return std::make_tuple(x.lane, x.start, -x.end, x.launch, a) <
           std::make_tuple(y.lane, y.start, -y.end, y.launch, b);
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    std::sort(order.begin(), order.end(), before);
  }
  constexpr std::size_t most_ahead = 64;
  bool moved = false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    LanePlace& inner = spans[order[i]];
    for (std::size_t k = i + 1; k < std::min(order.size(), i + most_ahead); ++k) {
      const LanePlace& outer = spans[order[k]];
      if (outer.lane != inner.lane || outer.start - inner.start > slack(inner, outer)) break;
      if (outer.launch >= inner.launch || outer.start >= inner.end || outer.end < inner.end) {
        continue;
      }
      inner.start = outer.start;
      moved = true;
    }
  }
  if (moved) std::sort(order.begin(), order.end(), before);
}

}  // namespace

template <typename Place>
std::vector<DeviceRow> arrange_in_rows(core::LargeVector<Place>& places, std::size_t most_rows) {
  core::LargeVector<std::uint32_t> order(places.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  untangle(places, order);
  std::vector<DeviceRow> finished;
  for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
    const std::uint32_t lane = places[order[begin]].lane;
    for (end = begin; end < order.size() && places[order[end]].lane == lane;) ++end;
    std::vector<RowBuilder<Place>> rows;
    for (std::size_t i = begin; i < end; ++i) {
      bool taken = false;
      for (std::size_t row = 0; row < rows.size() && !taken; ++row)
        taken = rows[row].take(order[i]);
      if (taken || rows.size() >= most_rows) continue;
      // Most lanes have one row.
      rows.emplace_back(places, lane, rows.empty() ? end - begin : 0);
      rows.back().take(order[i]);
    }
    std::uint32_t level = 0;
    for (RowBuilder<Place>& row : rows) finished.push_back(row.finish(level));
  }
  return finished;
}
template std::vector<DeviceRow> arrange_in_rows(core::LargeVector<LanePlace>&, std::size_t);
template std::vector<DeviceRow> arrange_in_rows(core::LargeVector<DeviceSpan>&, std::size_t);

void DeviceRows::add(std::uint32_t process, const ScannedRange& range) {
  DeviceSpan span;
  span.start = range.start;
  span.end = range.end;
  span.site = range.site;
  span.reason = range.reason;
  read_device_call(recording_.processes()[process], recording_.sites()[range.site],
                   range.call->payload, span.call);
  span.took = range.end - range.start;
  span.launch = span.call.launch;
  span.uncertainty = span.call.uncertainty;
  span.lane = lanes_.lane(process, span.call, range.call->ticks);
  spans_.push_back(span);
}

std::vector<DeviceRow> DeviceRows::arrange(std::size_t most_rows) {
  std::vector<DeviceRow> finished = arrange_in_rows(spans_, most_rows);
  std::stable_sort(finished.begin(), finished.end(), [&](const DeviceRow& a, const DeviceRow& b) {
    const DeviceLane &x = lane(a.lane), &y = lane(b.lane);
    return std::tie(x.device, x.stream) < std::tie(y.device, y.stream);
  });
  return finished;
}

}  // namespace nvspan::reader
