// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/import/import_table.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {

// When, and on which thread, the calls with a correlation id were made.
class CallTimes {
 public:
  // The process is the part of the ids of threads that `process_mask` leaves. Of calls with the
  // same process and correlation the first counts.
  explicit CallTimes(std::int64_t process_mask) : mask_(process_mask) {}

  void add(const ImportTable& table, const ImportColumn& thread, const ImportColumn& correlation,
           const ImportColumn& start);
  // Fills `start` and `thread` for the rows whose call is known, the thread without its process.
  void find(const ImportTable& table, const ImportColumn& process, const ImportColumn& correlation,
            ImportColumn& start, ImportColumn& thread) const;

  std::size_t size() const noexcept { return size_; }

 private:
  struct Call {
    std::int64_t start;
    std::int64_t thread;  // -1: there is none
  };
  struct Process {
    std::vector<Call> near;  // by correlation, as long as most of them are in use
    std::unordered_map<std::int64_t, Call> far;
  };

  std::int64_t mask_;
  std::size_t size_ = 0;
  std::unordered_map<std::int64_t, Process> processes_;
};

}  // namespace nvspan::reader
