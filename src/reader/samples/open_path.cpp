// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/samples/open_path.hpp"

#include <algorithm>

namespace nvspan::reader {

std::uint32_t RangePaths::enter(std::uint32_t path, std::uint32_t name) {
  std::uint64_t& number = numbers_[{path, name}];
  if (number != core::PathTable::none) return static_cast<std::uint32_t>(number);
  const std::uint32_t depth = paths_[path].depth;
  std::uint32_t found = path;
  while (found != 0 && paths_[found].name != name) found = paths_[found].parent;
  if (found == 0 && depth == deepest) found = path;
  if (found == 0) {
    found = static_cast<std::uint32_t>(paths_.size());
    paths_.push_back(Path{path, name, depth + 1});
  }
  number = found;
  return found;
}

OpenPath::OpenPath(RangePaths& paths, const ThreadRanges& ranges,
                   const std::vector<std::uint32_t>& threads, std::size_t first)
    : paths_(&paths),
      ranges_(&ranges),
      threads_(&threads),
      next_thread_(first),
      next_(first < threads.size() ? std::numeric_limits<std::int64_t>::min() : never) {}

// The next one that nests, if there is one.
void OpenPath::find_range() {
  const LoopRanges& ranges = ranges_->ranges;
  for (;;) {
    while (row_ < end_ && ranges.is_floating(row_)) ++row_;
    if (row_ < end_ || (unended_ != nullptr && next_unended_ < unended_->size()) ||
        next_thread_ == threads_->size()) {
      return;
    }
    const std::uint32_t thread = (*threads_)[next_thread_++];
    const LoopRanges::Rows rows = ranges.rows_of(thread);
    row_ = rows.begin;
    end_ = rows.end;
    unended_ = &ranges_->unended[thread];
    next_unended_ = 0;
  }
}

void OpenPath::enter(const NamedRange& range) {
  const std::uint32_t around = open_.empty() ? 0 : open_.back().path;
  open_.push_back(Open{range.end, paths_->enter(around, range.name)});
}

void OpenPath::advance(std::int64_t time) {
  const LoopRanges& ranges = ranges_->ranges;
  for (;;) {
    find_range();
    const bool has_unended = unended_ != nullptr && next_unended_ < unended_->size();
    const std::int64_t of_row = row_ < end_ ? ranges.start[row_] : never;
    const std::int64_t of_unended = has_unended ? (*unended_)[next_unended_].start : never;
    const std::int64_t start = std::min(of_row, of_unended);
    const std::int64_t end = open_.empty() ? never : open_.back().end;
    next_ = std::min(start, end);
    if (next_ > time || next_ == never) break;
    if (end <= start) {
      open_.pop_back();
    } else if (has_unended && of_unended <= of_row) {
      enter((*unended_)[next_unended_++]);
    } else {
      enter(NamedRange{of_row, ranges.end[row_], ranges_->name_of_group[ranges.group[row_]]});
      ++row_;
    }
  }
  path_ = open_.empty() ? 0 : open_.back().path;
}

}  // namespace nvspan::reader
