// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/file/launches.hpp"

#include "reader/chunks/entries.hpp"
#include "reader/file/chunk_scan.hpp"
#include "reader/file/recording.hpp"

#include <algorithm>

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
  const auto before = [](const Entry& a, const Entry& b) { return a.correlation < b.correlation; };
  if (!std::is_sorted(calls_.begin(), calls_.end(), before)) {
    std::stable_sort(calls_.begin(), calls_.end(), before);
  }
}

const Launches::Call* Launches::find(std::uint32_t correlation) const {
  const auto found = std::lower_bound(
      calls_.begin(), calls_.end(), correlation,
      [](const Entry& entry, std::uint32_t wanted) { return entry.correlation < wanted; });
  return found != calls_.end() && found->correlation == correlation ? &found->call : nullptr;
}

// Of a process that has work of a GPU.
void Recording::find_launches(std::uint32_t index, std::size_t first_thread) {
  ReadProcess& process = processes_[index];
  const std::int64_t domain = domain_called(record::work_domain);
  const auto& domains = process.domains;
  if (domain < 0 || std::find(domains.begin(), domains.end(), domain) == domains.end()) return;
  const auto launches = std::make_shared<Launches>();
  for (std::size_t i = first_thread; i < threads_.size(); ++i) {
    const ReadThread& thread = threads_[i];
    each_entry_of(*this, process, thread, [&](const Entry& entry, std::uint64_t ticks) {
      if (entry.kind != record::EntryKind::call) return;
      const record::LaunchWord launch = record::read_launch_word(*entry.value);
      launches->add(launch.correlation, {ticks - launch.duration, thread.tid});
    });
  }
  launches->sort();
  process.launches = launches;
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
