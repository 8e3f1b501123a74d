// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/lines.hpp"

#include <pybind11/stl.h>

#include "bindings/reader/reports.hpp"
#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/result.hpp"
#include "reader/page/sample_flame.hpp"
#include "reader/page/sample_timeline.hpp"
#include "reader/samples/callers.hpp"
#include "reader/samples/line_sums.hpp"
#include "reader/samples/window_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using reader::SampleTime;

template <typename Use>
auto unlocked(Use&& use) {
  const released_gil released;
  return use();
}

std::uint64_t of_kind(const SampleTime& time, reader::TimeKind kind) {
  return time.ns[static_cast<std::size_t>(kind)];
}

py::tuple times_of(const SampleTime& time) {
  return py::make_tuple(time.samples, time.ns[0], time.ns[1], time.ns[2]);
}

void set_time(NewResult& entry, const SampleTime& time) {
  entry["samples"] = time.samples;
  entry["running"] = of_kind(time, reader::TimeKind::running);
  entry["ready"] = of_kind(time, reader::TimeKind::ready);
  entry["waiting"] = of_kind(time, reader::TimeKind::waiting);
}

// (number, text) of each file that has code.
py::list sampled_files(const reader::Recording& recording) {
  std::vector<std::int32_t> numbers;
  for (const reader::ReadProcess& process : recording.processes()) {
    for (const reader::ReadCode& code : process.samples.codes) numbers.push_back(code.file);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  py::list files;
  for (const std::int32_t number : numbers) {
    if (number >= 0) files.append(py::make_tuple(number, text_of(recording.text(number))));
  }
  return files;
}

void set_place(NewResult& entry, const reader::Recording& recording, const reader::LinePlace& place,
               reader::LineKey key) {
  const std::uint32_t line = key == reader::LineKey::function ? place.first_line : place.line;
  entry["file"] = string_at(recording, place.file);
  entry["function"] = string_at(recording, place.function);
  if (line != 0) entry["line"] = line;
  if (place.end_line != 0) entry["end_line"] = place.end_line;
  if (place.column != record::no_column) entry["column"] = place.column;
  if (place.end_column != record::no_column) entry["end_column"] = place.end_column;
}

class LinesObject {
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // a process, a thread's number
  using SampleWindow = reader::SampleWindow;

 public:
  explicit LinesObject(const RecordingHandle& handle)
      : recording_(handle.recording), selection_(handle.selection), sums_(unlocked([&] {
          return std::make_unique<reader::SampleSums>(*handle.recording, handle.selection);
        })) {}

  py::object facts() const {
    SampleTotals all;
    for (std::size_t i = 0; i < sums_->facts().size(); ++i) {
      all.add(recording_->processes()[i].samples, sums_->facts()[i]);
    }
    NewResult entry("SampleFacts");
    entry["processes"] = all.processes;
    entry["threads"] = sums_->threads();
    entry["period"] = all.period;
    entry["looks"] = all.counts.looks;
    entry["samples"] = all.counts.samples;
    entry["torn"] = all.counts.torn;
    entry["unnamed"] = all.counts.unnamed;
    entry["cut"] = all.counts.cut;
    entry["unlisted"] = all.counts.unlisted;
    entry["sampler"] = all.counts.cpu_us * 1000;
    entry["overwritten"] = all.overwritten;
    entry["missing"] = all.missing;
    entry["has_gap"] = all.has_gap;
    return entry.done();
  }

  py::list files() const { return sampled_files(*recording_); }

  py::list paths() const {
    const std::vector<SampleTime> times = reader::path_times(*sums_);
    py::list paths;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const reader::RangePaths::Path& path = sums_->paths()[i];
      NewResult entry("SampledPath");
      if (i != 0) {
        const auto& [domain, name] = sums_->names()[path.name];
        entry["parent"] = path.parent;
        entry["domain"] = text(recording_->domains()[domain]);
        entry["name"] = text(name);
        entry["pair"] = py::make_tuple(domain, name);
      }
      set_time(entry, times[i]);
      paths.append(entry.done());
    }
    return paths;
  }

  // `by`: 0 line, 1 function, 2 expression; `hidden`: numbers of files; `paths`: whether each
  // counts, empty: all do.
  py::object rows(std::uint8_t by, const std::vector<std::uint32_t>& hidden,
                  const std::vector<bool>& paths, bool idle) const {
    const reader::LineOptions options = options_of(by, hidden, paths, idle);
    const reader::LineSums found =
        unlocked([&] { return reader::line_sums(*recording_, *sums_, options); });
    py::list rows;
    for (const reader::LineRow& row : found.rows) rows.append(row_of(row, found.all, options.key));
    NewResult entry("LineTable");
    entry["rows"] = rows;
    set_time(entry, found.all);
    entry["idle_threads"] = found.idle_threads;
    entry["idle"] = found.idle.all();
    return entry.done();
  }

  // A list of (function, file), and one of (path, numbers in the first list, ns).
  py::tuple stacks(const std::vector<std::uint32_t>& hidden, bool idle) const {
    const reader::LineOptions options = options_of(1, hidden, {}, idle);
    const reader::FoldedStacks found =
        unlocked([&] { return reader::folded_stacks(*recording_, *sums_, options); });
    py::list places, stacks;
    for (const reader::LinePlace& place : found.places) {
      places.append(py::make_tuple(text(place.function), text(place.file)));
    }
    for (const reader::FoldedStack& stack : found.stacks) {
      stacks.append(py::make_tuple(stack.path, stack.places, stack.time.all()));
    }
    return py::make_tuple(places, stacks);
  }

  py::list callers(const std::vector<std::uint32_t>& hidden, const std::vector<bool>& paths,
                   bool idle) const {
    const reader::LineOptions options = options_of(1, hidden, paths, idle);
    const std::vector<reader::FunctionCaller> found =
        unlocked([&] { return reader::function_callers(*recording_, *sums_, options); });
    py::list rows;
    for (const reader::FunctionCaller& one : found) {
      NewResult entry("FunctionCaller");
      entry["file"] = text(one.function.file);
      entry["function"] = text(one.function.function);
      entry["line"] = one.function.first_line;
      entry["caller_file"] = text(one.caller.file);
      entry["caller"] = text(one.caller.function);
      entry["call_line"] = one.caller.line;
      entry["share"] = one.share;
      rows.append(entry.done());
    }
    return rows;
  }

  py::object flame(const std::vector<std::uint32_t>& hidden, bool idle, std::size_t most_nodes,
                   std::size_t most_lines) const {
    const reader::LineOptions options = options_of(1, hidden, {}, idle);
    const reader::SampleFlame found = unlocked(
        [&] { return reader::sample_flame(*recording_, *sums_, options, most_nodes, most_lines); });
    py::list roots, ranges, functions, nodes, lines, hottest;
    for (const reader::SampleFlameRoot& root : found.roots) {
      roots.append(py::make_tuple(root.process, root.tid));
    }
    for (const auto& [domain, name] : sums_->names()) {
      ranges.append(py::make_tuple(text(recording_->domains()[domain]), text(name)));
    }
    for (const reader::LinePlace& place : found.places) {
      functions.append(py::make_tuple(text(place.function), text(place.file), place.first_line));
    }
    for (const reader::SampleFlameNode& node : found.nodes) {
      nodes.append(py::make_tuple(node.parent, node.root, node.is_range, node.name,
                                  times_of(node.total), times_of(node.self), node.folded));
    }
    for (const reader::SampleFlameLine& line : found.lines) {
      lines.append(py::make_tuple(line.node, line.line, times_of(line.total), times_of(line.self),
                                  line.margin));
    }
    for (const reader::SampleFlameHot& one : found.hottest) {
      hottest.append(py::make_tuple(one.node, one.place, one.line, one.margin));
    }
    NewResult entry("SampledFlame");
    entry["roots"] = roots;
    entry["ranges"] = ranges;
    entry["functions"] = functions;
    entry["nodes"] = nodes;
    entry["lines"] = lines;
    entry["hottest"] = hottest;
    entry["folded"] = found.folded;
    return entry.done();
  }

  py::object timeline(const std::vector<std::uint32_t>& hidden, bool idle, std::size_t bytes,
                      std::size_t levels) const {
    const reader::LineOptions options = options_of(1, hidden, {}, idle);
    reader::TimelineLimits limits;
    limits.bytes = bytes;
    limits.levels = levels;
    const reader::SampleTimeline found = unlocked(
        [&] { return reader::sample_timeline(*recording_, *sums_, selection_, options, limits); });
    const reader::Timeline& timeline = found.timeline;
    py::list tracks, functions;
    for (std::size_t i = 0; i < found.threads.size(); ++i) {
      tracks.append(py::make_tuple(found.threads[i].process, found.threads[i].tid,
                                   timeline.tracks[i].ranges, py::bytes(timeline.tracks[i].bytes)));
    }
    for (std::size_t i = 0; i < found.functions.size(); ++i) {
      const reader::LinePlace& place = found.functions[i];
      functions.append(py::make_tuple(text(place.function), text(place.file), place.first_line,
                                      timeline.keys[i].calls, timeline.keys[i].sum));
    }
    NewResult entry("SampledTimeline");
    entry["first"] = timeline.first;
    entry["last"] = timeline.last;
    entry["resolution"] = timeline.resolution;
    entry["hidden_levels"] = timeline.hidden_levels;
    entry["hidden_tracks"] = timeline.hidden_tracks;
    entry["tracks"] = tracks;
    entry["functions"] = functions;
    entry["names"] = timeline.names;
    return entry.done();
  }

  // Of threads, each a process and a number of the system's, from `starts` to `ends`.
  py::object shares(std::uint8_t by, const std::vector<std::uint32_t>& hidden,
                    const std::vector<Key>& threads, const std::vector<std::int64_t>& starts,
                    const std::vector<std::int64_t>& ends) const {
    const reader::WindowedLines lines = windowed(by, hidden);
    const std::vector<SampleWindow> windows = windows_of(starts, ends);
    std::vector<reader::WindowedThread> of;
    for (const auto& [process, tid] : threads) of.push_back({process, tid, &windows});
    const reader::LineShares found =
        unlocked([&] { return reader::line_shares(*recording_, of, lines); });
    py::list rows;
    for (const reader::LineShare& one : found.rows) {
      NewResult entry("LineShare");
      set_time(entry, one.time);
      set_place(entry, *recording_, one.place, lines.key);
      entry["share"] = one.share;
      entry["margin"] = one.margin;
      rows.append(entry.done());
    }
    NewResult entry("LineShares");
    set_time(entry, found.all);
    entry["rows"] = rows;
    return entry.done();
  }

  // Each stretch is of a row of Recording.threads, and of a step: of `count` ones, the first
  // `firsts` against the others.
  py::object gains(std::uint8_t by, const std::vector<std::uint32_t>& hidden,
                   const std::vector<std::uint32_t>& threads,
                   const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& ends,
                   const std::vector<std::uint32_t>& steps, std::uint32_t firsts,
                   std::uint32_t count) const {
    const reader::WindowedLines lines = windowed(by, hidden);
    if (threads.size() != starts.size() || steps.size() != starts.size()) {
      throw py::value_error("not one thread and step for each stretch");
    }
    if (firsts > count) throw py::value_error("more first steps than there are");
    std::vector<SampleWindow> all = windows_of(starts, ends, false);
    std::map<Key, std::vector<SampleWindow>> of_threads;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (threads[i] >= recording_->threads().size()) throw py::index_error();
      const reader::ReadThread& thread = recording_->threads()[threads[i]];
      if (steps[i] >= count) throw py::index_error();
      all[i].set = steps[i];
      of_threads[{thread.process, thread.tid}].push_back(all[i]);
    }
    const reader::LineGains found = unlocked([&] {
      std::vector<reader::WindowedThread> of;
      for (auto& [key, windows] : of_threads) {
        windows = reader::ordered_windows(std::move(windows));
        of.push_back({key.first, key.second, &windows});
      }
      return reader::line_gains(*recording_, of, lines, {firsts, count});
    });
    py::list rows;
    for (const reader::LineGain& one : found.rows) {
      NewResult entry("LineGain");
      set_time(entry, one.time);
      set_place(entry, *recording_, one.place, lines.key);
      entry["gain"] = one.gain;
      entry["margin"] = one.margin;
      entry["gain_ready"] = one.parts[static_cast<std::size_t>(reader::TimeKind::ready)];
      entry["gain_waiting"] = one.parts[static_cast<std::size_t>(reader::TimeKind::waiting)];
      rows.append(entry.done());
    }
    NewResult entry("LineGains");
    entry["rows"] = rows;
    entry["covered"] = found.covered;
    return entry.done();
  }

  // Of all threads but a row of Recording.threads: (process, number, its time) from `starts` to
  // `ends`.
  py::list others(std::uint32_t thread, const std::vector<std::int64_t>& starts,
                  const std::vector<std::int64_t>& ends) const {
    if (thread >= recording_->threads().size()) throw py::index_error();
    const reader::ReadThread& but = recording_->threads()[thread];
    const std::vector<SampleWindow> windows = windows_of(starts, ends);
    const std::vector<reader::ThreadTime> found =
        unlocked([&] { return reader::thread_times(*recording_, windows, but.process, but.tid); });
    py::list rows;
    for (const reader::ThreadTime& one : found) {
      NewResult entry("ThreadTime");
      set_time(entry, one.time);
      entry["process"] = one.process;
      entry["tid"] = one.tid;
      rows.append(entry.done());
    }
    return rows;
  }

 private:
  struct SampleTotals {
    record::SampleCounts counts;
    std::uint64_t processes = 0;
    std::int64_t period = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t missing = 0;
    bool has_gap = false;

    void add(const reader::SampleTables& tables, const reader::SampleFacts& facts) {
      processes += facts.chunks != 0 ? 1 : 0;
      period = std::max(period, facts.period);
      counts.looks += facts.counts.looks;
      counts.samples += facts.counts.samples;
      counts.torn += facts.counts.torn;
      counts.unnamed += facts.counts.unnamed;
      counts.cut += facts.counts.cut;
      counts.unlisted += facts.counts.unlisted;
      counts.cpu_us += facts.counts.cpu_us;
      overwritten += tables.overwritten;
      missing += tables.missing + facts.unknown;
      has_gap = has_gap || tables.has_gap;
    }
  };

  py::object text(std::int32_t number) const { return string_at(*recording_, number); }

  reader::LineOptions options_of(std::uint8_t by, const std::vector<std::uint32_t>& hidden,
                                 const std::vector<bool>& paths, bool idle) const {
    if (by > 2) throw py::value_error("by must be 0, 1 or 2");
    reader::LineOptions options;
    options.key = static_cast<reader::LineKey>(by);
    options.paths = paths;
    options.idle = idle;
    options.hidden.resize(recording_->strings().size());
    for (const std::uint32_t number : hidden) {
      if (number < options.hidden.size()) options.hidden[number] = true;
    }
    return options;
  }

  reader::WindowedLines windowed(std::uint8_t by, const std::vector<std::uint32_t>& hidden) const {
    reader::LineOptions options = options_of(by, hidden, {}, true);
    return {options.key, std::move(options.hidden)};
  }
  static std::vector<SampleWindow> windows_of(const std::vector<std::int64_t>& starts,
                                              const std::vector<std::int64_t>& ends,
                                              bool in_order = true) {
    if (starts.size() != ends.size()) throw py::value_error("not one end for each start");
    std::vector<SampleWindow> windows;
    for (std::size_t i = 0; i < starts.size(); ++i) windows.push_back({starts[i], ends[i], 0});
    return in_order ? reader::ordered_windows(std::move(windows)) : windows;
  }

  py::object row_of(const reader::LineRow& row, const SampleTime& all, reader::LineKey key) const {
    NewResult entry("LineRow");
    set_time(entry, row.self);
    set_place(entry, *recording_, row.place, key);
    entry["self"] = row.self.all();
    entry["total"] = row.total.all();
    entry["total_samples"] = row.total.samples;
    entry["total_running"] = of_kind(row.total, reader::TimeKind::running);
    entry["total_ready"] = of_kind(row.total, reader::TimeKind::ready);
    entry["total_waiting"] = of_kind(row.total, reader::TimeKind::waiting);
    const auto part = static_cast<double>(row.self.all());
    entry["share"] = all.all() == 0 ? 0.0 : part / static_cast<double>(all.all());
    entry["margin"] = row.margin;
    entry["c_function"] = text(row.c_function);
    return entry.done();
  }

  std::shared_ptr<const reader::Recording> recording_;
  reader::Selection selection_;
  std::unique_ptr<reader::SampleSums> sums_;
};

}  // namespace

void bind_lines(py::module_& module) {
  Methods(py::class_<LinesObject>(module, "Lines").def(py::init<const RecordingHandle&>()))
      .def("facts", &LinesObject::facts)
      .def("files", &LinesObject::files)
      .def("paths", &LinesObject::paths)
      .def("rows", &LinesObject::rows)
      .def("stacks", &LinesObject::stacks)
      .def("callers", &LinesObject::callers)
      .def("flame", &LinesObject::flame)
      .def("timeline", &LinesObject::timeline)
      .def("shares", &LinesObject::shares)
      .def("gains", &LinesObject::gains)
      .def("others", &LinesObject::others);
  Methods(module).def("sampled_files", [](const RecordingHandle& handle) {
    return sampled_files(*handle.recording);
  });
}

}  // namespace nvspan::bindings
