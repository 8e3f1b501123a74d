// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/sample_context.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace nvspan::lines {

// What a chunk said of a thread last.
struct Said {
  std::uint64_t chunk = 0;  // in which chunk; another one's counts for nothing
  record::RecentStacks recent;
};

// One sample of a thread.
struct Sample {
  std::uint64_t ticks;
  std::uint32_t thread;
  std::uint32_t stack;
  record::SampleState state;
  unsigned part;              // of the time since the last look that it ran, of sample_whole
  std::uint64_t still_looks;  // at which it had not moved
  std::uint64_t still_ticks;  // when the last of them was
};

// Writes samples as the bytes of sample_format.hpp.
class RecordBytes {
 public:
  static constexpr std::size_t most_of_sample = 48;
  static constexpr std::size_t most_of_note = 96;  // that of a chunk's first number included

  // Room for records of so many bytes: what follows until begin() is called again makes none.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  // The records of one look; `chunk` is the number of the chunk that they go to, and `ticks` what
  // the first one's time counts from.
  void begin(std::uint64_t chunk, std::uint64_t ticks, bool is_new) noexcept;
  void sample(const Sample& sample, Said& said);
  void note(std::uint64_t ticks, record::SampleNote kind, const std::uint64_t* numbers,
            std::size_t count);
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  void number(std::uint64_t value);
  std::uint64_t units_at(std::uint64_t ticks) const noexcept;
  void packed(std::uint64_t time, unsigned recent, std::uint64_t change);
  void head(std::uint64_t units, std::uint32_t thread, unsigned recent);

  std::string bytes_;
  std::uint64_t chunk_ = 0;
  std::uint64_t base_ = 0;   // ticks
  std::uint64_t units_ = 0;  // since then, of the last record
  unsigned shift_ = 0;
  record::UsualStep usual_;
  std::uint32_t thread_ = no_thread;
  static constexpr std::uint32_t no_thread = ~std::uint32_t{0};
};

}  // namespace nvspan::lines
