// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The functions of each stack of a process as it is shown, made when they are asked for.

#pragma once

#include "reader/samples/shown_stacks.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

class StackFunctions {
 public:
  // `shown` numbers functions.
  StackFunctions(const SampleTables& tables, const ShownStacks& shown)
      : tables_(tables), shown_(shown), spans_(tables.stacks.size()) {}

  struct Functions {
    const std::uint32_t* first;
    std::size_t count;
  };
  // The outermost first; one that calls itself is one. Valid until the next call.
  Functions of(std::uint32_t stack) {
    Span& span = spans_[stack];
    if (span.count == 0) {
      way_.clear();
      if (stack == 0) way_.push_back(shown_.place[0]);
      for (std::uint32_t at = stack; at != 0; at = tables_.stacks[at].parent) {
        if (!shown_.shows(at, stack)) continue;
        const std::uint32_t function = shown_.place[at];
        if (way_.empty() || way_.back() != function) way_.push_back(function);
      }
      span = {functions_.size(), way_.size()};
      functions_.insert(functions_.end(), way_.rbegin(), way_.rend());
    }
    return {functions_.data() + span.begin, span.count};
  }

 private:
  struct Span {
    std::size_t begin = 0;
    std::size_t count = 0;  // 0: not made
  };

  const SampleTables& tables_;
  const ShownStacks& shown_;
  std::vector<Span> spans_;  // by stack
  std::vector<std::uint32_t> functions_, way_;
};

}  // namespace nvspan::reader
