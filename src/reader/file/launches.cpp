// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/file/launches.hpp"

#include "reader/chunks/entries.hpp"
#include "reader/file/chunk_scan.hpp"
#include "reader/file/recording.hpp"

#include <algorithm>
#include <limits>

namespace nvspan::reader {
namespace {

template <typename Take>
void each_entry_of(const Recording& recording, const ReadProcess& process, const ReadThread& thread,
                   Take&& take) {
  for (const ReadChunk& chunk : thread.chunks) {
    const std::uint64_t* at = chunk.begin;
    std::uint64_t base = chunk.base_ticks;
    each_entry(at, chunk.end, base, EntrySites(recording, process),
               [&](const Entry& entry, std::uint64_t ticks) {
                 take(entry, ticks);
                 return true;
               });
  }
}

}  // namespace

void Launches::sort() {
  const auto before = [](const Call& a, const Call& b) { return a.correlation < b.correlation; };
  if (!std::is_sorted(calls_.begin(), calls_.end(), before)) {
    std::stable_sort(calls_.begin(), calls_.end(), before);
  }
  blocks_.clear();
  if (calls_.empty()) return;
  const std::size_t count = (calls_.back().correlation >> block_shift) + std::size_t{2};
  if (count > calls_.size() + 1024) return;  // too many blocks would be empty
  blocks_.reserve(count);
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    while (blocks_.size() <= calls_[i].correlation >> block_shift) {
      blocks_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  blocks_.resize(count, static_cast<std::uint32_t>(calls_.size()));
}

const Launches::Call* Launches::find(std::uint32_t correlation) const {
  auto begin = calls_.begin(), end = calls_.end();
  if (!blocks_.empty()) {
    const std::size_t block = correlation >> block_shift;
    if (block + 1 >= blocks_.size()) return nullptr;
    end = begin + blocks_[block + 1];
    begin += blocks_[block];
  }
  const auto found = std::lower_bound(
      begin, end, correlation,
      [](const Call& call, std::uint32_t wanted) { return call.correlation < wanted; });
  return found != end && found->correlation == correlation ? &*found : nullptr;
}

namespace {

constexpr std::uint32_t not_handed_over = 0;  // in place of a GapReason

std::string_view gap_text(std::uint32_t reason) {
  switch (static_cast<record::GapReason>(reason)) {
    case record::GapReason::lent:
      return "a profiler of the program had CUPTI";
    case record::GapReason::refused:
      return "CUPTI could not be used";
    case record::GapReason::dropped:
      return "CUPTI dropped some";
  }
  if (reason == not_handed_over) return "CUPTI had not handed it over";
  return "unknown reason";
}

}  // namespace

std::vector<ReadGap> Recording::gaps() const {
  std::vector<ReadGap> gaps;
  for (std::uint32_t i = 0; i < processes_.size(); ++i) {
    const ReadProcess& process = processes_[i];
    for (const auto& [begin, end] : process.gaps) {
      const std::int64_t from = process.time(begin.first);
      const std::int64_t to = end == 0 ? process.end : std::min(process.time(end), process.end);
      if (from <= to) gaps.push_back(ReadGap{i, from, to, gap_text(begin.second)});
    }
  }
  return gaps;
}

// CUPTI hands over a thread's work in its order, some time after it was done. A process that was
// killed, or still runs, has calls at the end whose work is not known.
void Recording::find_undelivered(ReadProcess& process, std::size_t first_thread) const {
  std::vector<std::uint32_t> worked;
  std::uint64_t oldest =
      std::numeric_limits<std::uint64_t>::max();  // a ring has lost what was before
  for (std::size_t i = first_thread; i < threads_.size(); ++i) {
    each_entry_of(*this, process, threads_[i], [&](const Entry& entry, std::uint64_t ticks) {
      if (entry.kind != record::EntryKind::work) return;
      oldest = std::min(oldest, ticks);
      worked.push_back(record::read_launch_word(*entry.value).correlation);
    });
  }
  std::sort(worked.begin(), worked.end());
  std::vector<bool> launches(sites_.size());  // of a site: a call of it did
  std::uint64_t since = 0;
  for (std::size_t i = first_thread; i < threads_.size(); ++i) {
    std::uint64_t of_thread = 0;
    each_entry_of(*this, process, threads_[i], [&](const Entry& entry, std::uint64_t ticks) {
      if (entry.kind != record::EntryKind::call) return;
      const record::LaunchWord call = record::read_launch_word(*entry.value);
      if (std::binary_search(worked.begin(), worked.end(), call.correlation)) {
        launches[entry.site] = true;
        of_thread = 0;
      } else if (of_thread == 0 && (worked.empty() || (launches[entry.site] && ticks > oldest))) {
        of_thread = ticks - call.duration;
      }
    });
    if (of_thread != 0) since = since == 0 ? of_thread : std::min(since, of_thread);
  }
  if (since != 0) process.gaps[{since, not_handed_over}] = 0;
}

// Of a process that has work of a GPU.
void Recording::find_launches(std::uint32_t index, std::size_t first_thread) {
  ReadProcess& process = processes_[index];
  const auto& domains = process.domains;
  const auto has = [&](std::string_view name) {
    const std::int64_t domain = domain_called(name);
    return domain >= 0 && std::find(domains.begin(), domains.end(), domain) != domains.end();
  };
  if (!has(record::work_domain) && !has(record::call_domain)) return;
  const auto launches = std::make_shared<Launches>();
  std::size_t calls = 0;
  for (std::size_t i = first_thread; i < threads_.size(); ++i) {
    each_entry_of(*this, process, threads_[i], [&](const Entry& entry, std::uint64_t) {
      calls += entry.kind == record::EntryKind::call ? 1 : 0;
    });
  }
  launches->reserve(calls);
  for (std::size_t i = first_thread; i < threads_.size(); ++i) {
    const ReadThread& thread = threads_[i];
    each_entry_of(*this, process, thread, [&](const Entry& entry, std::uint64_t ticks) {
      if (entry.kind != record::EntryKind::call) return;
      const record::LaunchWord launch = record::read_launch_word(*entry.value);
      launches->add({ticks - launch.duration, thread.tid, launch.correlation});
    });
  }
  launches->sort();
  process.launches = launches;
  if (!process.closed) find_undelivered(process, first_thread);
  for (std::size_t i = first_thread; i < threads_.size(); ++i) {
    std::uint64_t early = 0, from = 0, to = 0;
    each_entry_of(*this, process, threads_[i], [&](const Entry& entry, std::uint64_t ticks) {
      if (entry.kind != record::EntryKind::work) return;
      if (!launches->is_early(record::read_launch_word(*entry.value).correlation, ticks)) return;
      from = early++ == 0 ? ticks : std::min(from, ticks);
      to = std::max(to, ticks);
    });
    if (early == 0) continue;
    losses_.push_back(loss_in(static_cast<std::uint32_t>(i), from, to, early, early_work_text));
  }
}

}  // namespace nvspan::reader
