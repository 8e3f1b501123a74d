// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The records of a sample chunk, one after the other: samples of threads, and notes of the sampler.

#pragma once

#include "reader/chunks/file_check.hpp"
#include "record/file/sample_format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct SampleRecord {
  std::uint64_t ticks = 0;   // never less than those of the record before in the chunk
  std::uint32_t thread = 0;  // of a sample; 0: one that the file does not define
  std::uint32_t stack = 0;   // likewise
  record::SampleState state = record::SampleState::waiting;
  std::uint8_t part = 0;       // of 255
  std::uint64_t looks = 0;     // before this one, at which the thread had not run
  std::uint64_t stood_to = 0;  // ticks of the last of them
  record::SampleNote note = record::SampleNote::period;
  std::uint64_t numbers[record::sample_counts] = {};  // of a note
};

enum class SampleStep : std::uint8_t { sample, note, end, damaged };

class SampleReader {
 public:
  // Of a file with so many threads and stacks, number 0 included; all others are that one.
  SampleReader(std::size_t threads, std::size_t stacks) : stacks_(stacks), threads_(threads) {}

  // Begins with a chunk.
  void start(const ReadChunk& chunk) {
    start(reinterpret_cast<const std::uint8_t*>(chunk.begin),
          reinterpret_cast<const std::uint8_t*>(chunk.end), chunk.base_ticks);
  }
  void start(const std::uint8_t* begin, const std::uint8_t* end, std::uint64_t base_ticks) {
    next_ = begin;
    end_ = end;
    base_ = base_ticks;
    now_ = 0;
    thread_ = no_thread;
    ++epoch_;
  }

  // After `end` or `damaged` there are no more.
  SampleStep next(SampleRecord& record) {
    std::uint64_t head = 0;
    if (!number(head)) return finish();
    const std::uint64_t units = head >> 2;
    if (units > (most_ticks - now_) >> record::sample_time_shift) return fail();
    now_ += units << record::sample_time_shift;
    record.ticks = base_ + now_;
    if ((head & other_thread) != 0 && !number(thread_)) return finish();
    if (thread_ == 0) return read_note(record);
    record.thread = thread_ < threads_.size() ? static_cast<std::uint32_t>(thread_) : 0;
    Last& last = threads_[record.thread];
    if (last.epoch != epoch_) last = Last{0, record::SampleState::waiting, epoch_};
    record.looks = 0;
    bool has_part = false;
    if ((head & same) == 0) {
      const SampleStep step = read_change(record, last, has_part);
      if (step != SampleStep::sample) return step;
    }
    record.stack = last.stack < stacks_ ? static_cast<std::uint32_t>(last.stack) : 0;
    record.state = last.state;
    if (!has_part) record.part = last.state == record::SampleState::running ? all_of_it : 0;
    return SampleStep::sample;
  }

 private:
  static constexpr std::uint64_t same = 1, other_thread = 2;  // of a record's first number
  static constexpr std::uint64_t still = 1, share = 2;        // of its change
  static constexpr std::uint8_t all_of_it = 255;
  static constexpr std::uint64_t no_thread = ~std::uint64_t{0};
  static constexpr std::uint64_t most_ticks = std::uint64_t{1} << 50;  // from a chunk's base on

  struct Last {
    std::uint64_t stack = 0;
    record::SampleState state = record::SampleState::waiting;
    std::uint32_t epoch = 0;  // the chunk that it is of
  };

  SampleStep fail() {
    next_ = end_;
    torn_ = false;
    return SampleStep::damaged;
  }
  // Where a number was not read: at the end of what was written, or within what cannot be one.
  SampleStep finish() {
    next_ = end_;
    return torn_ ? fail() : SampleStep::end;
  }
  bool number(std::uint64_t& value) {
    if (next_ == end_) return false;
    std::uint64_t byte = *next_++;
    value = byte & 0x7F;
    for (unsigned shift = 7; byte >= 0x80; shift += 7) {
      if (next_ == end_) return false;
      byte = *next_++;
      if (shift > 63 || (shift == 63 && byte > 1)) return !(torn_ = true);
      value |= (byte & 0x7F) << shift;
      if (byte == 0) return false;
    }
    return value-- != 0;  // zero: not written
  }
  SampleStep read_note(SampleRecord& record) {
    std::uint64_t note = 0;
    if (!number(note)) return finish();
    const bool known = note >= static_cast<std::uint64_t>(record::SampleNote::period) &&
                       note <= static_cast<std::uint64_t>(record::SampleNote::ended);
    if (!known) return fail();
    record.note = static_cast<record::SampleNote>(note);
    const bool counts = record.note == record::SampleNote::counts;
    for (std::size_t i = 0; i < (counts ? record::sample_counts : 1); ++i) {
      if (!number(record.numbers[i])) return finish();
    }
    return SampleStep::note;
  }
  SampleStep read_change(SampleRecord& record, Last& last, bool& has_part) {
    std::uint64_t change = 0, value = 0;
    if (!number(change)) return finish();
    const std::uint64_t state = change >> 2 & 3;
    if (state > static_cast<std::uint64_t>(record::SampleState::ready)) return fail();
    has_part = (change & share) != 0;
    if (has_part) {
      if (!number(value)) return finish();
      if (value > all_of_it) return fail();
      record.part = static_cast<std::uint8_t>(value);
    }
    if ((change & still) != 0) {
      if (!number(record.looks) || !number(value)) return finish();
      const std::uint64_t units = now_ >> record::sample_time_shift;  // a look takes one at least
      record.looks = std::min(record.looks, units);
      record.stood_to = record.ticks - (std::min(value, units) << record::sample_time_shift);
    }
    const std::uint64_t zigzag = change >> 4;
    last.stack += (zigzag >> 1) ^ (std::uint64_t{0} - (zigzag & 1));
    last.state = static_cast<record::SampleState>(state);
    return SampleStep::sample;
  }

  const std::uint8_t* next_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::uint64_t base_ = 0;
  std::uint64_t now_ = 0;  // ticks since the base
  std::size_t stacks_;
  std::uint64_t thread_ = 0;  // of the record before; 0: a note
  std::uint32_t epoch_ = 0;
  bool torn_ = false;
  std::vector<Last> threads_;
};

}  // namespace nvspan::reader
