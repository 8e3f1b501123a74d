// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/perfetto/perfetto_export.hpp"

#include "reader/perfetto/perfetto_fields.hpp"
#include "reader/perfetto/perfetto_names.hpp"
#include "reader/perfetto/perfetto_payload.hpp"
#include "reader/perfetto/perfetto_samples.hpp"
#include "reader/perfetto/perfetto_stream.hpp"
#include "reader/scan/device_rows.hpp"
#include "reader/scan/payloads.hpp"
#include "reader/scan/range_scan.hpp"

#include <map>

namespace nvspan::reader {
namespace {

using namespace perfetto;

constexpr std::uint32_t first_lane_sequence = 2;
constexpr std::uint64_t progress_events = 1 << 18;

struct DrawnRange {
  std::int64_t start, end;
  std::uint32_t site, thread, end_thread;
  EndReason reason;
  EntryPayload payload;
};

// What the events of one site have in common.
struct SiteBytes {
  bool ready = false;
  std::string begin;  // the fields of a TrackEvent
  std::string instant;
  ProtoBytes names;
};

class Exporter : public RangeScan<Exporter, true> {
 public:
  Exporter(const Recording& recording, const Selection& selection, TraceFile& file,
           const std::function<void(double)>& progress)
      : RangeScan(recording, selection),
        payloads_(recording),
        file_(file),
        progress_(progress),
        sites_(recording.sites().size()),
        devices_(recording),
        launches_(recording, selection) {
    for (const ReadThread& thread : recording.threads()) {
      for (const ReadChunk& chunk : thread.chunks) {
        expected_ += static_cast<std::uint64_t>(chunk.end - chunk.begin);
      }
    }
  }

  void write();
  // What was written, for what follows.
  SampleLanes sample_lanes() const {
    SampleLanes lanes;
    lanes.pids = pids_;
    lanes.threads = threads_with_tracks_;
    for (const ReadThread& thread : recording_.threads()) {
      if (thread.name >= 0) {
        lanes.names[{thread.process, thread.tid}] = recording_.text(thread.name);
      }
    }
    lanes.next_track = next_track_;
    lanes.next_sequence = next_sequence_;
    return lanes;
  }

  void begin_thread(std::uint32_t thread);
  std::uint64_t open(const PushRange& range, std::uint64_t, const EntryPayload& payload) {
    const std::int64_t at = time(range.start);
    Lane& lane = lane_of(range.domain, range.site, at);
    const SiteBytes& site = sites_[range.site];
    const auto flows = launches_.flows_from(thread_, opened_++);
    if (payload.present || flows.begin != flows.end) {
      more_.clear();
      add_payload(range.site, payload);
      for (const auto* flow = flows.begin; flow != flows.end; ++flow) add_flow(more_, *flow, false);
      lane.event(file_, at, site.begin, more_.view());
    } else {
      lane.event(file_, at, site.begin, {});
    }
    step();
    return 0;
  }
  void close(const PushRange& range, std::uint64_t ticks, const EntryPayload&) {
    lane_of(range.domain).event(file_, time(ticks), slice_end, {});
    step();
  }
  void unclosed(const PushRange& range, std::uint64_t ticks, EndReason reason) {
    more_.clear();
    add_annotation(more_, ArgumentName::end_reason, end_reason_text(reason));
    lane_of(range.domain).event(file_, time(ticks), slice_end, more_.view());
  }
  void mark(std::uint32_t site, std::uint64_t ticks, const EntryPayload& payload) {
    const std::int64_t at = time(ticks);
    if (!takes(site, at, thread_)) return;
    Lane& lane = lane_of(recording_.sites()[site].local_domain, site, at);
    more_.clear();
    add_payload(site, payload);
    lane.event(file_, at, sites_[site].instant, more_.view());
    step();
  }
  void ended(const ScannedRange& range) {
    if (range.kind == RangeKind::device) {
      devices_.add(recording_.threads()[range.thread].process, range);
      return step();
    }
    spans_.push_back(DrawnRange{range.start, range.end, range.site, range.thread, range.end_thread,
                                range.reason, range.call->payload});
    step();
  }
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
    if (++events_ % progress_events == 0 && progress_ && expected_ != 0) {
      progress_(std::min(static_cast<double>(events_) / static_cast<double>(expected_), 1.0));
    }
  }
  // By its fields, or else by its bytes.
  void add_payload(std::uint32_t site, const EntryPayload& payload) {
    add_payload(recording_.threads()[thread_].process, site, payload);
  }
  void add_payload(std::uint32_t process, std::uint32_t site, const EntryPayload& payload) {
    const ReadSite& read = recording_.sites()[site];
    if (payload.present && payload.bytes != nullptr) {
      AnnotatedFields fields;
      const trace::PayloadResult result =
          payloads_.read(process, read.local_domain, payload.bytes, payload.bits, fields);
      if (result == trace::PayloadResult::whole && !fields.empty()) {
        return add_annotation(more_, ArgumentName::payload, fields.entries());
      }
    }
    add_plain_payload(more_, read.own_payload_type(), payload);
  }
  void prepare(std::uint32_t site);
  Lane& lane_of(std::uint32_t local_domain) {
    if (last_lane_ == nullptr || last_domain_ != local_domain) {
      last_domain_ = local_domain;
      last_lane_ = &find_lane(local_domain);
    }
    return *last_lane_;
  }
  Lane& lane_of(std::uint32_t local_domain, std::uint32_t site, std::int64_t at) {
    named_site_ = site;
    Lane& lane = lane_of(local_domain);
    if (!lane.knows(site)) define(lane, site, at);
    return lane;
  }
  Lane& find_lane(std::uint32_t local_domain);
  void define(Lane& lane, std::uint32_t site, std::int64_t at) {
    if (!sites_[site].ready) prepare(site);
    lane.define(file_, site, at, sites_[site].names);
  }
  std::string domain_name(std::uint32_t domain) const {
    return std::string(recording_.text(recording_.domains()[domain]));
  }
  // The UI shows a thread's lanes without the thread above them. Empty: of the default domain.
  std::string lane_name(const std::string& of) const {
    const std::string thread(recording_.text(recording_.threads()[thread_].name));
    if (thread.empty()) return of.empty() ? "thread" : of;
    return of.empty() ? thread : thread + " · " + of;
  }
  void add_loss(std::int64_t from, std::int64_t to, const std::string& text);
  void write_devices(std::uint32_t process);
  std::uint64_t thread_track();

  RecordedPayloads payloads_;
  TraceFile& file_;
  const std::function<void(double)>& progress_;
  std::vector<SiteBytes> sites_;
  std::map<std::uint32_t, Lane> lanes_;  // of this thread, by the file's domain
  Lane* last_lane_ = nullptr;
  std::uint32_t last_domain_ = 0;
  std::uint32_t named_site_ = 0;
  std::vector<DrawnRange> spans_;
  DeviceRows devices_;
  DeviceLaunches launches_;
  std::uint64_t opened_ = 0;  // push ranges of this thread
  std::map<std::uint32_t, std::uint64_t> counter_tracks_;
  std::vector<std::uint64_t> process_tracks_;
  std::vector<std::uint32_t> pids_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> threads_with_tracks_;
  std::uint64_t thread_track_ = 0;
  std::uint64_t loss_track_ = 0;
  std::uint64_t next_track_ = 1;
  std::uint32_t next_sequence_ = first_lane_sequence;
  std::uint64_t events_ = 0;
  std::uint64_t expected_ = 0;
  ProtoBytes more_;
};

void Exporter::prepare(std::uint32_t site) {
  SiteBytes& bytes = sites_[site];
  const ReadSite& read = recording_.sites()[site];
  ProtoBytes common;
  const auto intern = [&](unsigned field, std::uint64_t id, std::string_view text) {
    ProtoBytes entry;
    entry.number(interned::iid, id);
    entry.text(interned::name, text);
    bytes.names.message(field, entry);
  };
  if (read.category_name >= 0 || read.category != 0) {
    // A name takes its number in `strings`, a bare category one past all of those.
    const std::uint64_t id = read.category_name >= 0
                                 ? static_cast<std::uint64_t>(read.category_name) + 1
                                 : (std::uint64_t{1} << 32) + read.category;
    common.number(track_event::category_iids, id);
    intern(interned_data::event_categories, id,
           read.category_name >= 0 ? std::string(recording_.text(read.category_name))
                                   : "category " + std::to_string(read.category));
  }
  if (read.name >= 0) {
    const std::uint64_t of_backward = read.backward ? std::uint64_t{1} << 32 : 0;
    const std::uint64_t id = static_cast<std::uint64_t>(read.name) + 1 + of_backward;
    common.number(track_event::name_iid, id);
    intern(interned_data::event_names, id,
           std::string(recording_.text(read.name)) + (read.backward ? " (backward)" : ""));
  }
  if (read.has_color) {
    char text[12];
    std::snprintf(text, sizeof text, "#%08X", static_cast<unsigned>(read.color));
    const std::uint64_t id = std::uint64_t{read.color} + 1;
    ProtoBytes annotation;
    annotation.number(debug_annotation::name_iid, static_cast<std::uint64_t>(ArgumentName::color));
    annotation.number(debug_annotation::string_value_iid, id);
    common.message(track_event::debug_annotations, annotation);
    intern(interned_data::debug_annotation_string_values, id, text);
    const std::string key = has_own_color(read) ? perfetto_color_key(read.color) : "";
    if (!key.empty()) {
      common.number(track_event::correlation_id_str_iid, id);
      intern(interned_data::correlation_id_str, id, key);
    }
  }
  bytes.begin = slice_begin;
  bytes.begin += common.view();
  bytes.instant = instant;
  bytes.instant += common.view();
  bytes.ready = true;
}

void Exporter::write() {
  pids_ = distinct_pids(recording_);  // two processes of one number, of two machines, stay two
  for (std::uint32_t number = 0; number < pids_.size(); ++number) {
    const ReadProcess& process = recording_.processes()[number];
    process_tracks_.push_back(next_track_);
    Track track;
    track.uuid = next_track_++;
    track.kind = TrackKind::process;
    track.pid = pids_[number];
    track.command = process.command;
    track.name = process_title(recording_, number);
    const std::int64_t begin = process.time(process.header.first.ticks);
    if (process_tracks_.size() == 1) {
      write_clocks(file_, begin,
                   begin + static_cast<std::int64_t>(process.header.first.realtime) -
                       static_cast<std::int64_t>(process.header.first.monotonic));
    }
    write_track(file_, track);
  }
  run();
}

void Exporter::begin_thread(std::uint32_t) {
  lanes_.clear();
  last_lane_ = nullptr;
  opened_ = 0;
  loss_track_ = thread_track_ = 0;
  // Those of which nothing is wanted are left out, and what stands for no thread of the system.
  if (selection_.is_whole() && recording_.threads()[thread_].tid != 0) thread_track();
  for (const ReadLoss& loss : recording_.losses()) {
    if (loss.thread != static_cast<std::int64_t>(thread_)) continue;
    const std::string many = loss.count == 0 ? "" : std::to_string(loss.count) + " ";
    add_loss(loss.from, loss.to, many + "events missing: " + std::string(loss.reason));
  }
}

std::uint64_t Exporter::thread_track() {
  if (thread_track_ != 0) return thread_track_;
  const ReadThread& read = recording_.threads()[thread_];
  Track track;
  track.uuid = thread_track_ = next_track_++;
  track.kind = TrackKind::thread;
  track.pid = pids_[read.process];
  track.tid = read.tid;
  track.name = recording_.text(read.name);
  write_track(file_, track);
  threads_with_tracks_[{read.process, read.tid}] = thread_track_;
  return thread_track_;
}

Lane& Exporter::find_lane(std::uint32_t local_domain) {
  const auto found = lanes_.find(local_domain);
  if (found != lanes_.end()) return found->second;
  Track lane;
  lane.parent = thread_track();
  lane.uuid = next_track_++;
  lane.name = lane_name(domain_name(recording_.sites()[named_site_].domain));
  write_track(file_, lane);
  return lanes_.emplace(local_domain, Lane(next_sequence_++, lane.uuid)).first->second;
}

void Exporter::counter(std::uint32_t subject, record::EntryKind kind, std::uint64_t ticks,
                       std::uint64_t bits) {
  if (subject >= process_->counters.size() || kind == record::EntryKind::counter_none) return;
  const std::uint32_t number = process_->counters[subject];
  if (!selection_.takes_counter(number) || !selection_.takes_thread(thread_) ||
      !selection_.takes_time(time(ticks))) {
    return;
  }
  std::uint64_t& track = counter_tracks_[number];
  if (track == 0) {
    const ReadCounter& read = recording_.counters()[number];
    Track descriptor;
    descriptor.uuid = track = next_track_++;
    descriptor.parent = process_tracks_[recording_.threads()[thread_].process];
    descriptor.kind = TrackKind::counter;
    descriptor.name = counter_title(recording_, read);
    descriptor.unit = recording_.text(read.unit);
    write_track(file_, descriptor);
  }
  ProtoBytes event;
  event.number(track_event::type, TYPE_COUNTER);
  event.number(track_event::track_uuid, track);
  if (kind == record::EntryKind::counter_i64) {
    event.number(track_event::counter_value, bits);
  } else {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    event.real(track_event::double_counter_value, value);
  }
  write_shared_event(file_, time(ticks), event);
  step();
}

void Exporter::add_loss(std::int64_t from, std::int64_t to, const std::string& text) {
  if (loss_track_ == 0) {
    Track descriptor;
    descriptor.parent = thread_track();
    descriptor.uuid = loss_track_ = next_track_++;
    descriptor.name = lane_name("lost events");
    write_track(file_, descriptor);
  }
  ProtoBytes begin;
  begin.number(track_event::type, TYPE_SLICE_BEGIN);
  begin.number(track_event::track_uuid, loss_track_);
  begin.text(track_event::name, text);
  write_shared_event(file_, from, begin);
  ProtoBytes end;
  end.number(track_event::type, TYPE_SLICE_END);
  end.number(track_event::track_uuid, loss_track_);
  write_shared_event(file_, std::max(from, to), end);
}

void Exporter::end_process(std::uint32_t process) {
  const auto& sites = recording_.sites();
  std::sort(spans_.begin(), spans_.end(), [&](const DrawnRange& a, const DrawnRange& b) {
    const std::uint32_t of_a = sites[a.site].domain, of_b = sites[b.site].domain;
    return of_a != of_b ? of_a < of_b : a.start < b.start;
  });
  for (std::size_t begin = 0, end; begin < spans_.size(); begin = end) {
    const std::uint32_t domain = sites[spans_[begin].site].domain;
    for (end = begin; end < spans_.size() && sites[spans_[end].site].domain == domain;) ++end;
    const std::string name = domain_name(domain);
    Slots slots;
    std::vector<Lane> lanes;
    for (std::size_t i = begin; i < end; ++i) {
      const DrawnRange& span = spans_[i];
      const std::uint32_t slot = slots.place(span.start, span.end);
      if (slot == lanes.size()) {
        Track descriptor;
        descriptor.uuid = next_track_++;
        descriptor.parent = process_tracks_[process];
        descriptor.name = name.empty() ? "start/end ranges" : name + ": start/end ranges";
        write_track(file_, descriptor);
        lanes.emplace_back(next_sequence_++, descriptor.uuid);
      }
      Lane& lane = lanes[slot];
      if (!lane.knows(span.site)) define(lane, span.site, span.start);
      more_.clear();
      add_payload(span.site, span.payload);
      const auto& threads = recording_.threads();
      add_annotation(more_, ArgumentName::started_by, std::uint64_t{threads[span.thread].tid});
      lane.event(file_, span.start, sites_[span.site].begin, more_.view());
      more_.clear();
      if (span.end_thread != span.thread) {
        add_annotation(more_, ArgumentName::ended_by, std::uint64_t{threads[span.end_thread].tid});
      }
      if (span.reason != EndReason::closed) {
        add_annotation(more_, ArgumentName::end_reason, end_reason_text(span.reason));
      }
      lane.event(file_, span.end, slice_end, more_.view());
    }
  }
  spans_.clear();
  write_devices(process);
  counter_tracks_.clear();
}

void Exporter::write_devices(std::uint32_t process) {
  std::vector<DeviceRow> rows = devices_.arrange();
  for (const DeviceRow& row : rows) {
    Track descriptor;
    descriptor.uuid = next_track_++;
    descriptor.parent = process_tracks_[process];
    descriptor.name = lane_label(recording_, devices_.lane(row.lane));
    write_track(file_, descriptor);
    Lane lane(next_sequence_++, descriptor.uuid);
    for (const DeviceStep& step : row.steps) {
      const DeviceSpan& span = devices_.spans()[step.span];
      more_.clear();
      if (step.is_begin) {
        if (!lane.knows(span.site)) define(lane, span.site, step.time);
        add_payload(process, span.site, span.call.payload);
        if (span.call.thread != 0) {
          add_annotation(more_, ArgumentName::started_by, std::uint64_t{span.call.thread});
        }
        if (span.call.uncertainty != 0) {
          add_annotation(more_, ArgumentName::uncertainty, std::uint64_t{span.call.uncertainty});
        }
        if (const std::uint64_t flow = launches_.flow_to(process, span.call)) {
          add_flow(more_, flow, true);
        }
      } else if (span.reason != EndReason::closed) {
        add_annotation(more_, ArgumentName::end_reason, end_reason_text(span.reason));
      }
      lane.event(file_, step.time,
                 step.is_begin ? std::string_view(sites_[span.site].begin) : slice_end,
                 more_.view());
    }
  }
  devices_.clear();
}

}  // namespace

std::uint64_t export_perfetto(const Recording& recording, const Selection& selection,
                              const std::vector<bool>& hidden, const std::string& path,
                              const std::function<void(double)>& progress) {
  TraceFile file(path);
  Exporter exporter(recording, selection, file, progress);
  exporter.write();
  SampleLanes lanes = exporter.sample_lanes();
  write_samples(file, recording, selection, hidden, lanes);
  file.finish();
  return file.written();
}

}  // namespace nvspan::reader
