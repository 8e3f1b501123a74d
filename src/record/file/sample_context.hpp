// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What the records of a sample chunk are told by: the writer and the reader of one keep the same.

#pragma once

#include "record/file/sample_format.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace nvspan::record {

// Of the first number of a record in a chunk with packed_records.
constexpr std::uint64_t packed_times = 32, packed_places = 8, packed_stacks = 128;
constexpr std::uint64_t packed_middle = packed_stacks * packed_times, packed_long = 1 << 14;
constexpr std::uint64_t packed_other = 3, packed_change = packed_stacks - 1;  // of the stacks

struct SampledStack {
  std::uint32_t stack = 0;
  SampleState state = SampleState::waiting;

  bool operator==(const SampledStack& other) const noexcept {
    return stack == other.stack && state == other.state;
  }
};

// The last ones of a thread in a chunk, the latest at place 1.
class RecentStacks {
 public:
  static constexpr unsigned most = 7;

  // 0: it is none of them.
  unsigned find(const SampledStack& one) const noexcept {
    const auto* const end = list_.data() + count_;
    const auto* const found = std::find(list_.data(), end, one);
    return found == end ? 0 : static_cast<unsigned>(found - list_.data()) + 1;
  }
  // Of a place that there is not: no stack, waiting.
  SampledStack at(unsigned place) const noexcept {
    return place <= count_ ? list_[place - 1] : SampledStack{};
  }
  void add(const SampledStack& one) noexcept {
    const unsigned place = find(one);
    if (place == 0) count_ = std::min(count_ + 1, most);
    const unsigned last = place == 0 ? count_ : place;
    std::move_backward(list_.begin(), list_.begin() + (last - 1), list_.begin() + last);
    list_[0] = one;
  }
  void clear() noexcept { count_ = 0; }

 private:
  std::array<SampledStack, most> list_;
  unsigned count_ = 0;
};

// The time from a record of a thread to its next one, in units, if no other thread's is between.
class UsualStep {
 public:
  std::uint64_t units() const noexcept { return scaled_ / weight; }
  void add(std::uint64_t step) noexcept {
    constexpr std::uint64_t least = 32;  // more than twice as long is a pause of the sampler
    scaled_ += std::min(step, 2 * units() + least) - units();
  }
  void clear() noexcept { scaled_ = 0; }

 private:
  static constexpr std::uint64_t weight = 16;
  std::uint64_t scaled_ = 0;
};

}  // namespace nvspan::record
