// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/support/py.hpp"

#include "bindings/reader/reports.hpp"
#include "bindings/reader/values/methods.hpp"

#include <pybind11/stl.h>

#include "reader/page/flame.hpp"
#include "reader/page/timeline.hpp"
#include "reader/perfetto/perfetto_export.hpp"
#include "reader/projection/sums.hpp"
#include "reader/stats/call_tree.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>
#include <utility>

namespace py = pybind11;

namespace nvspan::bindings {

py::list list_losses(const std::vector<reader::ReadLoss>& losses) {
  py::list entries;
  for (const reader::ReadLoss& loss : losses) {
    NewResult entry("Loss");
    entry["process"] = loss.process;
    entry["thread"] = number_or_none(loss.thread);
    entry["begin"] = loss.from;
    entry["end"] = loss.to;
    if (loss.count != 0) entry["count"] = loss.count;
    entry["reason"] = loss.reason;
    entries.append(entry.done());
  }
  return entries;
}

const char* kind_text(reader::RangeKind kind) {
  static const char* const names[reader::range_kinds] = {"push_pop", "start_end", "device"};
  return names[static_cast<std::size_t>(kind)];
}

void add_lane(NewResult& entry, const reader::Recording& recording, const reader::DeviceLane& lane,
              bool with_stream) {
  const auto text = [&](std::int32_t name) {
    return name < 0 ? py::object(py::none())
                    : text_of(recording.strings()[static_cast<std::size_t>(name)]);
  };
  entry["process"] = lane.process;
  entry["device"] = number_or_none(lane.device);
  entry["device_name"] = text(reader::device_name(recording, lane));
  if (with_stream) {
    entry["stream"] = lane.stream;
    entry["stream_name"] = text(reader::stream_name(recording, lane));
  }
  entry["lane"] = text_of(with_stream ? reader::lane_label(recording, lane)
                                      : reader::device_label(recording, lane));
}

void raise_os_error(const std::system_error& error, const std::string& path) {
  errno = error.code().value();
  PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
  throw py::error_already_set();
}

py::object string_at(const reader::Recording& recording, std::int32_t number) {
  const auto index = static_cast<std::size_t>(number);
  if (number < 0 || index >= recording.strings().size()) return py::none();
  return text_of(recording.strings()[index]);
}

namespace {

py::object domain_at(const reader::Recording& recording, std::uint32_t domain) {
  return string_at(recording, recording.domains()[domain]);
}
py::list threads(const RecordingHandle& handle) {
  const reader::Recording& recording = *handle.recording;
  py::list entries;
  for (const reader::ReadThread& thread : recording.threads()) {
    NewResult entry("RecordedThread");
    entry["process"] = thread.process;
    entry["pid"] = recording.processes()[thread.process].header.pid;
    entry["tid"] = thread.tid;
    entry["name"] = string_at(recording, thread.name);
    entries.append(entry.done());
  }
  return entries;
}

py::list tree(const RecordingHandle& handle, bool ancestors) {
  const reader::Recording& recording = *handle.recording;
  reader::CallTree found;
  {
    const released_gil released;
    found = reader::call_tree(recording, handle.selection, ancestors);
  }
  py::list entries;
  for (const auto& each : found.nodes) {
    const reader::CallNode& node = *each;
    NewResult entry("CallNode");
    entry["parent"] = number_or_none(node.parent);
    entry["domain"] = domain_at(recording, node.domain);
    entry["name"] = string_at(recording, node.name);
    entry["kind"] = kind_text(node.kind);
    entry["backward"] = node.backward;
    if (node.lane >= 0) {
      entry["lane"] = found.lanes[static_cast<std::size_t>(node.lane)];
      entry["lane_covered"] = found.lane_covered[static_cast<std::size_t>(node.lane)];
    }
    entry["calls"] = node.calls;
    entry["unclosed"] = node.unclosed;
    entry["open_time"] = static_cast<std::int64_t>(node.outermost.still_open().time);
    if (node.is_resumable) {
      entry["resumptions"] = node.resumptions;
      if (node.unknown_awaits == 0) entry["awaited"] = node.awaited;
    }
    entry["total"] = static_cast<std::int64_t>(node.total());
    const bool is_nested = node.kind == reader::RangeKind::push_pop;
    entry["covered"] = is_nested ? static_cast<std::int64_t>(node.total()) : node.covered;
    if (node.kind != reader::RangeKind::start_end) entry["self"] = node.self;
    entry["min"] = node.calls == 0 ? 0 : node.shortest;
    entry["max"] = node.longest;
    entry["threads"] = node.threads.size();
    if (node.durations != nullptr && node.calls != 0) {
      const auto least = static_cast<double>(node.shortest);
      const auto most = static_cast<double>(node.longest);
      entry["p50"] = std::clamp(node.durations->percentile(0.5, node.calls), least, most);
      entry["typical"] = reader::typical_of(*node.durations, {}, node.calls, node.sum,
                                            node.outermost.within().time > 0)
                             .mean;
    }
    entries.append(entry.done());
  }
  return entries;
}

// Exact figures, for reports that promise those of another tool. Ranges that did not end last until
// `unclosed_end`, or are left out.
py::list exact(const RecordingHandle& handle, const std::optional<std::int64_t>& unclosed_end) {
  const reader::Recording& recording = *handle.recording;
  std::vector<reader::Durations> rows;
  {
    const released_gil released;
    rows = reader::all_durations(recording, handle.selection, unclosed_end);
  }
  py::list entries;
  for (reader::Durations& row : rows) {
    const reader::DurationFigures figures = reader::figures_of(row.ns, reader::Median::midpoint);
    NewResult entry("ExactRow");
    entry["domain"] = domain_at(recording, row.domain);
    entry["name"] = string_at(recording, row.name);
    entry["kind"] = kind_text(row.kind);
    entry["calls"] = figures.count;
    entry["total"] = figures.sum;
    entry["mean"] = figures.mean;
    entry["median"] = figures.median;
    entry["min"] = figures.shortest;
    entry["max"] = figures.longest;
    entry["std"] = figures.deviation;
    entries.append(entry.done());
  }
  return entries;
}

// The name, kind and color of a node.
py::tuple look_of(const reader::Recording& recording, const reader::FlameNode& node) {
  const reader::ReadSite& site = recording.sites()[node.site];
  return py::make_tuple(domain_at(recording, site.domain), string_at(recording, site.name),
                        kind_text(node.kind), site.backward,
                        site.has_color ? py::object(py::int_(site.color)) : py::none());
}

py::list list_keys(const reader::Recording& recording, const std::vector<reader::PageKey>& keys) {
  py::list listed;
  for (const reader::PageKey& key : keys) {
    py::list durations;
    for (unsigned i = 0; key.durations != nullptr && i < reader::DurationCounts::buckets; ++i) {
      const std::uint32_t count = key.durations->counts[i];
      if (count != 0) durations.append(py::make_tuple(i, count));
    }
    NewResult entry("TimelineKey");
    entry["domain"] = domain_at(recording, key.domain);
    entry["name"] = string_at(recording, key.name);
    entry["kind"] = key.is_mark ? "mark" : kind_text(key.kind);
    entry["backward"] = key.backward;
    if (key.has_color) entry["color"] = key.color;
    entry["category"] = key.category;
    entry["category_name"] = string_at(recording, key.category_name);
    entry["calls"] = key.calls;
    entry["sum"] = key.sum;
    if (key.durations != nullptr) entry["durations"] = durations;
    listed.append(entry.done());
  }
  return listed;
}

py::list list_counters(const reader::Recording& recording,
                       const std::vector<reader::CounterTrack>& counters) {
  py::list listed;
  for (const reader::CounterTrack& track : counters) {
    const reader::ReadCounter& counter = recording.counters()[track.counter];
    py::list points;
    for (const reader::CounterPoint& point : track.points) {
      points.append(
          py::make_tuple(point.time, point.least, point.greatest, point.last, point.count));
    }
    NewResult entry("TimelineCounter");
    entry["process"] = track.process;
    entry["domain"] = domain_at(recording, counter.domain);
    entry["name"] = string_at(recording, counter.name);
    entry["field"] = string_at(recording, counter.field);
    entry["unit"] = string_at(recording, counter.unit);
    entry["samples"] = track.samples;
    entry["points"] = points;
    listed.append(entry.done());
  }
  return listed;
}

// Blocks are bytes, as reader/page/timeline_bytes.hpp lays them out.
py::object timeline(const RecordingHandle& handle, const py::dict& given) {
  const reader::Recording& recording = *handle.recording;
  reader::TimelineLimits limits;
  const auto take = [&](const char* name, std::size_t& limit) {
    if (given.contains(name)) limit = given[name].cast<std::size_t>();
  };
  take("bytes", limits.bytes);
  take("levels", limits.levels);
  take("tracks", limits.tracks);
  take("payload_bytes", limits.payload_bytes);
  take("points", limits.points);
  take("counters", limits.counters);
  reader::Timeline found;
  {
    const released_gil released;
    found = reader::make_timeline(recording, handle.selection, limits);
  }
  static const char* const kinds[] = {"thread", "spans", "device"};
  py::list tracks;
  for (const reader::PageTrack& track : found.tracks) {
    NewResult entry("TimelineTrack");
    entry["kind"] = kinds[static_cast<std::size_t>(track.kind)];
    entry["process"] = track.process;
    entry["thread"] = number_or_none(track.thread);
    entry["device"] = text_of(track.device);
    entry["ranges"] = track.ranges;
    entry["blocks"] = py::bytes(track.bytes);
    tracks.append(entry.done());
  }
  py::list texts;
  for (const std::string& text : found.texts) texts.append(text_of(text));
  NewResult entry("Timeline");
  entry["first"] = found.first;
  entry["last"] = found.last;
  entry["resolution"] = found.resolution;
  entry["hidden_levels"] = found.hidden_levels;
  entry["hidden_tracks"] = found.hidden_tracks;
  entry["hidden_counters"] = found.hidden_counters;
  entry["payloads"] = found.payloads;
  entry["shown_payloads"] = found.shown_payloads;
  entry["tracks"] = tracks;
  entry["keys"] = list_keys(recording, found.keys);
  entry["names"] = found.names;
  entry["texts"] = texts;
  entry["counters"] = list_counters(recording, found.counters);
  return entry.done();
}

// `columns`: process, start, duration and group of the windows, in ns; what has a group below 0 is
// in none. No columns: all of the recording.
py::object flame(const RecordingHandle& handle, const std::vector<py::buffer>& columns,
                 std::size_t most_nodes) {
  const reader::Recording& recording = *handle.recording;
  std::vector<reader::FlameWindow> windows;
  if (!columns.empty()) {
    if (columns.size() != 4) throw py::value_error("windows are process, start, duration, group");
    std::array<py::buffer_info, 4> given;
    for (std::size_t i = 0; i < given.size(); ++i) {
      given[i] = columns[i].request();
      if (given[i].ndim != 1 || !given[i].item_type_is_equivalent_to<std::int64_t>() ||
          given[i].size != given[0].size || given[i].strides[0] != sizeof(std::int64_t)) {
        throw py::value_error("windows are four columns of int64 of one length");
      }
    }
    const auto at = [&](std::size_t column, std::size_t row) {
      return static_cast<const std::int64_t*>(given[column].ptr)[row];
    };
    for (std::size_t row = 0; row < static_cast<std::size_t>(given[0].size); ++row) {
      if (at(3, row) < 0) continue;
      windows.push_back(reader::FlameWindow{static_cast<std::uint32_t>(at(0, row)), at(1, row),
                                            at(1, row) + at(2, row),
                                            static_cast<std::uint32_t>(at(3, row))});
    }
  }
  reader::Flame found;
  {
    const released_gil released;
    found = reader::make_flame(recording, handle.selection, std::move(windows), most_nodes);
  }
  py::list roots, nodes;
  for (const reader::FlameRoot& root : found.roots) {
    NewResult entry("FlameRoot");
    entry["group"] = root.group;
    entry["process"] = root.process;
    entry["thread"] = number_or_none(root.thread);
    entry["device"] = text_of(root.device);
    roots.append(entry.done());
  }
  for (const reader::FlameNode& node : found.nodes) {
    nodes.append(py::make_tuple(node.parent, node.root, look_of(recording, node), node.calls,
                                node.total, node.self, node.unclosed, node.folded));
  }
  NewResult entry("Flame");
  entry["roots"] = roots;
  entry["nodes"] = nodes;
  entry["folded"] = found.folded;
  return entry.done();
}

// `hidden`: numbers of the files whose frames are not shown in samples.
std::uint64_t write_perfetto(const RecordingHandle& handle, const std::string& path,
                             const py::object& progress, const std::vector<std::uint32_t>& hidden) {
  std::vector<bool> is_hidden(handle.recording->strings().size());
  for (const std::uint32_t number : hidden) {
    if (number < is_hidden.size()) is_hidden[number] = true;
  }
  try {
    released_gil released;
    return reader::export_perfetto(*handle.recording, handle.selection, is_hidden, path,
                                   progress_of<double>(progress, released));
  } catch (const std::system_error& error) {
    raise_os_error(error, path);
  }
}

}  // namespace

void bind_reports(py::module_& module) {
  const py::class_<RecordingHandle> handle(module, "RecordingHandle");
  Methods(module)
      .def("threads", &threads)
      .def("tree", &tree, py::arg("handle"), py::arg("ancestors") = false)
      .def("exact", &exact, py::arg("handle"), py::arg("unclosed_end") = py::none())
      .def("timeline", &timeline)
      .def("flame", &flame)
      .def("write_perfetto", &write_perfetto);
}

}  // namespace nvspan::bindings
