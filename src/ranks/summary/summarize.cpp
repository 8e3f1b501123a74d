// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/summary/summarize.hpp"

#include "ranks/summary/packed.hpp"
#include "reader/stats/aggregate.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace nvspan::ranks {
namespace {

constexpr double most_exact = 1e37;  // what a Wide holds, and more than a sound file comes to

Wide wide_of(double value) {
  if (!(std::abs(value) < most_exact)) return 0;
  return static_cast<Wide>(std::nearbyint(value));
}

// What the rows of a process add up to, for the table of processes.
struct ProcessSum {
  std::int64_t ranges = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
};

std::vector<SummaryTable::Column> process_columns() {
  std::vector<SummaryTable::Column> columns;
  for (const char* name : {"process", "group", "rank", "local_rank", "world_size", "pid", "run",
                           "unix_offset", "first", "last", "ranges", "lost", "gaps", "overwritten",
                           "orphans", "others", "closed", "mode", "event_cost"}) {
    columns.push_back(SummaryTable::Column{name, false});
  }
  for (const char* name : {"host", "boot_id", "command", "path"}) {
    columns.push_back(SummaryTable::Column{name, true});
  }
  return columns;
}

class Summarizer {
 public:
  Summarizer(const reader::Recording& recording, Summary& to) : recording_(recording), to_(to) {
    sums_.resize(recording.processes().size());
  }

  void add(const reader::AggregateRow& row) {
    const auto process = static_cast<std::size_t>(std::max<std::int64_t>(row.process, 0));
    RangeKey key;
    key.domain = text(recording_.domains()[row.domain]);
    key.name = text(row.name);
    key.kind = static_cast<std::uint8_t>(row.kind);
    key.backward = row.backward;
    key.is_others = row.is_others;
    key.group = group_of(recording_.processes()[process]);
    const std::int64_t offset = unix_offset(recording_.processes()[process]);
    RangeFigures figures;
    figures.calls = row.calls;
    figures.unclosed = row.unclosed;
    figures.threads = row.threads;
    figures.devices = row.devices.size();
    figures.sum = wide_of(row.sum);
    figures.nested = wide_of(row.outermost.within().time);
    figures.open_time = wide_of(row.outermost.still_open().time);
    figures.total = figures.sum - figures.nested + figures.open_time;
    // Of any sum with it, no other makes it positive.
    constexpr Wide not_known = -(Wide{1} << 100);
    figures.covered = row.kind == reader::RangeKind::push_pop ? figures.total
                      : row.has_cells                         ? not_known
                                                              : Wide{row.covered};
    if (row.is_resumable) {
      figures.resumable = 1;
      figures.resumptions = row.resumptions;
      figures.awaited = row.unknown_awaits != 0 ? not_known : Wide{row.awaited};
    }
    figures.self = wide_of(row.self);
    figures.squares = static_cast<Wide>(row.squares);
    figures.overhead = wide_of(row.overhead() * 1000);
    figures.shortest = row.shortest;
    figures.longest = row.longest;
    ProcessSum& sum = sums_[process];
    sum.ranges += static_cast<std::int64_t>(row.calls + row.unclosed);
    if (row.first <= row.last) {
      figures.first = row.first + offset;
      figures.last = row.last + offset;
      sum.first = std::min(sum.first, row.first);
      sum.last = std::max(sum.last, row.last);
    }
    figures.durations = packed_histogram(row.durations);
    to_.row(key).merge(figures);
  }
  void add(const reader::MarkRow& row) {
    RangeKey key;
    key.domain = text(recording_.domains()[row.domain]);
    key.name = text(row.name);
    key.kind = kind_of_marks;
    key.group =
        recording_.processes().size() == 1 ? group_of(recording_.processes()[0]) : all_groups;
    to_.row(key).calls += row.calls;
  }
  // Losses of a file with several processes are those of its first.
  void add_processes(const reader::Aggregate& figures) {
    SummaryTable& table = to_.table("processes", process_columns());
    for (std::size_t i = 0; i < recording_.processes().size(); ++i) {
      const reader::ReadProcess& process = recording_.processes()[i];
      const record::FileHeader& header = process.header;
      const ProcessSum& sum = sums_[i];
      const bool is_empty = sum.first > sum.last;
      const std::uint64_t losses[] = {figures.lost, figures.gaps, figures.overwritten,
                                      figures.orphans, figures.others};
      std::string command;
      for (const std::string& argument : process.command) {
        command.append(command.empty() ? "" : " ").append(argument);
      }
      std::vector<std::int64_t> row = {identity_of(process),
                                       group_of(process),
                                       header.rank,
                                       header.local_rank,
                                       header.world_size,
                                       header.pid,
                                       static_cast<std::int64_t>(header.run),
                                       unix_offset(process),
                                       is_empty ? 0 : sum.first,
                                       is_empty ? 0 : sum.last,
                                       sum.ranges};
      for (const std::uint64_t loss : losses) {
        row.push_back(i == 0 ? static_cast<std::int64_t>(loss) : 0);
      }
      row.push_back(process.closed ? 1 : 0);
      row.push_back(header.mode);
      row.push_back(header.event_cost);
      for (const std::string_view of :
           {std::string_view(header.host), std::string_view(header.boot_id),
            std::string_view(command), std::string_view(process.path)}) {
        row.push_back(to_.intern(of));
      }
      table.add_row(row.data());
    }
  }
  // When the work of GPUs was not recorded, ns since 1970.
  void add_gpu_gaps() {
    const std::vector<reader::ReadGap> gaps = recording_.gaps();
    if (gaps.empty()) return;
    SummaryTable& table = to_.table(
        "gpu_gaps", {{"process", false}, {"start", false}, {"end", false}, {"reason", true}});
    for (const reader::ReadGap& gap : gaps) {
      const reader::ReadProcess& process = recording_.processes()[gap.process];
      const std::int64_t offset = unix_offset(process);
      const std::int64_t row[] = {identity_of(process), gap.from + offset, gap.to + offset,
                                  to_.intern(gap.reason)};
      table.add_row(row);
    }
  }

 private:
  std::int32_t text(std::int32_t of) { return of < 0 ? no_text : to_.intern(recording_.text(of)); }

  const reader::Recording& recording_;
  Summary& to_;
  std::vector<ProcessSum> sums_;
};

}  // namespace

std::int64_t identity_of(const reader::ReadProcess& process) {
  const record::FileHeader& header = process.header;
  std::uint64_t hash = 0xCBF29CE484222325u;
  const auto add = [&](const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001B3u;
  };
  const std::string_view boot(header.boot_id);
  add(boot.data(), boot.size());
  add(&header.pid, sizeof header.pid);
  add(&header.rank, sizeof header.rank);
  add(&header.run, sizeof header.run);
  add(&header.first, sizeof header.first);
  return static_cast<std::int64_t>(hash >> 2);
}

std::int64_t unix_offset(const reader::ReadProcess& process) {
  const record::ClockSample& first = process.header.first;
  return static_cast<std::int64_t>(first.realtime - first.monotonic) - process.offset;
}

std::int64_t group_of(const reader::ReadProcess& process) {
  return process.header.rank >= 0 ? process.header.rank : -2 - identity_of(process);
}

void summarize(const reader::Recording& recording, const reader::Selection& selection,
               Summary& to) {
  reader::AggregateOptions options;
  static_cast<reader::Selection&>(options) = selection;
  options.by = reader::GroupBy::process;
  const reader::Aggregate figures = reader::aggregate(recording, options);
  Summarizer summarizer(recording, to);
  for (const auto& row : figures.rows) summarizer.add(*row);
  for (const reader::MarkRow& row : figures.marks) summarizer.add(row);
  summarizer.add_processes(figures);
  summarizer.add_gpu_gaps();
}

}  // namespace nvspan::ranks
