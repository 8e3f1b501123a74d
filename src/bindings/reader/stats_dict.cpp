// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Statistics as Python gets them.
#include "bindings/reader/reader_object.hpp"
#include "bindings/reader/values/result.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "reader/stats/aggregate.hpp"

namespace py = pybind11;

namespace nvspan::bindings {

namespace {

py::object value_of(const reader::FieldGroup& group) {
  static_assert(sizeof(double) == sizeof group.bits);
  double real = 0;
  switch (group.kind) {
    case trace::PayloadValue::Kind::integer:
      return py::int_(static_cast<std::int64_t>(group.bits));
    case trace::PayloadValue::Kind::count:
      return py::int_(group.bits);
    case trace::PayloadValue::Kind::real:
      std::memcpy(&real, &group.bits, sizeof real);
      return py::float_(real);
    default:
      return text_of(group.text);
  }
}

}  // namespace

py::object Reader::stats(const py::str& asked) {
  const std::string by = bytes_of(asked);
  reader::AggregateOptions options;
  static_cast<reader::Selection&>(options) = selection_;
  const std::pair<const char*, reader::GroupBy> groups[] = {
      {"name", reader::GroupBy::name},       {"thread", reader::GroupBy::thread},
      {"process", reader::GroupBy::process}, {"category", reader::GroupBy::category},
      {"payload", reader::GroupBy::payload}, {"device", reader::GroupBy::device},
      {"stream", reader::GroupBy::stream}};
  constexpr std::string_view prefix = "payload.";
  if (by.compare(0, prefix.size(), prefix) == 0 && by.size() > prefix.size()) {
    options.field = by.substr(prefix.size());
  }
  const auto* group = std::find_if(std::begin(groups), std::end(groups),
                                   [&](const auto& known) { return by == known.first; });
  if (group == std::end(groups) && options.field.empty()) {
    PyErr_Format(PyExc_ValueError,
                 "by must be one of name, thread, process, category, payload, payload.FIELD, "
                 "device, stream, not %R",
                 asked.ptr());
    throw py::error_already_set();
  }
  options.by = options.field.empty() ? group->second : reader::GroupBy::field;
  reader::Aggregate figures;
  {
    const released_gil released;
    figures = reader::aggregate(*recording_, options);
    std::stable_sort(figures.rows.begin(), figures.rows.end(),
                     [](const auto& a, const auto& b) { return a->total() > b->total(); });
  }
  py::list rows;
  for (const auto& row : figures.rows) {
    NewResult entry("StatsRow");
    const auto calls = static_cast<double>(row->calls);
    const double mean = row->calls == 0 ? 0 : row->sum / calls;
    const auto squares = static_cast<double>(row->squares);
    const double variance = row->calls < 2 ? 0 : (squares - row->sum * mean) / (calls - 1);
    const reader::Typical typical = reader::typical_of(row->durations, row->first_calls, row->calls,
                                                       row->sum, row->outermost.within().time > 0);
    const auto least = static_cast<double>(row->calls == 0 ? 0 : row->shortest);
    const auto most = static_cast<double>(row->longest);
    const auto percentile = [&](double fraction) {
      return std::clamp(row->durations.percentile(fraction, row->calls), least, most);
    };
    const std::int32_t domain = recording_->domains()[row->domain];
    entry["domain"] = text(domain);
    entry["name"] = text(row->name);
    entry["kind"] = kind_text(row->kind);
    entry["backward"] = row->backward;
    entry["calls"] = row->calls;
    entry["unclosed"] = row->unclosed;
    entry["open_time"] = row->outermost.still_open().time;
    if (row->is_resumable) {
      entry["resumptions"] = row->resumptions;
      if (row->unknown_awaits == 0) entry["awaited"] = static_cast<double>(row->awaited);
    }
    entry["total"] = row->total();
    if (row->kind == reader::RangeKind::push_pop) {
      entry["covered"] = row->total();
    } else if (!row->has_cells) {
      entry["covered"] = static_cast<double>(row->covered);
    }
    entry["self"] = row->self;
    entry["mean"] = mean;
    entry["std"] = std::sqrt(std::max(variance, 0.0));
    entry["min"] = least;
    entry["p50"] = percentile(0.5);
    entry["p90"] = percentile(0.9);
    entry["p99"] = percentile(0.99);
    entry["p999"] = percentile(0.999);
    entry["max"] = most;
    entry["threads"] = row->threads;
    entry["overhead"] = row->overhead();
    entry["typical"] = typical.mean;
    entry["outliers"] = typical.outliers;
    entry["outlier_total"] = typical.outlier_time;
    entry["warmup"] = typical.warmup.calls;
    entry["warmup_total"] = typical.warmup.time;
    entry["warmup_squares"] = typical.warmup.squares;
    entry["sum"] = row->sum;
    entry["squares"] = squares;
    entry["first"] = row->threads == 0 ? 0 : row->first;
    if (row->kind == reader::RangeKind::device) entry["devices"] = row->devices.size();
    if (options.by == reader::GroupBy::thread) entry["thread"] = row->thread;
    if (options.by == reader::GroupBy::thread || options.by == reader::GroupBy::process) {
      entry["process"] = row->process;
    }
    if (options.by == reader::GroupBy::category) {
      entry["category"] = row->category;
      entry["category_name"] = text(row->category_name);
    }
    if (options.by == reader::GroupBy::payload) {
      entry["payload_type"] = row->payload_type;
      entry["payload"] = row->payload;
    }
    if (options.by == reader::GroupBy::field && row->payload != 0) {
      entry["field"] = value_of(figures.groups[row->payload]);
    }
    if (row->lane >= 0) {
      const reader::DeviceLane& lane = figures.lanes.lanes()[static_cast<std::size_t>(row->lane)];
      add_lane(entry, *recording_, lane, options.by == reader::GroupBy::stream);
    }
    rows.append(entry.done());
  }
  NewResult result("Statistics");
  result["by"] = asked;
  result["rows"] = rows;
  result["losses"] = list_losses(figures.losses);
  result["lost"] = figures.lost;
  result["gaps"] = figures.gaps;
  result["overwritten"] = figures.overwritten;
  result["orphans"] = figures.orphans;
  result["others"] = figures.others;
  result["first"] = figures.first;
  result["last"] = figures.last;
  result["whole"] = figures.whole;
  py::list marks;
  for (const reader::MarkRow& row : figures.marks) {
    NewResult entry("MarkRow");
    entry["domain"] = text(recording_->domains()[row.domain]);
    entry["name"] = text(row.name);
    entry["calls"] = row.calls;
    marks.append(entry.done());
  }
  result["marks"] = marks;
  return result.done();
}

}  // namespace nvspan::bindings
