// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/samples/sample_sums.hpp"

#include "core/key_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace nvspan::reader {
namespace {

using Names = std::vector<std::pair<std::uint32_t, std::int32_t>>;

Names names_of(const Recording& recording) {
  Names names;
  for (const ReadSite& site : recording.sites()) names.emplace_back(site.domain, site.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::uint32_t number_in(const Names& names, std::uint32_t domain, std::int32_t name) {
  const auto found = std::lower_bound(names.begin(), names.end(), std::make_pair(domain, name));
  return static_cast<std::uint32_t>(found - names.begin());
}

ThreadRanges ranges_of(const Recording& recording, LoopRanges& ranges, const Names& names) {
  std::vector<std::uint32_t> groups(ranges.names().size());
  std::iota(groups.begin(), groups.end(), 0u);
  ranges.nest(groups, std::vector<LoopGroup>(groups.size()));
  ThreadRanges found{ranges, {}, {}};
  for (const LoopName& name : ranges.names()) {
    found.name_of_group.push_back(number_in(names, name.domain, name.name));
  }
  found.unended.resize(recording.threads().size());
  for (const UnendedRange& range : ranges.still_open()) {
    const ReadSite& site = recording.sites()[range.site];
    // It is open at the last moment that is known as well.
    found.unended[range.thread].push_back(
        NamedRange{range.start, range.end + 1, number_in(names, site.domain, site.name)});
  }
  for (std::vector<NamedRange>& list : found.unended) {
    core::stable_sort_by(list.begin(), list.end(),
                         [](const NamedRange& range) { return range.start; });
  }
  return found;
}

}  // namespace

// Of one process.
class SampleSums::Join {
 public:
  Join(SampleSums& sums, const Recording& recording, std::uint32_t process,
       const ThreadRanges& ranges, const Selection& selection)
      : sums_(sums),
        recording_(recording),
        read_(recording.processes()[process]),
        number_(process),
        ranges_(ranges),
        selection_(selection),
        threads_(read_.samples.threads.size()),
        first_block_(sums.blocks_.size()) {
    sums.blocks_.resize(first_block_ + blocks_of_process);
    for (std::uint32_t i = 0; i < recording.threads().size(); ++i) {
      const ReadThread& thread = recording.threads()[i];
      if (thread.process == process && thread.tid != 0) of_tids_[thread.tid].push_back(i);
    }
    const std::vector<ReadChunk>& chunks = read_.samples.chunks;
    begin_ = chunks.empty() ? 0 : read_.time(chunks.front().base_ticks);
    const std::uint64_t span =
        static_cast<std::uint64_t>(read_.end) - static_cast<std::uint64_t>(begin_);
    block_ns_ = read_.end <= begin_ ? 1 : span / blocks_of_process + 1;
    sums_.slots_.resize(std::max<std::size_t>(1, sums_.slots_.size()));  // 0: left out
    first_slot_ = static_cast<std::uint32_t>(sums_.slots_.size() - 1);
    open_.resize(1);
    flush(0);
  }

  void reach(std::int64_t time) {
    if (time >= block_end_) flush(block_of(time));
  }
  std::uint32_t sampled(std::uint32_t thread, std::uint32_t stack, std::int64_t time) {
    Thread& of = threads_[thread];
    OpenPath& ranges = of.path.has_value() ? *of.path : begin_thread(of, thread);
    of.last_seen = time;
    const std::uint32_t path = ranges.at(time);
    if (!of.is_taken || !selection_.takes_time(time) || (path == 0 && !selection_.sites.empty())) {
      return 0;
    }
    if (of.slot == 0 || path != of.last_path || stack != of.last_stack) {
      of.last_path = path;
      of.last_stack = stack;
      of.slot = slot_of(thread, path, stack);
    }
    return of.slot;
  }
  void count(std::uint32_t slot, std::uint64_t samples) {
    if (slot != 0) touched(slot).samples += samples;
  }
  void credit(std::uint32_t slot, TimeKind kind, std::int64_t from, std::int64_t ns) {
    if (slot == 0) return;
    const auto of_kind = static_cast<std::size_t>(kind);
    auto left = static_cast<std::uint64_t>(ns);
    std::size_t block = from < block_begin_ ? block_of(from) : block_;
    for (; block < block_ && left != 0; ++block) {
      const std::uint64_t passed =
          static_cast<std::uint64_t>(from) - static_cast<std::uint64_t>(begin_) - block * block_ns_;
      const std::uint64_t here = std::min(left, block_ns_ - std::min(block_ns_, passed));
      left -= here;
      from += static_cast<std::int64_t>(here);
      if (here == 0) continue;
      SampleCell cell{slot_number(slot), {}};
      cell.time.ns[of_kind] = here;
      sums_.blocks_[first_block_ + block].push_back(cell);
    }
    if (left != 0) touched(slot).ns[of_kind] += left;
  }
  void ended(std::uint32_t thread, std::int64_t time) { threads_[thread].last_seen = time; }
  void parted(std::uint32_t) {}

  void run() {
    SampleScan<Join> scan(read_, *this);
    sums_.facts_.push_back(scan.run());
    flush(block_);
    for (const Thread& thread : threads_) sums_.threads_ += thread.path ? 1 : 0;
  }

 private:
  struct Thread {
    std::optional<OpenPath> path;
    bool is_taken = false;
    std::uint32_t last_path = 0, last_stack = 0, slot = 0;
    std::int64_t last_seen = 0;
  };
  struct Open {
    SampleTime time;
    bool is_touched = false;
  };

  // Slots of this process are counted from 1 here.
  std::uint32_t slot_number(std::uint32_t slot) const { return first_slot_ + slot; }
  std::size_t block_of(std::int64_t time) const {
    if (time <= begin_) return 0;
    const std::uint64_t since =
        static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(begin_);
    return std::min<std::uint64_t>(since / block_ns_, blocks_of_process - 1);
  }
  SampleTime& touched(std::uint32_t slot) {
    Open& open = open_[slot];
    if (!open.is_touched) {
      open.is_touched = true;
      touched_.push_back(slot);
    }
    return open.time;
  }
  void flush(std::size_t next) {
    for (const std::uint32_t slot : touched_) {
      sums_.blocks_[first_block_ + block_].push_back({slot_number(slot), open_[slot].time});
      open_[slot] = Open();
    }
    touched_.clear();
    block_ = next;
    block_begin_ = begin_ + static_cast<std::int64_t>(next * block_ns_);
    block_end_ = next + 1 < blocks_of_process ? block_begin_ + static_cast<std::int64_t>(block_ns_)
                                              : std::numeric_limits<std::int64_t>::max();
  }
  std::uint32_t slot_of(std::uint32_t thread, std::uint32_t path, std::uint32_t stack) {
    std::uint64_t& number = numbers_[{std::uint64_t{thread} << 32 | path, stack}];
    if (number == core::PathTable::none) {
      number = open_.size();
      open_.emplace_back();
      sums_.slots_.push_back({number_, thread, path, stack});
    }
    return static_cast<std::uint32_t>(number);
  }
  // A number of the system's is used again by a later thread: the ranges of the one before began
  // before that was seen for the last time.
  OpenPath& begin_thread(Thread& of, std::uint32_t number) {
    const std::uint32_t tid = read_.samples.threads[number].tid;
    const std::vector<std::uint32_t>& candidates = of_tids_[tid];
    const auto before = last_of_.find(tid);
    std::size_t first = 0;
    if (before != last_of_.end()) {
      const std::int64_t seen = threads_[before->second].last_seen;
      const auto later =
          std::partition_point(candidates.begin(), candidates.end(), [&](std::uint32_t thread) {
            return read_.time(recording_.threads()[thread].start_ticks) <= seen;
          });
      first = static_cast<std::size_t>(later - candidates.begin());
    }
    last_of_[tid] = number;
    OpenPath& path = of.path.emplace(sums_.paths_, ranges_, candidates, first);
    of.is_taken =
        selection_.threads.empty() ||
        std::any_of(candidates.begin() + static_cast<std::ptrdiff_t>(first), candidates.end(),
                    [&](std::uint32_t one) { return selection_.takes_thread(one); });
    return path;
  }

  SampleSums& sums_;
  const Recording& recording_;
  const ReadProcess& read_;
  const std::uint32_t number_;
  const ThreadRanges& ranges_;
  const Selection& selection_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> of_tids_;  // by their starts
  std::unordered_map<std::uint32_t, std::uint32_t> last_of_;               // sampled, of each tid
  std::vector<Thread> threads_;
  core::PathTable numbers_;
  std::vector<Open> open_;  // of this block, by slot
  std::vector<std::uint32_t> touched_;
  std::int64_t begin_ = 0;
  std::uint64_t block_ns_ = 1;
  std::size_t first_block_;
  std::size_t block_ = 0;
  std::int64_t block_begin_ = 0, block_end_ = 0;
  std::uint32_t first_slot_ = 0;
};

SampleSums::SampleSums(const Recording& recording, const Selection& selection) {
  const auto& processes = recording.processes();
  facts_.reserve(processes.size());
  const bool any = std::any_of(processes.begin(), processes.end(), [](const ReadProcess& process) {
    return !process.samples.chunks.empty();
  });
  if (!any) {
    facts_.resize(processes.size());
    return;
  }
  names_ = names_of(recording);
  Selection of_ranges = selection;
  of_ranges.from = Selection().from;  // one that began before may be open then
  of_ranges.to = Selection().to;
  LoopRanges loops(recording, of_ranges);
  const ThreadRanges ranges = ranges_of(recording, loops, names_);
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    Join(*this, recording, i, ranges, selection).run();
  }
}

}  // namespace nvspan::reader
