// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/chrome/chrome_export.hpp"

#include "core/text/json_text.hpp"
#include "core/text/number_text.hpp"
#include "reader/chrome/chrome_events.hpp"
#include "reader/export/titles.hpp"
#include "reader/scan/device_rows.hpp"
#include "reader/scan/payloads.hpp"
#include "reader/scan/range_scan.hpp"
#include "trace/payload/scalar_payload.hpp"
#include "trace/sinks/payload_text.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::reader {
namespace {

constexpr std::uint64_t chrome_progress_events = 1 << 18;
constexpr std::uint64_t first_chrome_lane = 1u << 23;  // past any thread's number
constexpr std::string_view loss_category = ",\"cat\":\"nvspan\"";

// What readers of PyTorch's traces know as ranges of a GPU, beside kernels, copies and sets.
constexpr std::string_view device_category = "gpu_user_annotation";
bool is_of_kineto(std::string_view domain) {
  return domain == "kernel" || domain == "gpu_memcpy" || domain == "gpu_memset" ||
         domain == device_category;
}

// What the events of one site have in common.
struct SiteText {
  bool ready = false;
  std::string members;  // name, category and color
  std::string args;
};

// Which of a thread's push ranges end while one that began within them is open, as ranges of two
// domains may: the format has no place for them in the thread's own nesting.
struct Crossings : ThreadVisitor {
  std::vector<bool> found;
  std::vector<std::uint64_t> open_rows;

  std::uint64_t open(const PushRange&, std::uint64_t, const EntryPayload&) {
    open_rows.push_back(found.size());
    found.push_back(false);
    return open_rows.back();
  }
  void close(const PushRange& range, std::uint64_t, const EntryPayload&) { leave(range.row); }
  void unclosed(const PushRange& range, std::uint64_t, EndReason) { leave(range.row); }

 private:
  void leave(std::uint64_t row) {
    if (open_rows.empty()) return;
    if (open_rows.back() == row) return open_rows.pop_back();
    found[row] = true;
    open_rows.erase(std::find(open_rows.begin(), open_rows.end(), row));
  }
};

class ChromeExporter : public RangeScan<ChromeExporter, true> {
 public:
  ChromeExporter(const Recording& recording, const Selection& selection, ChromeFile& file,
                 const std::function<void(double)>& progress)
      : RangeScan(recording, selection),
        payloads_(recording),
        file_(file),
        progress_(progress),
        sites_(recording.sites().size()),
        counters_(recording.counters().size()),
        devices_(recording),
        launches_(recording, selection),
        line_(pool_) {
    for (const ReadThread& thread : recording.threads()) {
      for (const ReadChunk& chunk : thread.chunks) {
        expected_ += static_cast<std::uint64_t>(chunk.end - chunk.begin);
      }
    }
  }

  void write();

  void begin_thread(std::uint32_t thread);
  std::uint64_t open(const PushRange& range, std::uint64_t, const EntryPayload& payload) {
    const std::uint64_t number = opened_++;
    const std::int64_t at = time(range.start);
    const SiteText& site = site_text(range.site);
    const std::string_view args = args_of(range.site, payload);
    if (crosses(number)) {
      file_.event('b', lane(), at, site.members + id_member(crossing_id(number)), args);
    } else {
      file_.event('B', lane(), at, site.members, args);
    }
    const auto flows = launches_.of(thread_, number);
    for (const auto* flow = flows.begin; flow != flows.end; ++flow)
      add_flow('s', lane(), at, *flow);
    step();
    return number;
  }
  void close(const PushRange& range, std::uint64_t ticks, const EntryPayload&) {
    end_range(range, ticks, {});
    step();
  }
  void unclosed(const PushRange& range, std::uint64_t ticks, EndReason reason) {
    end_range(range, ticks, "\"end_reason\":" + json_string(end_reason_text(reason)));
  }
  void mark(std::uint32_t site, std::uint64_t ticks, const EntryPayload& payload) {
    const std::int64_t at = time(ticks);
    if (!takes(site, at, thread_)) return;
    file_.event('i', lane(), at, ",\"s\":\"t\"" + site_text(site).members, args_of(site, payload));
    step();
  }
  void ended(const ScannedRange& range);
  void counter(std::uint32_t subject, record::EntryKind kind, std::uint64_t ticks,
               std::uint64_t bits);
  void lost(const record::LossWindow& window, record::LossReason) {
    add_loss(time(window.from), time(window.to), std::to_string(window.count) + " events lost");
  }
  void gap(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    const std::string many = count == 0 ? "" : std::to_string(count) + " events ";
    add_loss(time(from), time(to), many + "overwritten by the ring");
  }
  void end_process(std::uint32_t process);

 private:
  void step() {
    if (++events_ % chrome_progress_events == 0 && progress_ && expected_ != 0) {
      progress_(std::min(static_cast<double>(events_) / static_cast<double>(expected_), 1.0));
    }
  }
  bool crosses(std::uint64_t number) const {
    return number < crossings_.found.size() && crossings_.found[number];
  }
  std::uint64_t crossing_id(std::uint64_t number) const {
    return (std::uint64_t{thread_} + 1) << 36 | number;
  }
  static std::string id_member(std::uint64_t id) { return ",\"id\":" + std::to_string(id); }

  void end_range(const PushRange& range, std::uint64_t ticks, const std::string& args) {
    if (crosses(range.row)) {
      file_.event('e', lane(), time(ticks),
                  site_text(range.site).members + id_member(crossing_id(range.row)), args);
    } else {
      file_.event('E', lane(), time(ticks), {}, args);
    }
  }
  const SiteText& site_text(std::uint32_t site) {
    if (!sites_[site].ready) prepare(site);
    return sites_[site];
  }
  // The members of "args", valid until the next call.
  std::string_view args_of(std::uint32_t site, const EntryPayload& payload) {
    if (!payload.present) return site_text(site).args;
    return args_of(recording_.threads()[thread_].process, site, payload);
  }
  std::string_view args_of(std::uint32_t process, std::uint32_t site, const EntryPayload& payload);
  void add_payload(std::uint32_t process, std::uint32_t site, const EntryPayload& payload);
  void add_flow(char phase, std::string_view lane, std::int64_t at, std::uint64_t flow) {
    file_.event(phase, lane, at,
                (phase == 'f' ? ",\"bp\":\"e\"" : "") + id_member(flow) +
                    ",\"name\":\"launch\",\"cat\":\"launch\"");
  }
  void add_loss(std::int64_t from, std::int64_t to, const std::string& text) {
    const std::string members = ",\"name\":" + json_string(text) + std::string(loss_category) +
                                id_member(std::uint64_t{1} << 63 | ++losses_);
    file_.event('b', lane(), from, members);
    file_.event('e', lane(), std::max(from, to), members);
  }
  // The thread's; it is named when the first event of it is written.
  std::string_view lane() {
    if (lane_.empty()) name_thread();
    return lane_;
  }
  void name_thread();
  void prepare(std::uint32_t site);
  void write_devices(std::uint32_t process);

  RecordedPayloads payloads_;
  ChromeFile& file_;
  const std::function<void(double)>& progress_;
  std::vector<SiteText> sites_;
  std::vector<std::string> counters_;  // name and category
  DeviceRows devices_;
  DeviceLaunches launches_;
  core::PagePool pool_;
  core::LineBuffer line_;
  Crossings crossings_;
  std::vector<std::uint32_t> pids_;
  std::string lane_;
  std::uint64_t opened_ = 0;  // push ranges of this thread
  std::uint64_t next_lane_ = first_chrome_lane;
  std::uint64_t started_ = 0;  // start/end ranges
  std::uint64_t losses_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t expected_ = 0;
};

void ChromeExporter::prepare(std::uint32_t number) {
  SiteText& site = sites_[number];
  const ReadSite& read = recording_.sites()[number];
  std::string name = read.name < 0 ? "-" : text_at(recording_, read.name);
  if (read.backward) name += " (backward)";
  site.members = ",\"name\":" + json_string(name);
  const std::string domain = text_at(recording_, recording_.domains()[read.domain]);
  const bool is_device = read.device != 0 && !is_of_kineto(domain);
  const std::string category = is_device ? std::string(device_category) : domain;
  if (!category.empty()) site.members += ",\"cat\":" + json_string(category);
  const auto add = [&](std::string_view key, std::string_view text) {
    if (!site.args.empty()) site.args += ',';
    site.args += key;
    site.args += json_string(text);
  };
  if (is_device && !domain.empty()) add("\"nvtx.domain\":", domain);
  if (has_own_color(read)) {
    site.members += ",\"cname\":\"" + std::string(nearest_color_name(read.color)) + '"';
    char text[12];
    std::snprintf(text, sizeof text, "#%08X", static_cast<unsigned>(read.color));
    add("\"nvtx.color\":", text);
  }
  if (read.category_name >= 0) {
    add("\"nvtx.category\":", text_at(recording_, read.category_name));
  } else if (read.category != 0) {
    add("\"nvtx.category\":", std::to_string(read.category));
  }
  site.ready = true;
}

std::string_view ChromeExporter::args_of(std::uint32_t process, std::uint32_t site,
                                         const EntryPayload& payload) {
  line_.clear();
  line_.add(site_text(site).args);
  add_payload(process, site, payload);
  return {line_.data(), line_.size()};
}

// By its fields, or else by its bytes.
void ChromeExporter::add_payload(std::uint32_t process, std::uint32_t site,
                                 const EntryPayload& payload) {
  if (!payload.present) return;
  const ReadSite& read = recording_.sites()[site];
  const std::size_t before = line_.size();
  if (before != 0) line_.add(',');
  const std::size_t begin = line_.size();
  if (payload.bytes != nullptr) {
    trace::PayloadJson fields(line_);
    const trace::PayloadResult result =
        payloads_.read(process, read.local_domain, payload.bytes, payload.bits, fields);
    if (result == trace::PayloadResult::whole && line_.size() != begin) return;
    line_.cut(begin);
  }
  line_.add("\"payload\":");
  const auto add = [&](auto value) {
    using Value = decltype(value);
    if constexpr (std::is_floating_point_v<Value>) {
      if (!core::add_real(line_, value)) core::add_json_real(line_, static_cast<double>(value));
    } else if constexpr (std::is_signed_v<Value>) {
      line_.add_signed(static_cast<std::int64_t>(value));
    } else {
      line_.add_unsigned(static_cast<std::uint64_t>(value));
    }
  };
  const auto type = static_cast<trace::PayloadType>(read.own_payload_type());
  if (trace::use_scalar(type, payload.bits, add)) return;
  if (payload.bytes == nullptr) return line_.cut(before);
  constexpr std::uint64_t most_shown = 64;
  line_.add('"');
  line_.add_unsigned(payload.bits);
  line_.add(" bytes: ");
  line_.add_hex(std::string_view(reinterpret_cast<const char*>(payload.bytes),
                                 static_cast<std::size_t>(std::min(payload.bits, most_shown))));
  line_.add('"');
}

void ChromeExporter::write() {
  const auto& processes = recording_.processes();
  pids_ = distinct_pids(recording_);
  std::string first = "\"displayTimeUnit\":\"ns\",";
  if (!processes.empty()) {
    const record::FileHeader& header = processes[0].header;
    first += "\"baseTimeNanoseconds\":" +
             std::to_string(static_cast<std::int64_t>(header.first.realtime) -
                            static_cast<std::int64_t>(header.first.monotonic)) +
             ',';
    if (processes.size() == 1 && header.rank >= 0) {
      first += "\"distributedInfo\":{\"rank\":" + std::to_string(header.rank) +
               ",\"world_size\":" + std::to_string(header.world_size) + "},";
    }
  }
  file_.begin(first);
  for (std::uint32_t number = 0; number < processes.size(); ++number) {
    const std::string lane = ",\"pid\":" + std::to_string(pids_[number]);
    file_.metadata("process_name", lane,
                   "\"name\":" + json_string(process_title(recording_, number)));
    const std::int32_t rank = processes[number].header.rank;
    if (rank < 0) continue;
    file_.metadata("process_sort_index", lane, "\"sort_index\":" + std::to_string(rank));
  }
  run();
  file_.end();
}

void ChromeExporter::begin_thread(std::uint32_t) {
  lane_.clear();
  opened_ = 0;
  const ReadThread& thread = recording_.threads()[thread_];
  crossings_ = Crossings();
  if (process_->domains.size() > 1) {
    scan_thread(recording_, thread, crossings_, KeepSelected(recording_, thread_, selection_));
  }
  // Those of which nothing is wanted are left out, and what stands for no thread of the system.
  if (selection_.is_whole() && thread.tid != 0) name_thread();
  for (const ReadLoss& loss : recording_.losses()) {
    if (loss.thread != static_cast<std::int64_t>(thread_)) continue;
    const std::string many = loss.count == 0 ? "" : std::to_string(loss.count) + " ";
    add_loss(loss.from, loss.to, many + "events missing: " + std::string(loss.reason));
  }
}

void ChromeExporter::name_thread() {
  const ReadThread& thread = recording_.threads()[thread_];
  lane_ = chrome_lane(pids_[thread.process], thread.tid);
  if (thread.name < 0) return;
  file_.metadata("thread_name", lane_, "\"name\":" + json_string(text_at(recording_, thread.name)));
}

void ChromeExporter::ended(const ScannedRange& range) {
  if (range.kind == RangeKind::device) {
    devices_.add(recording_.threads()[range.thread].process, range);
    return step();
  }
  const ReadThread& begun = recording_.threads()[range.thread];
  const ReadThread& ended = recording_.threads()[range.end_thread];
  const std::string members =
      site_text(range.site).members + id_member(std::uint64_t{1} << 62 | ++started_);
  file_.event('b', chrome_lane(pids_[begun.process], begun.tid), range.start, members,
              args_of(begun.process, range.site, range.call->payload));
  std::string args;
  if (range.reason != EndReason::closed) {
    args = "\"end_reason\":" + json_string(end_reason_text(range.reason));
  }
  file_.event('e', chrome_lane(pids_[ended.process], ended.tid), range.end, members, args);
  step();
}

void ChromeExporter::counter(std::uint32_t subject, record::EntryKind kind, std::uint64_t ticks,
                             std::uint64_t bits) {
  if (subject >= process_->counters.size() || kind == record::EntryKind::counter_none) return;
  const std::uint32_t number = process_->counters[subject];
  if (!selection_.takes_counter(number) || !selection_.takes_thread(thread_) ||
      !selection_.takes_time(time(ticks))) {
    return;
  }
  std::string& members = counters_[number];
  if (members.empty()) {
    const ReadCounter& read = recording_.counters()[number];
    const std::string domain = text_at(recording_, recording_.domains()[read.domain]);
    std::string name = counter_title(recording_, read);
    if (!domain.empty()) name.erase(0, domain.size() + 1);  // it is the category
    members = ",\"name\":" + json_string(name);
    if (!domain.empty()) members += ",\"cat\":" + json_string(domain);
  }
  line_.clear();
  line_.add("\"value\":");
  if (kind == record::EntryKind::counter_i64) {
    line_.add_signed(static_cast<std::int64_t>(bits));
  } else {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (!core::add_real(line_, value)) return;  // not finite: the format has no such number
  }
  file_.event('C', lane(), time(ticks), members, {line_.data(), line_.size()});
  step();
}

void ChromeExporter::end_process(std::uint32_t process) { write_devices(process); }

// Each row of a stream is a thread of its own, behind those of the CPU.
void ChromeExporter::write_devices(std::uint32_t process) {
  for (const DeviceRow& row : devices_.arrange()) {
    const DeviceLane& of = devices_.lane(row.lane);
    const std::string lane = chrome_lane(pids_[process], next_lane_);
    file_.metadata("thread_name", lane, "\"name\":" + json_string(lane_label(recording_, of)));
    file_.metadata("thread_sort_index", lane, "\"sort_index\":" + std::to_string(next_lane_++));
    for (const DeviceStep& step : row.steps) {
      if (!step.is_begin) continue;
      const DeviceSpan& span = devices_.spans()[step.span];
      std::string members = ",\"dur\":";
      ChromeFile::add_time(members, span.end - span.start);
      members += site_text(span.site).members;
      std::string args =
          "\"device\":" + std::to_string(of.device) + ",\"stream\":" + std::to_string(of.stream);
      if (span.call.thread != 0) args += ",\"started_by\":" + std::to_string(span.call.thread);
      if (span.call.uncertainty != 0) {
        args += ",\"uncertainty_ns\":" + std::to_string(span.call.uncertainty);
      }
      if (span.reason != EndReason::closed) {
        args += ",\"end_reason\":" + json_string(end_reason_text(span.reason));
      }
      const std::string_view own = args_of(process, span.site, span.call.payload);
      if (!own.empty()) (args += ',') += own;
      file_.event('X', lane, step.time, members, args);
      if (const std::uint64_t flow = launches_.to(process, span.call)) {
        add_flow('f', lane, step.time, flow);
      }
    }
  }
  devices_.clear();
}

}  // namespace

std::uint64_t export_chrome(const Recording& recording, const Selection& selection,
                            const std::string& path, const std::function<void(double)>& progress) {
  ChromeFile file(path);
  ChromeExporter exporter(recording, selection, file, progress);
  exporter.write();
  return file.written();
}

}  // namespace nvspan::reader
