// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/import/call_times.hpp"

#include <algorithm>

namespace nvspan::reader {

void CallTimes::add(const ImportTable& table, const ImportColumn& thread,
                    const ImportColumn& correlation, const ImportColumn& start) {
  constexpr std::size_t least = 1024;
  Process* process = nullptr;
  std::int64_t last = 0;
  for (std::size_t row = 0; row < table.rows; ++row) {
    if (!thread.has(row) || !correlation.has(row) || !start.has(row)) continue;
    const std::int64_t id = thread.integers[row], key = correlation.integers[row];
    if (process == nullptr || (id & mask_) != last) process = &processes_[last = id & mask_];
    const Call call{start.integers[row], id & ~mask_};
    const auto place = static_cast<std::uint64_t>(key);
    std::vector<Call>& near = process->near;
    if (place >= near.size() && place < 4 * (size_ + least)) {
      near.resize(std::max(2 * near.size(), static_cast<std::size_t>(place) + 1), Call{0, -1});
    }
    if (place >= near.size()) {
      process->far.emplace(key, call);
    } else if (near[static_cast<std::size_t>(place)].thread < 0 && process->far.count(key) == 0) {
      near[static_cast<std::size_t>(place)] = call;
    }
    ++size_;
  }
}

void CallTimes::find(const ImportTable& table, const ImportColumn& process,
                     const ImportColumn& correlation, ImportColumn& start,
                     ImportColumn& thread) const {
  start.clear();
  thread.clear();
  const Process* of = nullptr;
  std::int64_t last = 0;
  for (std::size_t row = 0; row < table.rows; ++row) {
    if (!process.has(row) || !correlation.has(row)) continue;
    const std::int64_t id = process.integers[row] & mask_, key = correlation.integers[row];
    if (of == nullptr || id != last) {
      last = id;
      const auto known = processes_.find(id);
      of = known == processes_.end() ? nullptr : &known->second;
      if (of == nullptr) continue;
    }
    const auto place = static_cast<std::uint64_t>(key);
    const Call* call = nullptr;
    if (place < of->near.size() && of->near[static_cast<std::size_t>(place)].thread >= 0) {
      call = &of->near[static_cast<std::size_t>(place)];
    } else if (const auto far = of->far.find(key); far != of->far.end()) {
      call = &far->second;
    }
    if (call == nullptr) continue;
    start.add(row, call->start);
    thread.add(row, call->thread);
  }
  start.finish(table.rows);
  thread.finish(table.rows);
}

}  // namespace nvspan::reader
