// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which frames of a stack are shown, and at which line, function or expression each of them is.

#pragma once

#include "reader/file/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace nvspan::reader {

enum class LineKey : std::uint8_t { line, function, expression };

struct LineOptions {
  LineKey key = LineKey::line;
  // By the numbers of their strings: files whose frames are not shown. Their time is the caller's;
  // a stack without any other frame is shown as it is. Empty: none.
  std::vector<bool> hidden;
  std::vector<bool> paths;  // that count; empty: all
  // Threads other than the first that hardly ran, outside of ranges: they wait for work.
  bool idle = false;
};

// What is not of the key is 0, no_name or no_column.
struct LinePlace {
  std::int32_t file = no_name;
  std::int32_t function = no_name;
  std::uint32_t first_line = 0;
  std::uint32_t line = 0;
  std::uint32_t end_line = 0;
  std::uint16_t column = record::no_column;
  std::uint16_t end_column = record::no_column;
};

// Numbers of the places that frames are at. A line of a file is one, whatever functions begin in
// it; its function is the one that was seen first, which is around the others.
class LinePlaces {
 public:
  LinePlaces(const Recording& recording, LineKey key, std::vector<LinePlace>& places)
      : recording_(recording), key_(key), places_(places) {}

  std::uint32_t number(const SampleTables& tables, std::uint32_t frame);

 private:
  const Recording& recording_;
  LineKey key_;
  std::vector<LinePlace>& places_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                      std::uint16_t, std::uint16_t>,
           std::uint32_t>
      numbers_;
};

// Whether frames of each code are hidden where others of their stack are shown: those of files
// that are `hidden`, by the numbers of their strings, and by function comprehensions.
std::vector<bool> hidden_codes(const Recording& recording, const SampleTables& tables, LineKey key,
                               const std::vector<bool>& hidden);

// The stacks of a process as they are shown.
struct ShownStacks {
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  std::vector<std::uint32_t> place;  // of each stack's own frame
  std::vector<bool> is_hidden;       // that frame
  std::vector<bool> is_bare;         // all its frames are hidden, and shown therefore
  std::vector<std::uint32_t> self;   // the innermost place that is shown

  ShownStacks(const SampleTables& tables, LinePlaces& places, const std::vector<bool>& hidden);

  // Whether the frame of stack `at` is shown in `stack`, which holds it.
  bool shows(std::uint32_t at, std::uint32_t stack) const {
    return !is_hidden[at] || is_bare[stack];
  }
};

}  // namespace nvspan::reader
