// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/stats/aggregate.hpp"

#include "reader/scan/device_rows.hpp"
#include "reader/scan/range_scan.hpp"
#include "reader/stats/cells.hpp"
#include "reader/stats/coverage.hpp"
#include "reader/stats/row_key.hpp"
#include "reader/stats/stretches.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::reader {

namespace {

// Of a sum in a file, which may hold anything.
unsigned __int128 whole_of(double value) {
  constexpr double most = 1e38;
  return value > 0 && value < most ? static_cast<unsigned __int128>(value) : 0;
}

class Aggregator : public RangeScan<Aggregator> {
 public:
  // The selection is looked at where ranges are counted: those that it leaves out take from the
  // time of the ranges around them all the same.
  Aggregator(const Recording& recording, const AggregateOptions& options, Aggregate& out)
      : RangeScan(recording, Selection::whole()),
        options_(options),
        out_(out),
        is_whole_(options.sites.empty() && options.takes_all_times()) {
    if (options.by == GroupBy::field) {
      fields_ = std::make_unique<FieldGroups>(recording, pool_, options.field, out.groups);
    }
    out_.first = std::numeric_limits<std::int64_t>::max();
    out_.last = std::numeric_limits<std::int64_t>::min();
    rows_of_site_.resize(range_kinds * recording.sites().size(), nullptr);
    marks_of_site_.resize(recording.sites().size(), 0);
  }

  void begin_thread(std::uint32_t thread) {
    coverage_.begin_thread(thread);
    stretches_.begin_thread();
    wanted_ = options_.takes_thread(thread);
    takes_all_opens_ = wanted_ && is_whole_ && !by_payload() && !by_lane();
    if (options_.by == GroupBy::thread || options_.by == GroupBy::process) {
      std::fill(rows_of_site_.begin(), rows_of_site_.end(), nullptr);
    }
  }

  // The row that a push range is counted in travels in it; null: it is in none.
  [[gnu::always_inline]] std::uint64_t open(const PushRange& range, std::uint64_t,
                                            const EntryPayload& payload) {
    see_payload(payload, range.start);
    AggregateRow* at = cached(range.site, RangeKind::push_pop);
    if (__builtin_expect(!takes_all_opens_ || at == nullptr, 0)) {
      const StretchKind stretch = recording_.sites()[range.site].stretch;
      if (stretch == StretchKind::unfinished) return open_stretch(nullptr, payload);
      at = row_to_open(range, payload);
      if (stretch != StretchKind::none) return open_stretch(at, payload);
      if (at == nullptr) return 0;
    }
    at->outermost.open();
    return reinterpret_cast<std::uintptr_t>(at);
  }
  std::uint64_t opened(const ScannedRange& range, std::uint64_t, std::uint64_t ticks,
                       const EntryPayload& payload) {
    see_payload(payload, ticks);
    if (started_.empty() && ended_.empty()) coverage_.all_ended(range.start);
    const ReadSite& read = recording_.sites()[range.site];
    if (read.device != 0) return see_device(read, ticks, payload);
    if (fields_ != nullptr) return group_by_field(range.site, payload);
    return group_of(payload);
  }
  // This and what it calls for each range is inlined: as functions they cost a quarter more.
  [[gnu::always_inline]] void ended(const ScannedRange& range) {
    if (range.reason != EndReason::closed) return count_unclosed(range);
    if (range.kind != RangeKind::push_pop) return end_started(range);
    const std::int64_t duration = range.end > range.start ? range.end - range.start : 0;
    see_whole(wanted_, range.start, range.end);
    AggregateRow* const at = row_at(range.row);
    const bool is_partial = (range.row & of_stretch) != 0;
    if (__builtin_expect(is_partial, 0)) end_stretch(range, duration);
    if (at == nullptr) return;
    if (duration < options_.shortest) return at->outermost.drop();
    const double cost = overhead(range.inside);
    count(*at, range, duration, thread_, cost);
    if (__builtin_expect(!is_partial, 1)) count_first_call(*at, duration);
    at->self += static_cast<double>(range.self);
    at->outermost.close(static_cast<double>(duration), cost);
  }
  void end_process(std::uint32_t) {
    nest_devices();
    coverage_.finish([](auto row, auto time) { row_at(row)->covered += time; });
    stretches_.finish(
        [](std::uint64_t row, std::int64_t awaited) {
          ++row_at(row)->resumptions;
          row_at(row)->awaited += std::max<std::int64_t>(awaited, 0);
          if (awaited < 0) ++row_at(row)->unknown_awaits;
        },
        [](std::uint64_t row, std::int64_t awaited) { row_at(row)->awaited += awaited; },
        [](std::uint64_t row, std::int64_t running) { count_call(*row_at(row), running); });
  }
  void left_out(const ScannedRange& range) {
    if (range.kind == RangeKind::device) free_groups_.push_back(range.row);
  }
  void orphan(std::uint32_t, std::uint64_t) { ++out_.orphans; }
  void lone_ends(std::uint64_t count) { out_.orphans += count; }
  void mark(std::uint32_t site, std::uint64_t ticks, const EntryPayload& payload) {
    see_payload(payload, ticks);
    if (wanted_ && takes(site, process_->time(ticks))) ++marks_of_site_[site];
  }
  void loss(LossKind kind, const ReadLoss& loss) {
    if (kind == LossKind::by_recorder) out_.lost += loss.count;
    if (kind == LossKind::overwritten) {
      ++out_.gaps;
      out_.overwritten += loss.count;
    }
    out_.losses.push_back(loss);
  }

  void add_cells(const ReadStats& chunk);
  // Rows whose ranges were opened and not counted go.
  void finish() {
    auto& rows = out_.rows;
    rows.erase(std::remove_if(rows.begin(), rows.end(),
                              [](const auto& each) {
                                return each->calls + each->unclosed + each->resumptions == 0;
                              }),
               rows.end());
    for (const auto& each : rows) {
      if (each->is_others) out_.others += each->calls + each->unclosed;
    }
  }
  void list_marks();

 private:
  // Of a range of a device that is open: which row it is counted in, and for which thread.
  struct DeviceGroup {
    std::uint64_t group;  // the bits of the payload; grouped by device or stream: the lane
    std::uint32_t thread;
    std::uint32_t lane;  // of nested_lanes_
    std::uint32_t uncertainty;
    std::uint64_t launch;
  };

  static constexpr std::size_t most_device_rows = 64;  // of ranges that overlap in one stream

  static constexpr std::uint64_t of_stretch = 1;  // in the row of a range: it is a stretch

  static AggregateRow* row_at(std::uint64_t address) {
    return reinterpret_cast<AggregateRow*>(static_cast<std::uintptr_t>(address & ~of_stretch));
  }
  bool is_stretch(std::uint32_t site) const {
    return recording_.sites()[site].stretch != StretchKind::none;
  }
  [[gnu::noinline]] std::uint64_t open_stretch(AggregateRow* at, const EntryPayload& payload) {
    stretches_.open(payload);
    if (at != nullptr) at->outermost.open();
    return reinterpret_cast<std::uintptr_t>(at) | of_stretch;
  }
  [[gnu::noinline]] void end_stretch(const ScannedRange& range, std::int64_t duration) {
    const bool counts = duration >= options_.shortest;
    stretches_.close(recording_, range, counts ? range.row & ~of_stretch : 0);
  }
  [[gnu::noinline]] void end_started(const ScannedRange& range) {
    const bool wanted = options_.takes_thread(range.thread);
    const std::int64_t duration = range.end > range.start ? range.end - range.start : 0;
    see_whole(wanted, range.start, range.end);
    DeviceGroup group{range.row, range.thread, 0, 0, 0};
    const bool is_device = range.kind == RangeKind::device;
    if (is_device) {
      group = device_groups_[range.row];
      free_groups_.push_back(range.row);
    }
    if (!wanted || !takes(range.site, range.start) || (by_lane() && !is_device) ||
        duration < options_.shortest) {
      return;
    }
    AggregateRow& at = row(range.site, range.kind, group.group, group.thread);
    // What the recorder costs is time of the CPU.
    count(at, range, duration, group.thread, is_device ? 0 : overhead(range.inside));
    count_first_call(at, duration);
    at.self += static_cast<double>(range.self);
    const auto address = reinterpret_cast<std::uintptr_t>(&at);
    if (!is_device) return coverage_.add_span(address, range);
    const DeviceLane& lane = nested_lanes_.lanes()[group.lane];
    const auto device = std::uint64_t{lane.process} << 32 | static_cast<std::uint32_t>(lane.device);
    at.devices.insert(device);
    coverage_.add(address, device, range.start, range.end);
    // A kernel holds nothing, and takes nothing from a device range around it.
    if (recording_.sites()[range.site].domain == kernels_) return;
    nested_.push_back(LanePlace{range.start, range.end, duration, group.launch, address,
                                group.uncertainty, group.lane, 0});
  }
  // Ranges of a stream nest as those of a thread do.
  void nest_devices() {
    std::vector<std::size_t> open;
    for (const DeviceRow& row : arrange_in_rows(nested_, most_device_rows)) {
      for (const DeviceStep& step : row.steps) {
        const LanePlace& place = nested_[step.span];
        AggregateRow* const at = row_at(place.row);
        if (step.is_begin) {
          at->outermost.open();
          open.push_back(step.span);
          continue;
        }
        at->outermost.close(static_cast<double>(place.took), 0);
        open.pop_back();
        if (open.empty()) continue;
        const LanePlace& around = nested_[open.back()];
        row_at(around.row)->self -= static_cast<double>(std::min(place.took, around.took));
      }
    }
    nested_.clear();
  }

  static std::uint64_t group_of(const EntryPayload& payload) {
    return payload.present && payload.bytes == nullptr ? payload.bits : 0;
  }
  [[gnu::noinline]] std::uint64_t see_device(const ReadSite& site, std::uint64_t ticks,
                                             const EntryPayload& payload) {
    DeviceCall call;
    read_device_call(*process_, site, payload, call);
    const std::uint32_t process = recording_.threads()[thread_].process;
    if (!launch_threads_) launch_threads_ = std::make_unique<LaunchThreads>(recording_);
    DeviceGroup group{0, launch_threads_->launching_thread(process, call, thread_),
                      nested_lanes_.lane(process, call, ticks), call.uncertainty, call.launch};
    if (options_.by == GroupBy::payload) group.group = group_of(call.payload);
    if (fields_ != nullptr) group.group = fields_->group_of(process, site, call.payload);
    if (by_lane()) {
      if (options_.by == GroupBy::device) call.stream = call.stream_handle = 0;
      group.group = out_.lanes.lane(process, call, ticks);
    }
    if (free_groups_.empty()) {
      device_groups_.push_back(group);
      return device_groups_.size() - 1;
    }
    const std::uint64_t place = free_groups_.back();
    free_groups_.pop_back();
    device_groups_[place] = group;
    return place;
  }
  std::uint64_t group_by_field(std::uint32_t site, const EntryPayload& payload) {
    return fields_->group_of(recording_.threads()[thread_].process, recording_.sites()[site],
                             payload);
  }
  bool by_payload() const {
    return options_.by == GroupBy::payload || options_.by == GroupBy::field;
  }
  bool by_lane() const { return options_.by == GroupBy::device || options_.by == GroupBy::stream; }

  // What the recorder adds to a range that has so many events in it.
  double overhead(std::uint64_t inside) const {
    const record::FileHeader& header = process_->header;
    return (header.inner_cost + static_cast<double>(inside) * header.event_cost) / 1000;
  }

  [[gnu::noinline]] AggregateRow* row_to_open(const PushRange& range, const EntryPayload& payload) {
    if (!wanted_ || by_lane() || !takes(range.site, process_->time(range.start))) return nullptr;
    const bool is_grouped = by_payload() && !is_stretch(range.site);
    const std::uint64_t group = !is_grouped          ? 0
                                : fields_ == nullptr ? group_of(payload)
                                                     : group_by_field(range.site, payload);
    return &row(range.site, RangeKind::push_pop, group, thread_);
  }
  [[gnu::always_inline]] bool takes(std::uint32_t site, std::int64_t start) const {
    if (!options_.sites.empty() && !(site < options_.sites.size() && options_.sites[site])) {
      return false;
    }
    return start >= options_.from && start < options_.to;
  }

  // Cells keep no payloads.
  std::uint8_t payload_type(const ReadSite& site) const {
    return is_in_cells_ ? std::uint8_t{0} : site.own_payload_type();
  }
  AggregateRow*& cached(std::uint32_t site, RangeKind kind) {
    return rows_of_site_[range_kinds * site + static_cast<std::size_t>(kind)];
  }
  AggregateRow& row(std::uint32_t site, RangeKind kind, std::uint64_t payload,
                    std::uint32_t thread) {
    const bool by_site = !by_payload() && !by_lane() && thread == thread_ && !is_stretch(site);
    AggregateRow*& kept = cached(site, kind);
    if (by_site && kept != nullptr) return *kept;
    const ReadSite& read = recording_.sites()[site];
    const std::uint32_t process =
        recording_.threads().empty() ? 0 : recording_.threads()[thread].process;
    const RowGroup group{options_.by, thread, process, payload, payload_type(read)};
    AggregateRow*& found = rows_[row_key(read, kind, group)];
    if (found == nullptr) {
      out_.rows.push_back(std::make_unique<AggregateRow>());
      found = out_.rows.back().get();
      describe_row(*found, read, kind, group);
    }
    if (by_site) kept = found;
    return *found;
  }

  [[gnu::always_inline]] void count(AggregateRow& at, const ScannedRange& range,
                                    std::int64_t duration, std::uint32_t thread, double overhead) {
    out_.first = std::min(out_.first, range.start);
    out_.last = std::max(out_.last, range.end);
    at.see_thread(thread, range.start);
    at.last = std::max(at.last, range.end);
    at.sum += static_cast<double>(duration);
    at.overhead_sum += overhead;
  }
  // Of a generator or coroutine all stretches together.
  [[gnu::always_inline]] static void count_call(AggregateRow& at, std::int64_t duration) {
    ++at.calls;
    at.squares += static_cast<unsigned __int128>(duration) * static_cast<std::uint64_t>(duration);
    at.shortest = std::min(at.shortest, duration);
    at.longest = std::max(at.longest, duration);
    at.durations.add(static_cast<std::uint64_t>(duration));
  }
  [[gnu::always_inline]] static void count_first_call(AggregateRow& at, std::int64_t duration) {
    count_call(at, duration);
    at.first_calls.add(static_cast<std::uint64_t>(duration));
  }
  // Of what other names and domains the selection would take, too.
  [[gnu::always_inline]] void see_whole(bool wanted, std::int64_t start, std::int64_t end) {
    if (options_.sites.empty()) return;  // then these are all
    if (!wanted || !options_.takes_time(start) || !options_.takes_duration(end - start)) return;
    whole_first_ = std::min(whole_first_, start);
    whole_last_ = std::max(whole_last_, end);
    out_.whole = whole_last_ - whole_first_;
  }
  [[gnu::noinline]] void count_unclosed(const ScannedRange& range) {
    const bool is_lost = range.reason == EndReason::lost;  // it ended where events are missing
    if (!is_lost && range.kind != RangeKind::device) {
      see_whole(options_.takes_thread(range.thread), range.start, range.end);
    }
    if (range.kind == RangeKind::push_pop) {
      AggregateRow* const at = row_at(range.row);
      if ((range.row & of_stretch) != 0) stretches_.close(recording_, range, 0);
      if (at == nullptr) return;
      return is_lost ? at->outermost.drop() : add_open(*at, range);
    }
    std::uint64_t group = range.row;
    std::uint32_t thread = range.thread;
    if (range.kind == RangeKind::device) {
      group = device_groups_[range.row].group;
      thread = device_groups_[range.row].thread;
      free_groups_.push_back(range.row);
    }
    if (!options_.takes_thread(range.thread) || !takes(range.site, range.start) ||
        (by_lane() && range.kind != RangeKind::device)) {
      return;
    }
    AggregateRow& at = row(range.site, range.kind, group, thread);
    if (range.kind == RangeKind::device) {  // until when the GPU was in it is not known
      ++at.unclosed;
      return at.see_thread(thread, range.start);
    }
    at.outermost.open();
    add_open(at, range);
    coverage_.add_span(reinterpret_cast<std::uintptr_t>(&at), range);
  }
  void add_open(AggregateRow& at, const ScannedRange& range) {
    ++at.unclosed;
    at.outermost.stay({static_cast<double>(range.end - range.start), overhead(range.inside)});
    at.self += static_cast<double>(range.self);
    at.see_thread(range.thread, range.start);
    at.first = std::min(at.first, range.start);
    at.last = std::max(at.last, range.end);
    out_.first = std::min(out_.first, range.start);
    out_.last = std::max(out_.last, range.end);
  }

  void add_cell(std::uint32_t site, const record::StatsCell& cell);
  void add_cell(std::uint32_t site, const record::StatsBlock& block);
  void add_cell(std::uint32_t site, const record::StatsNested& nested);
  void add_cell(std::uint32_t site, const record::StatsAwaited& awaited);
  // Of a call that is unfinished, the awaited time alone is a figure; by lane, nobody counted.
  bool counts_cells_of(std::uint32_t site, record::EntryKind kind) const {
    return kind != record::EntryKind::mark && !by_lane() &&
           recording_.sites()[site].stretch != StretchKind::unfinished;
  }
  // Of what a cell of a recording of mode "stats" counts.
  RangeKind kind_of(std::uint32_t site, record::EntryKind counted_as) const {
    return counted_as == record::EntryKind::start ? recording_.sites()[site].started_kind()
                                                  : RangeKind::push_pop;
  }

  const AggregateOptions& options_;
  Aggregate& out_;
  const bool is_whole_;  // of sites and times
  bool wanted_ = true;
  bool is_in_cells_ = false;
  bool takes_all_opens_ = true;
  std::int64_t whole_first_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t whole_last_ = std::numeric_limits<std::int64_t>::min();
  core::PagePool pool_;
  std::unique_ptr<FieldGroups> fields_;
  std::unique_ptr<LaunchThreads> launch_threads_;
  std::vector<DeviceGroup> device_groups_;  // by the row of a range
  std::vector<std::uint64_t> free_groups_;
  RowCoverage coverage_;    // of spans and device ranges of the process
  StretchCalls stretches_;  // of the process
  const std::int64_t kernels_ = recording_.domain_called(record::work_domain);
  DeviceLanes nested_lanes_;
  core::LargeVector<LanePlace> nested_;  // of the process that is read
  std::vector<AggregateRow*> rows_of_site_;
  std::vector<std::uint64_t> marks_of_site_;
  std::unordered_map<RowKey, AggregateRow*, RowKeyHash> rows_;
};

// What a recording of mode "stats" holds instead of ranges.
void Aggregator::add_cells(const ReadStats& chunk) {
  thread_ = chunk.thread;
  is_in_cells_ = true;
  begin_thread(thread_);
  if (!wanted_) return;
  process_ = &recording_.processes()[chunk.process];
  each_cell(chunk.bytes, [this](const auto& cell) {
    const std::uint32_t site =
        cell.site < process_->sites.size() ? process_->sites[cell.site] : unknown_site;
    if (takes(site, options_.from)) add_cell(site, cell);
  });
}

void Aggregator::add_cell(std::uint32_t site, const record::StatsCell& cell) {
  const auto kind = static_cast<record::EntryKind>(cell.counted_as);
  if (kind == record::EntryKind::mark) marks_of_site_[site] += cell.count;
  if (!counts_cells_of(site, kind) || cell.count == 0) return;
  const RangeKind range_kind = kind_of(site, kind);
  AggregateRow& to = row(site, range_kind, 0, thread_);
  const double ns = static_cast<double>(process_->ratio) / 4294967296.0;
  to.has_cells = true;
  const bool resumes = recording_.sites()[site].stretch == StretchKind::resumes;
  if (resumes) ++to.unknown_awaits;  // until its StatsAwaited comes
  (resumes ? to.resumptions : to.calls) += cell.count;
  to.sum += static_cast<double>(cell.total) * ns;
  to.self += static_cast<double>(cell.self) * ns;
  to.squares += whole_of(cell.squares * ns * ns);
  if (range_kind != RangeKind::device) {
    to.overhead_sum += static_cast<double>(cell.count) * overhead(0);
  }
  to.shortest = std::min(to.shortest, process_->duration(cell.shortest));
  to.longest = std::max(to.longest, process_->duration(cell.longest));
  to.see_thread(thread_, to.first);
}
void Aggregator::add_cell(std::uint32_t site, const record::StatsBlock& block) {
  const auto kind = static_cast<record::EntryKind>(block.counted_as);
  if (!counts_cells_of(site, kind) || block.octave >= record::stats_octaves) return;
  AggregateRow& to = row(site, kind_of(site, kind), 0, thread_);
  for (unsigned i = 0; i < record::stats_buckets; ++i) {
    if (block.counts[i] == 0) continue;
    const auto middle = static_cast<std::uint64_t>(core::log_bucket_middle(block.octave, i));
    to.durations.add(static_cast<std::uint64_t>(process_->duration(middle)), block.counts[i]);
  }
}
void Aggregator::add_cell(std::uint32_t site, const record::StatsNested& nested) {
  const auto kind = static_cast<record::EntryKind>(nested.counted_as);
  if (!counts_cells_of(site, kind)) return;
  row(site, kind_of(site, kind), 0, thread_)
      .outermost.add_within(static_cast<double>(nested.total) *
                            static_cast<double>(process_->ratio) / 4294967296.0);
}
void Aggregator::add_cell(std::uint32_t site, const record::StatsAwaited& awaited) {
  if (!is_stretch(site) || by_lane()) return;
  AggregateRow& to = row(site, RangeKind::push_pop, 0, thread_);
  to.awaited += process_->duration(awaited.total);
  const bool resumes = recording_.sites()[site].stretch == StretchKind::resumes;
  if (resumes && awaited.unknown == 0) --to.unknown_awaits;
}

void Aggregator::list_marks() {
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::uint32_t site = 0; site < marks_of_site_.size(); ++site) {
    if (marks_of_site_[site] == 0) continue;
    const ReadSite& read = recording_.sites()[site];
    if (read.is_others) out_.others += marks_of_site_[site];
    const auto place = places.emplace(name_key(read), out_.marks.size());
    if (place.second) out_.marks.push_back(MarkRow{read.domain, read.name, 0});
    out_.marks[place.first->second].calls += marks_of_site_[site];
  }
}

}  // namespace

Aggregate aggregate(const Recording& recording, const AggregateOptions& options) {
  Aggregate figures;
  Aggregator aggregator(recording, options, figures);
  for (const ReadLoss& loss : recording.losses()) figures.lost += loss.count;
  figures.losses = recording.losses();
  aggregator.run_whole();
  for (const ReadStats& chunk : recording.stats_chunks()) aggregator.add_cells(chunk);
  aggregator.list_marks();
  if (figures.first > figures.last) figures.first = figures.last = 0;
  if (options.sites.empty()) figures.whole = figures.last - figures.first;
  aggregator.finish();
  return figures;
}

}  // namespace nvspan::reader
