// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/ranks/rank_summary.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/reader/reports.hpp"
#include "bindings/reader/values/column.hpp"
#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/result.hpp"
#include "ranks/extract/extract.hpp"
#include "ranks/modules/module_figures.hpp"
#include "ranks/summary/packed.hpp"
#include "ranks/summary/summarize.hpp"
#include "reader/stats/typical.hpp"

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using ranks::Summary;
using ranks::SummaryTable;

py::object text_at(const Summary& summary, std::int64_t id) {
  if (id < 0) return py::none();
  return text_of(summary.texts()[static_cast<std::size_t>(id)]);
}

// A JobRow or a class made of it, whose own fields the caller sets.
NewResult row_of(const Summary& summary, const Summary::Rows::value_type& row,
                 const char* class_name, const char* kind) {
  const auto& key = row.first;
  const auto& figures = row.second;  // a lambda below cannot take the name of a binding
  const auto calls = static_cast<double>(figures.calls);
  const auto sum = static_cast<double>(figures.sum);
  const double mean = figures.calls == 0 ? 0 : sum / calls;
  // Of integers, so that nothing is lost where the deviation is small.
  const auto n = static_cast<long double>(figures.calls);
  const auto wide_sum = static_cast<long double>(figures.sum);
  const long double spread =
      figures.calls < 2
          ? 0
          : (static_cast<long double>(figures.squares) - wide_sum * wide_sum / n) / (n - 1);
  core::LogHistogram durations;
  ranks::add_packed(figures.durations, durations);
  const reader::Typical typical =
      reader::typical_of(durations, reader::FirstCalls(), figures.calls, sum, figures.nested > 0);
  const auto least = static_cast<double>(figures.calls == 0 ? 0 : figures.shortest);
  const auto most = static_cast<double>(figures.longest);
  const auto percentile = [&](double fraction) {
    return std::clamp(durations.percentile(fraction, figures.calls), least, most);
  };
  NewResult entry(class_name);
  entry["domain"] = text_at(summary, key.domain);
  entry["name"] = text_at(summary, key.name);
  entry["kind"] = kind;
  entry["backward"] = key.backward;
  entry["calls"] = figures.calls;
  entry["unclosed"] = figures.unclosed;
  entry["open_time"] = static_cast<double>(figures.open_time);
  if (figures.resumable != 0) {
    entry["resumptions"] = figures.resumptions;
    if (figures.awaited >= 0) entry["awaited"] = static_cast<double>(figures.awaited);
  }
  entry["total"] = static_cast<double>(figures.total);
  const bool is_range = key.kind < ranks::kind_of_marks;
  if (is_range && figures.covered >= 0) entry["covered"] = static_cast<double>(figures.covered);
  entry["self"] = static_cast<double>(figures.self);
  entry["mean"] = mean;
  entry["std"] = static_cast<double>(std::sqrt(std::max(spread, 0.0L)));
  entry["min"] = least;
  entry["p50"] = percentile(0.5);
  entry["p90"] = percentile(0.9);
  entry["p99"] = percentile(0.99);
  entry["p999"] = percentile(0.999);
  entry["max"] = most;
  entry["threads"] = figures.threads;
  entry["overhead"] = static_cast<double>(figures.overhead) / 1000;
  entry["typical"] = typical.mean;
  entry["outliers"] = typical.outliers;
  entry["outlier_total"] = typical.outlier_time;
  entry["warmup"] = 0;
  entry["warmup_total"] = 0.0;
  entry["warmup_squares"] = 0.0;
  entry["sum"] = sum;
  entry["squares"] = static_cast<double>(figures.squares);
  const bool has_times = figures.first <= figures.last;
  entry["first"] = has_times ? figures.first : 0;
  entry["last"] = has_times ? figures.last : 0;
  if (figures.devices != 0) entry["devices"] = figures.devices;
  entry["group"] = key.group;
  return entry;
}

py::list rows(const RankSummary& of) {
  py::list result;
  for (const auto* row : of.summary->ordered_rows()) {
    if (row->first.kind >= ranks::kind_of_marks) continue;
    const char* const kind = kind_text(static_cast<reader::RangeKind>(row->first.kind));
    result.append(row_of(*of.summary, *row, "JobRow", kind).done());
  }
  return result;
}

// Of each of rows(), in its order: the counts of its durations, as ranks::packed_histogram().
py::list histograms(const RankSummary& of) {
  py::list result;
  for (const auto* row : of.summary->ordered_rows()) {
    if (row->first.kind < ranks::kind_of_marks) result.append(py::bytes(row->second.durations));
  }
  return result;
}

py::list modules(const RankSummary& of) {
  py::list result;
  for (const auto* row : of.summary->ordered_rows()) {
    const std::uint8_t kind = row->first.kind;
    if (kind < ranks::kind_of_modules || kind >= ranks::kind_of_collectives) continue;
    NewResult entry = row_of(*of.summary, *row, "ModuleRow", "module");
    entry["time"] = kind - ranks::kind_of_modules;
    result.append(entry.done());
  }
  return result;
}

py::list collectives(const RankSummary& of) {
  py::list result;
  for (const auto* row : of.summary->ordered_rows()) {
    if (row->first.kind != ranks::kind_of_collectives) continue;
    NewResult entry = row_of(*of.summary, *row, "CollectiveRow", "collective");
    entry["bytes"] = static_cast<double>(row->second.bytes);
    result.append(entry.done());
  }
  return result;
}

using ModuleSteps = std::vector<std::tuple<std::uint32_t, std::int64_t, std::int64_t>>;

// `forward`: the sites of forward passes; `around`: those of steps; `steps`: thread, start and end
// of each, or None; `work_domains`: as ModuleOptions has them.
py::list add_modules(const RankSummary& to, const RecordingHandle& handle,
                     const py::iterable& forward, const py::iterable& around,
                     const std::optional<ModuleSteps>& steps,
                     const std::vector<std::string>& work_domains) {
  ranks::ModuleOptions options;
  options.work_domains = work_domains;
  options.forward.resize(handle.recording->sites().size());
  options.around = options.forward;
  for (const py::handle site : forward) options.forward.at(site.cast<std::size_t>()) = true;
  for (const py::handle site : around) options.around.at(site.cast<std::size_t>()) = true;
  if (steps) {
    auto& given = options.steps.emplace();
    for (const auto& [thread, start, end] : *steps) {
      if (thread >= handle.recording->threads().size()) throw py::index_error();
      given.push_back(ranks::ModuleStep{thread, start, end});
    }
  }
  std::vector<std::string> unknown;
  {
    const released_gil released;
    unknown = ranks::add_modules(*handle.recording, handle.selection, options, *to.summary);
  }
  py::list paths;
  for (const std::string& path : unknown) paths.append(text_of(path));
  return paths;
}

py::list marks(const RankSummary& of) {
  py::list result;
  for (const auto* row : of.summary->ordered_rows()) {
    if (row->first.kind != ranks::kind_of_marks) continue;
    NewResult entry("MarkRow");
    entry["domain"] = text_at(*of.summary, row->first.domain);
    entry["name"] = text_at(*of.summary, row->first.name);
    entry["calls"] = row->second.calls;
    result.append(entry.done());
  }
  return result;
}

// Columns of Python: sequences of numbers, or of texts and None where the first says so.
void add_table(const RankSummary& to, const std::string& name, const py::dict& given) {
  std::vector<SummaryTable::Column> columns;
  std::vector<std::vector<std::int64_t>> values;
  for (const auto& [title, column] : given) {
    const auto sequence = py::reinterpret_borrow<py::sequence>(column);
    const std::size_t size = sequence.size();
    const bool is_text = py::isinstance<py::list>(column);
    std::vector<std::int64_t>& numbers = values.emplace_back();
    numbers.reserve(size);
    columns.push_back(SummaryTable::Column{bytes_of(py::cast<py::str>(title)), is_text});
    for (std::size_t i = 0; i < size; ++i) {
      const py::object value = sequence[i];
      if (!is_text) {
        numbers.push_back(value.cast<std::int64_t>());
      } else if (value.is_none()) {
        numbers.push_back(ranks::no_text);
      } else {
        numbers.push_back(to.summary->intern(bytes_of(py::cast<py::str>(value))));
      }
    }
    if (numbers.size() != values.front().size()) {
      throw py::value_error("the columns of table '" + name + "' differ in length");
    }
  }
  if (columns.empty()) throw py::value_error("table '" + name + "' has no columns");
  SummaryTable& table = to.summary->table(name, columns);
  std::vector<std::int64_t> row(columns.size());
  for (std::size_t i = 0; i < values.front().size(); ++i) {
    for (std::size_t column = 0; column < row.size(); ++column) row[column] = values[column][i];
    table.add_row(row.data());
  }
}

py::dict table(const RankSummary& of, const std::string& name) {
  py::dict result;
  const SummaryTable* const found = of.summary->table(name);
  if (found == nullptr) return result;
  std::vector<std::size_t> order;
  {
    const released_gil released;
    order = found->order(of.summary->places());
  }
  for (std::size_t column = 0; column < found->columns().size(); ++column) {
    const SummaryTable::Column& about = found->columns()[column];
    if (about.is_text) {
      py::list texts;
      for (const std::size_t row : order) {
        texts.append(text_at(*of.summary, found->value(row, column)));
      }
      result[text_of(about.name)] = texts;
      continue;
    }
    std::vector<std::int64_t> values;
    values.reserve(order.size());
    for (const std::size_t row : order) values.push_back(found->value(row, column));
    const py::object column_of = py::cast(view_of(std::move(values)));
    result[text_of(about.name)] =
        py::reinterpret_steal<py::object>(PyMemoryView_FromObject(column_of.ptr()));
  }
  return result;
}

py::bytes bytes_from(const RankSummary& of) {
  std::string bytes;
  {
    const released_gil released;
    bytes = of.summary->bytes();
  }
  return bytes;
}

RankSummary read(const py::bytes& given) {
  const std::string_view bytes = given;
  RankSummary result;
  const released_gil released;
  result.summary = Summary::read(bytes);
  return result;
}

}  // namespace

void bind_rank_summary(py::module_& module) {
  py::register_exception<ranks::SummaryError>(module, "SummaryError", PyExc_ValueError);
  Methods(
      py::class_<RankSummary>(module, "RankSummary").def(py::init<>()).def_static("read", &read))
      .def("bytes", &bytes_from)
      .def("add",
           [](const RankSummary& to, const RecordingHandle& handle) {
             const released_gil released;
             ranks::summarize(*handle.recording, handle.selection, *to.summary);
           })
      .def("add_collectives",
           [](const RankSummary& to, const RecordingHandle& handle,
              std::vector<std::string> domains, std::vector<std::string> enqueued) {
             const released_gil released;
             const ranks::ExtractOptions options{std::move(domains), std::move(enqueued), {}, {}};
             ranks::add_collectives(*handle.recording, options, *to.summary);
           })
      .def("add_modules", &add_modules)
      .def("merge",
           [](const RankSummary& to, const RankSummary& other) {
             if (&to == &other) throw py::value_error("a summary cannot be merged with itself");
             const released_gil released;
             to.summary->merge(*other.summary);
           })
      .def("collapse",
           [](const RankSummary& of) {
             const released_gil released;
             of.summary->collapse();
           })
      .def("rows", &rows)
      .def("histograms", &histograms)
      .def("marks", &marks)
      .def("modules", &modules)
      .def("collectives", &collectives)
      .def("add_table", &add_table)
      .def("table", &table);
}

}  // namespace nvspan::bindings
