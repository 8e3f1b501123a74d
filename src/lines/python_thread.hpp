// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lines/interpreter.hpp"
#include "lines/record_bytes.hpp"
#include "record/file/sample_format.hpp"

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::lines {

// A frame as it is in memory.
struct PythonFrame {
  Address at = 0;
  Address code = 0;
  Address previous = 0;
  std::int32_t unit = 0;  // the instruction's number

  bool operator==(const PythonFrame& other) const noexcept {
    return at == other.at && code == other.code && previous == other.previous && unit == other.unit;
  }
};

// A frame of a stack that has been named.
struct NamedFrame {
  PythonFrame frame;
  std::uint32_t stack;  // up to this frame
};

// A generator's frame, and who resumed it: one that has just yielded does not say so.
struct Resumed {
  Address at;
  Address code;
  Address by;
  Address by_code;
};

// A few addresses, the latest first.
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most) {}

  void add(Address address) {
    const auto found = std::find(list_.begin(), list_.end(), address);
    if (found != list_.end()) {
      std::rotate(list_.begin(), found, found + 1);
      return;
    }
    if (list_.size() >= most_) list_.pop_back();
    list_.insert(list_.begin(), address);
  }
  bool has(Address address) const noexcept {
    return std::find(list_.begin(), list_.end(), address) != list_.end();
  }
  void clear() noexcept { list_.clear(); }
  std::size_t size() const noexcept { return list_.size(); }
  Address operator[](std::size_t i) const noexcept { return list_[i]; }
  auto begin() const noexcept { return list_.begin(); }
  auto end() const noexcept { return list_.end(); }

 private:
  std::size_t most_;
  std::vector<Address> list_;
};

// What the sampler knows of a thread of Python.
struct PythonThread {
  static constexpr std::uint64_t no_id = ~std::uint64_t{0};

  Address state = 0;  // of its PyThreadState
  std::uint64_t id = no_id;
  std::uint64_t ident = 0;
  pid_t tid = 0;
  std::uint32_t number = 0;  // in the recording; 0: it has no sample yet
  std::uint32_t seen = 0;    // at which look
  std::uint32_t turn = 0;    // of Pace::turns(), modulo that

  // Where the next look will have to read.
  Address chunk = 0;  // of the data stack
  Address top = 0;
  Recent cframes{4};
  Recent hot{12};
  Recent bottoms{4};          // each seen twice
  std::vector<Address> deep;  // frames elsewhere
  std::vector<Resumed> resumed;

  // The last stack, the outermost frame first, and its number.
  std::vector<NamedFrame> frames;
  std::uint32_t stack = 0;
  std::uint32_t spliced = 0;  // how often only its inner part was read
  bool valid = false;
  bool cut = false;
  std::uint64_t deaths = 0;  // when it was named

  std::int64_t cpu = -1;  // ns that it had run at the last sample
  std::int64_t last = 0;  // ns of CLOCK_MONOTONIC then; 0: there is none
  record::SampleState now = record::SampleState::waiting;
  std::int64_t owed = 0;  // ns that it ran and no record says; below 0: that one says too much
  std::uint64_t still_looks = 0;  // since the last record, at which it had not run
  std::uint64_t still_ticks = 0;  // of the last of them
  Said said;
};

}  // namespace nvspan::lines
