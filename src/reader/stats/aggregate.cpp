// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/stats/aggregate.hpp"

#include "reader/scan/range_scan.hpp"
#include "reader/tables/payload_columns.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::reader {

namespace {

struct Key {
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t c;
  friend bool operator==(const Key& x, const Key& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c;
  }
};
struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t hash = key.a * 0x9E3779B97F4A7C15u ^ key.b * 0xC2B2AE3D27D4EB4Fu ^ key.c;
    hash ^= hash >> 32;
    return static_cast<std::size_t>(hash * 0x9E3779B97F4A7C15u);
  }
};

// The values of one field of payloads, numbered as they come.
class FieldGroups final : public FlatFields {
 public:
  FieldGroups(const Recording& recording, core::PagePool& pool, const std::string& field,
              std::vector<FieldGroup>& groups)
      : FlatFields(pool), payloads_(recording), field_(field), groups_(groups) {
    groups_.emplace_back();
  }

  std::uint64_t group_of(std::uint32_t process, const ReadSite& site, const EntryPayload& payload) {
    if (!payload.present || payload.bytes == nullptr || site.device != 0) return 0;
    restart();
    found_ = 0;
    const trace::PayloadResult result =
        payloads_.read(process, site.local_domain, payload.bytes, payload.bits, *this);
    return result == trace::PayloadResult::whole || result == trace::PayloadResult::stopped ? found_
                                                                                            : 0;
  }

 protected:
  bool wants(const std::string& name) const override { return name == field_; }
  std::uint64_t keep(std::string_view text) override {
    const auto entry = texts_.emplace(std::string(text), texts_.size());
    text_ = &entry.first->first;
    return entry.first->second;
  }
  bool add(const std::string&, const FieldValue& value) override {
    const Key key{static_cast<std::uint64_t>(value.kind), value.bits, 0};
    const auto entry = numbers_.emplace(key, groups_.size());
    if (entry.second) {
      FieldGroup& group = groups_.emplace_back();
      group.kind = value.kind;
      group.bits = value.bits;
      if (value.kind == trace::PayloadValue::Kind::text) group.text = *text_;
    }
    found_ = entry.first->second;
    return false;
  }

 private:
  RecordedPayloads payloads_;
  const std::string& field_;
  std::vector<FieldGroup>& groups_;
  std::unordered_map<Key, std::uint64_t, KeyHash> numbers_;
  std::unordered_map<std::string, std::uint64_t> texts_;
  const std::string* text_ = nullptr;
  std::uint64_t found_ = 0;
};

class Aggregator : public RangeScan<Aggregator> {
 public:
  // The selection is looked at where ranges are counted: those that it leaves out take from the
  // time of the ranges around them all the same.
  Aggregator(const Recording& recording, const AggregateOptions& options, Aggregate& out)
      : RangeScan(recording, Selection::whole()), options_(options), out_(out) {
    if (options.by == GroupBy::field) {
      fields_ = std::make_unique<FieldGroups>(recording, pool_, options.field, out.groups);
    }
    out_.first = std::numeric_limits<std::int64_t>::max();
    out_.last = std::numeric_limits<std::int64_t>::min();
    rows_of_site_.resize(range_kinds * recording.sites().size(), nullptr);
    marks_of_site_.resize(recording.sites().size(), 0);
  }

  void begin_thread(std::uint32_t thread) {
    wanted_ = options_.takes_thread(thread);
    if (options_.by == GroupBy::thread || options_.by == GroupBy::process) {
      std::fill(rows_of_site_.begin(), rows_of_site_.end(), nullptr);
    }
  }

  // The payload's bits travel in the range's row: nothing else needs it here.
  std::uint64_t open(const PushRange& range, std::uint64_t, const EntryPayload& payload) {
    see_payload(payload, range.start);
    if (fields_ != nullptr) return group_by_field(range.site, payload);
    return payload.present && payload.bytes == nullptr ? payload.bits : 0;
  }
  std::uint64_t opened(const ScannedRange& range, std::uint64_t, std::uint64_t ticks,
                       const EntryPayload& payload) {
    see_payload(payload, ticks);
    const ReadSite& read = recording_.sites()[range.site];
    if (read.device != 0) return see_device(read, ticks, payload);
    if (fields_ != nullptr) return group_by_field(range.site, payload);
    return group_of(payload);
  }
  // This and what it calls for each range is inlined: as functions they cost a quarter more.
  [[gnu::always_inline]] void ended(const ScannedRange& range) {
    if (range.reason != EndReason::closed) return count_unclosed(range);
    if (range.kind == RangeKind::device) return end_device(range);
    const bool push = range.kind == RangeKind::push_pop;
    count(range, range.row, range.thread, push ? wanted_ : options_.takes_thread(range.thread),
          overhead(range.inside));
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
  void list_marks();

 private:
  // What the recorder costs is time of the CPU.
  [[gnu::noinline]] void end_device(const ScannedRange& range) {
    const DeviceGroup& group = device_groups_[range.row];
    count(range, group.group, group.thread, options_.takes_thread(range.thread), 0);
    free_groups_.push_back(range.row);
  }

  // Of a range of a device that is open: which row it is counted in, and for which thread.
  struct DeviceGroup {
    std::uint64_t group;  // the bits of the payload; grouped by device or stream: the lane
    std::uint32_t thread;
  };

  static std::uint64_t group_of(const EntryPayload& payload) {
    return payload.present && payload.bytes == nullptr ? payload.bits : 0;
  }
  [[gnu::noinline]] std::uint64_t see_device(const ReadSite& site, std::uint64_t ticks,
                                             const EntryPayload& payload) {
    DeviceCall call;
    read_device_call(*process_, site, payload, call);
    const std::uint32_t process = recording_.threads()[thread_].process;
    if (!launch_threads_) launch_threads_ = std::make_unique<LaunchThreads>(recording_);
    DeviceGroup group{0, launch_threads_->of(process, call, thread_)};
    if (options_.by == GroupBy::payload) group.group = group_of(call.payload);
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

  [[gnu::always_inline]] bool takes(std::uint32_t site, std::int64_t start) const {
    if (!options_.sites.empty() && !(site < options_.sites.size() && options_.sites[site])) {
      return false;
    }
    return start >= options_.from && start < options_.to;
  }

  AggregateRow& row(std::uint32_t site, RangeKind kind, std::uint64_t payload,
                    std::uint32_t thread) {
    const bool by_site = !by_payload() && !by_lane() && thread == thread_;
    AggregateRow*& cached = rows_of_site_[range_kinds * site + static_cast<std::size_t>(kind)];
    if (by_site && cached != nullptr) return *cached;
    const ReadSite& read = recording_.sites()[site];
    const std::uint32_t process =
        recording_.threads().empty() ? 0 : recording_.threads()[thread].process;
    Key key{std::uint64_t{read.domain} << 2 | static_cast<std::uint64_t>(kind),
            static_cast<std::uint64_t>(static_cast<std::int64_t>(read.name)), 0};
    key.b <<= 8;
    switch (options_.by) {
      case GroupBy::name:
        break;
      case GroupBy::thread:
        key.c = thread;
        break;
      case GroupBy::process:
        key.c = process;
        break;
      case GroupBy::category:
        key.c = read.category;
        break;
      case GroupBy::payload:
        key.b |= read.own_payload_type();
        key.c = payload;
        break;
      case GroupBy::field:
      case GroupBy::device:
      case GroupBy::stream:
        key.c = payload;
        break;
    }
    AggregateRow*& found = rows_[key];
    if (found == nullptr) {
      out_.rows.push_back(std::make_unique<AggregateRow>());
      found = out_.rows.back().get();
      found->domain = read.domain;
      found->name = read.name;
      found->kind = kind;
      if (options_.by == GroupBy::thread) found->thread = thread;
      if (options_.by == GroupBy::process || options_.by == GroupBy::thread) {
        found->process = process;
      }
      if (options_.by == GroupBy::category) {
        found->category = read.category;
        found->category_name = read.category_name;
      }
      if (options_.by == GroupBy::payload) {
        found->payload_type = read.own_payload_type();
        found->payload = payload;
      }
      if (options_.by == GroupBy::field) found->payload = payload;
      if (by_lane()) found->lane = static_cast<std::int64_t>(payload);
    }
    if (by_site) cached = found;
    return *found;
  }

  [[gnu::always_inline]] static void see_thread(AggregateRow& row, std::uint32_t thread) {
    if (row.last_thread == thread) return;
    row.last_thread = thread;
    if (row.seen_threads.insert(thread).second) ++row.threads;
  }

  [[gnu::always_inline]] void count(const ScannedRange& range, std::uint64_t group,
                                    std::uint32_t thread, bool wanted, double overhead) {
    const std::int64_t start = range.start, end = range.end;
    see_whole(wanted, start, end);
    if (!wanted || !takes(range.site, start) || (by_lane() && range.kind != RangeKind::device)) {
      return;
    }
    const std::int64_t duration = end > start ? end - start : 0;
    if (duration < options_.shortest) return;
    out_.first = std::min(out_.first, start);
    out_.last = std::max(out_.last, end);
    AggregateRow& at = row(range.site, range.kind, group, thread);
    ++at.calls;
    if (recording_.sites()[range.site].is_others) ++out_.others;
    const auto real = static_cast<double>(duration);
    at.total += real;
    at.self += static_cast<double>(range.self);
    at.squares += real * real;
    at.overhead += overhead;
    at.shortest = std::min(at.shortest, duration);
    at.longest = std::max(at.longest, duration);
    at.durations.add(static_cast<std::uint64_t>(duration));
    see_thread(at, thread);
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
    ++at.unclosed;
    if (recording_.sites()[range.site].is_others) ++out_.others;
    see_thread(at, thread);
  }

  // Of what a cell of a recording of mode "stats" counts.
  RangeKind kind_of(std::uint32_t site, record::EntryKind counted_as) const {
    return counted_as == record::EntryKind::start ? recording_.sites()[site].started_kind()
                                                  : RangeKind::push_pop;
  }

  const AggregateOptions& options_;
  Aggregate& out_;
  bool wanted_ = true;
  std::int64_t whole_first_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t whole_last_ = std::numeric_limits<std::int64_t>::min();
  core::PagePool pool_;
  std::unique_ptr<FieldGroups> fields_;
  std::unique_ptr<LaunchThreads> launch_threads_;
  std::vector<DeviceGroup> device_groups_;  // by the row of a range
  std::vector<std::uint64_t> free_groups_;
  std::vector<AggregateRow*> rows_of_site_;
  std::vector<std::uint64_t> marks_of_site_;
  std::unordered_map<Key, AggregateRow*, KeyHash> rows_;
};

// What a recording of mode "stats" holds instead of ranges.
void Aggregator::add_cells(const ReadStats& chunk) {
  thread_ = chunk.thread;
  begin_thread(thread_);
  if (!wanted_) return;
  process_ = &recording_.processes()[chunk.process];
  const auto site_of = [&](std::uint32_t number) {
    return number < process_->sites.size() ? process_->sites[number] : unknown_site;
  };
  const std::vector<std::uint64_t>& words = chunk.bytes;
  for (std::size_t at = 0; at < words.size() && words[at] != 0;) {
    const std::size_t left = (words.size() - at) * sizeof(std::uint64_t);
    if (words[at] == 1 && left >= sizeof(record::StatsCell)) {
      record::StatsCell cell = {};
      std::memcpy(&cell, words.data() + at, sizeof cell);
      at += sizeof cell / sizeof(std::uint64_t);
      const auto kind = static_cast<record::EntryKind>(cell.counted_as);
      const std::uint32_t site = site_of(cell.site);
      if (cell.count == 0 || !takes(site, options_.from)) continue;
      if (kind == record::EntryKind::mark) {
        marks_of_site_[site] += cell.count;
        continue;
      }
      const RangeKind range_kind = kind_of(site, kind);
      if (by_lane()) continue;  // nobody counted them so
      AggregateRow& to = row(site, range_kind, 0, thread_);
      const double ns = static_cast<double>(process_->ratio) / 4294967296.0;
      to.calls += cell.count;
      if (recording_.sites()[site].is_others) out_.others += cell.count;
      to.total += static_cast<double>(cell.total) * ns;
      to.self += static_cast<double>(cell.self) * ns;
      to.squares += cell.squares * ns * ns;
      if (range_kind != RangeKind::device) {
        to.overhead += static_cast<double>(cell.count) * overhead(0);
      }
      to.shortest = std::min(to.shortest, process_->duration(cell.shortest));
      to.longest = std::max(to.longest, process_->duration(cell.longest));
      see_thread(to, chunk.thread);
    } else if (words[at] == 2 && left >= sizeof(record::StatsBlock)) {
      record::StatsBlock block = {};
      std::memcpy(&block, words.data() + at, sizeof block);
      at += sizeof block / sizeof(std::uint64_t);
      const auto kind = static_cast<record::EntryKind>(block.counted_as);
      const std::uint32_t site = site_of(block.site);
      if (kind == record::EntryKind::mark || block.octave >= record::stats_octaves ||
          !takes(site, options_.from))
        continue;
      if (by_lane()) continue;
      AggregateRow& to = row(site, kind_of(site, kind), 0, thread_);
      for (unsigned i = 0; i < record::stats_buckets; ++i) {
        if (block.counts[i] == 0) continue;
        const double middle = core::log_bucket_middle(block.octave, i);
        to.durations.add(
            static_cast<std::uint64_t>(process_->duration(static_cast<std::uint64_t>(middle))),
            block.counts[i]);
      }
    } else {
      return;
    }
  }
}

void Aggregator::list_marks() {
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::uint32_t site = 0; site < marks_of_site_.size(); ++site) {
    if (marks_of_site_[site] == 0) continue;
    const ReadSite& read = recording_.sites()[site];
    if (read.is_others) out_.others += marks_of_site_[site];
    const std::uint64_t key =
        std::uint64_t{read.domain} << 32 | static_cast<std::uint32_t>(read.name);
    const auto place = places.emplace(key, out_.marks.size());
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
  return figures;
}

}  // namespace nvspan::reader
