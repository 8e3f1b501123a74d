// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/scan/device_lanes.hpp"

#include "reader/scan/range_scan.hpp"
#include "record/file/device_schema.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>

namespace nvspan::reader {
namespace {

constexpr std::uint64_t default_streams = 2;  // the handles up to this stand for one

template <typename T>
bool take(std::string_view bytes, const DeviceLayout& layout, nvtx::DeviceField field, T& out) {
  const std::uint32_t offset = layout.offsets[static_cast<std::size_t>(field)];
  if (offset == record::no_string || offset > bytes.size() || bytes.size() - offset < sizeof out) {
    return false;
  }
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return true;
}

std::int32_t name_at(const std::vector<GivenName>& names, std::uint64_t ticks) {
  const GivenName* best = nullptr;
  for (const GivenName& name : names) {
    if (best == nullptr || name.ticks <= ticks) best = &name;
  }
  return best == nullptr ? no_name : best->name;
}

std::int32_t name_of(const std::map<std::uint64_t, std::vector<GivenName>>& names,
                     std::uint64_t handle, std::uint64_t ticks) {
  const auto found = names.find(handle);
  return found == names.end() ? no_name : name_at(found->second, ticks);
}

std::string in_brackets(const Recording& recording, std::int32_t name) {
  if (name < 0) return {};
  return " (" + std::string(recording.text(name)) + ")";
}

}  // namespace

bool read_device_call(const ReadProcess& process, const ReadSite& site, const EntryPayload& payload,
                      DeviceCall& call) {
  if (site.device == 0) return false;
  call = DeviceCall{};
  if (payload.is_work) {
    const WorkFields work = read_work(process, payload);
    call.device = static_cast<std::int32_t>(work.place.device);
    call.stream = work.place.stream;
    call.stream_handle = work.place.stream;
    call.launch = work.launch.correlation;
    call.launched = work.launched;
    call.thread = work.tid;
    call.node = work.node;
    if (site.device > 1) call.payload = EntryPayload{true, work.bytes, nullptr};
    return true;
  }
  constexpr std::size_t head = 3 * sizeof(std::uint64_t);  // schema, size as given, size kept
  if (payload.bytes == nullptr || payload.bits < head) return true;
  const std::uint64_t kept = std::min(payload.bytes[2], payload.bits - head);
  const auto found = process.device_layouts.find({site.local_domain, payload.bytes[0]});
  if (found == process.device_layouts.end()) return true;
  const DeviceLayout& layout = found->second;
  const std::string_view bytes(reinterpret_cast<const char*>(payload.bytes + 3),
                               static_cast<std::size_t>(kept));
  take(bytes, layout, nvtx::DeviceField::device, call.device);
  take(bytes, layout, nvtx::DeviceField::stream, call.stream);
  take(bytes, layout, nvtx::DeviceField::stream_handle, call.stream_handle);
  take(bytes, layout, nvtx::DeviceField::launch, call.launch);
  take(bytes, layout, nvtx::DeviceField::thread, call.thread);
  take(bytes, layout, nvtx::DeviceField::uncertainty, call.uncertainty);
  // Ranges of a program carry its processor's counter, whichever clock the recorder took.
  if (process.header.clock != static_cast<std::uint32_t>(record::ClockType::monotonic)) {
    take(bytes, layout, nvtx::DeviceField::launched, call.launched);
  }
  if (site.device == 1 + static_cast<std::uint8_t>(trace::PayloadType::ext)) {
    // Pieces of the program's own follow.
    const std::uint64_t own = head + (kept + word - 1) / word * word;
    if (own < payload.bits) {
      call.payload = EntryPayload{true, payload.bits - own, payload.bytes + own / word};
    }
    return true;
  }
  call.payload.present =
      site.device > 1 && take(bytes, layout, nvtx::DeviceField::payload, call.payload.bits);
  return true;
}

std::uint32_t DeviceLanes::lane(std::uint32_t process, const DeviceCall& call,
                                std::uint64_t begin) {
  const auto entry = numbers_.emplace(std::make_tuple(process, call.device, call.stream),
                                      static_cast<std::uint32_t>(lanes_.size()));
  if (entry.second) {
    lanes_.push_back(DeviceLane{process, call.device, call.stream, call.stream_handle, begin});
  }
  DeviceLane& lane = lanes_[entry.first->second];
  lane.last_ticks = std::max(lane.last_ticks, begin);
  return entry.first->second;
}

std::int32_t device_name(const Recording& recording, const DeviceLane& lane) {
  return name_of(recording.processes()[lane.process].device_names,
                 static_cast<std::uint64_t>(lane.device), lane.last_ticks);
}

std::int32_t stream_name(const Recording& recording, const DeviceLane& lane) {
  // A default stream has its handle on every device: a name given to it would name them all.
  return name_of(recording.processes()[lane.process].stream_names, lane.stream_handle,
                 lane.last_ticks);
}

std::string device_label(const Recording& recording, const DeviceLane& lane) {
  if (lane.device < 0) return "GPU";
  return "GPU " + std::to_string(lane.device) +
         in_brackets(recording, device_name(recording, lane));
}

std::string lane_label(const Recording& recording, const DeviceLane& lane) {
  std::string label = device_label(recording, lane);
  if (lane.device < 0) return label;
  label += " \xC2\xB7 ";
  const bool handle = lane.stream >> 32 != 0;  // of a driver that has no ids
  if (lane.stream_handle <= default_streams && !handle) {
    label += "default stream";
  } else if (handle) {  // or NCCL's communicator, which has no stream's handle
    char text[48];
    std::snprintf(text, sizeof text,
                  lane.stream_handle == 0 ? "communicator %016llx" : "stream 0x%llx",
                  static_cast<unsigned long long>(lane.stream));
    label += text;
  } else {
    label += "stream " + std::to_string(lane.stream);
  }
  return label + in_brackets(recording, stream_name(recording, lane));
}

bool has_device_ranges(const Recording& recording) {
  const auto& sites = recording.sites();
  return std::any_of(sites.begin(), sites.end(),
                     [](const ReadSite& site) { return site.device != 0; });
}

struct Launch {
  std::uint32_t process;
  std::uint32_t thread;  // the system's number
  std::uint64_t ticks;
  std::uint64_t launch;
};

namespace {

class LaunchCollector : public ThreadVisitor {
 public:
  LaunchCollector(const Recording& recording, const Selection& selection, std::vector<Launch>& out)
      : recording_(recording), selection_(selection), out_(out) {}

  void begin_thread(std::uint32_t process) { process_ = process; }
  void whole(std::uint32_t site, std::uint64_t begin, std::uint64_t, const EntryPayload& payload) {
    start(site, begin, 0, payload);
  }
  void start(std::uint32_t site, std::uint64_t ticks, std::uint64_t, const EntryPayload& payload) {
    DeviceCall call;
    const ReadProcess& process = recording_.processes()[process_];
    if (!read_device_call(process, recording_.sites()[site], payload, call)) return;
    if (!selection_.takes_site(site) || !selection_.takes_time(process.time(ticks))) return;
    if (call.launched == 0 || call.launch == 0) return;
    out_.push_back(Launch{process_, call.thread, call.launched, call.launch});
  }

 private:
  const Recording& recording_;
  const Selection& selection_;
  std::vector<Launch>& out_;
  std::uint32_t process_ = 0;
};

}  // namespace

// Scans one thread, beside its launches in the order of their times.
class LaunchFinder : public ThreadVisitor {
 public:
  LaunchFinder(DeviceLaunches& out, std::uint32_t thread, const Launch* begin, const Launch* end)
      : out_(out), thread_(thread), next_(begin), end_(end) {}

  std::uint64_t open(const PushRange& range, std::uint64_t, const EntryPayload&) {
    give(range.start);
    open_.push_back(opened_);
    return opened_++;
  }
  void close(const PushRange& range, std::uint64_t ticks, const EntryPayload&) {
    give(ticks);
    leave(range.row);
  }
  void unclosed(const PushRange& range, std::uint64_t ticks, EndReason) {
    give(ticks + 1);
    leave(range.row);
  }

 private:
  void give(std::uint64_t until) {
    for (; next_ != end_ && next_->ticks < until; ++next_) {
      if (open_.empty()) continue;
      const std::uint64_t flow = DeviceLaunches::flow_of(next_->process, next_->launch);
      if (!out_.known_.insert(flow).second) continue;
      out_.of_thread_[thread_][open_.back()].push_back(flow);
    }
  }
  void leave(std::uint64_t number) {  // mostly the last one
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (open_[i] != number) continue;
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

  DeviceLaunches& out_;
  std::uint32_t thread_;
  const Launch* next_;
  const Launch* end_;
  std::vector<std::uint64_t> open_;
  std::uint64_t opened_ = 0;
};

LaunchThreads::LaunchThreads(const Recording& recording) {
  const auto& threads = recording.threads();
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    const ReadThread& thread = threads[i];
    const std::uint64_t end =
        thread.exited ? thread.end_ticks : std::numeric_limits<std::uint64_t>::max();
    lives_[{thread.process, thread.tid}].push_back(Life{i, end});
  }
  for (auto& lives : lives_) {
    std::sort(lives.second.begin(), lives.second.end(),
              [](const Life& a, const Life& b) { return a.end_ticks < b.end_ticks; });
  }
}

std::uint32_t LaunchThreads::launching_thread(std::uint32_t process, const DeviceCall& call,
                                              std::uint32_t submitter) const {
  if (call.launched == 0) return submitter;
  const auto found = lives_.find({process, call.thread});
  if (found == lives_.end()) return submitter;
  for (const Life& life : found->second) {
    if (call.launched <= life.end_ticks) return life.thread;
  }
  return submitter;
}

DeviceLaunches::DeviceLaunches(const Recording& recording, const Selection& selection) {
  if (!has_device_ranges(recording)) return;
  const auto& threads = recording.threads();
  std::vector<Launch> launches;
  LaunchCollector collector(recording, selection, launches);
  for (const ReadThread& thread : threads) {
    collector.begin_thread(thread.process);
    scan_thread(recording, thread, collector);
  }
  std::sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
    return std::tie(a.process, a.thread, a.ticks) < std::tie(b.process, b.thread, b.ticks);
  });
  of_thread_.resize(threads.size());
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    const ReadThread& thread = threads[i];
    const auto before = [](const Launch& a, const Launch& b) {
      return std::tie(a.process, a.thread, a.ticks) < std::tie(b.process, b.thread, b.ticks);
    };
    const Launch from{thread.process, thread.tid, thread.start_ticks, 0};
    const Launch to{thread.process, thread.tid,
                    thread.exited ? thread.end_ticks : static_cast<std::uint64_t>(-1), 0};
    const auto begin = std::lower_bound(launches.begin(), launches.end(), from, before);
    const auto end = std::lower_bound(begin, launches.end(), to, before);
    if (begin == end) continue;
    LaunchFinder finder(*this, i, &*begin, &*begin + (end - begin));
    scan_thread(recording, thread, finder, KeepSelected(recording, i, selection));
  }
}

DeviceLaunches::Flows DeviceLaunches::flows_from(std::uint32_t thread, std::uint64_t number) const {
  if (thread >= of_thread_.size()) return Flows{nullptr, nullptr};
  const auto found = of_thread_[thread].find(number);
  if (found == of_thread_[thread].end()) return Flows{nullptr, nullptr};
  return Flows{found->second.data(), found->second.data() + found->second.size()};
}

std::uint64_t DeviceLaunches::flow_to(std::uint32_t process, const DeviceCall& call) const {
  if (call.launched == 0 || call.launch == 0) return 0;
  const std::uint64_t flow = flow_of(process, call.launch);
  return known_.count(flow) != 0 ? flow : 0;
}

}  // namespace nvspan::reader
