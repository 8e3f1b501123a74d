// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The records of a sample chunk, one after the other: samples of threads, and notes of the sampler.

#pragma once

#include "reader/chunks/file_check.hpp"
#include "record/file/sample_context.hpp"

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
  std::uint8_t part = 0;       // of sample_whole
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
    has_shift_ = false;
    usual_.clear();
    ++epoch_;
  }

  // After `end` or `damaged` there are no more.
  SampleStep next(SampleRecord& record) {
    std::uint64_t head = 0;
    if (!has_shift_) {
      if (!number(head)) return finish();
      is_packed_ = (head & record::packed_records) != 0;
      head &= ~record::packed_records;
      if (head < record::least_time_shift || head > record::most_time_shift) return fail();
      shift_ = static_cast<unsigned>(head);
      has_shift_ = true;
    }
    if (!number(head)) return finish();
    Head read = is_packed_ ? packed_head(head) : old_head(head);
    if (read.is_damaged) return fail();
    if (read.has_time && !number(read.time)) return finish();
    const bool is_short = read.is_short;
    const std::uint64_t step = is_short ? usual_.units() + signed_of(read.time) : read.time;
    if (step > most_units() - now_ || (is_short && thread_ == no_thread)) return fail();
    now_ += step;
    record.ticks = base_ + (now_ << shift_);
    const bool is_other = !is_short && read.is_other;
    if (is_other && !number(thread_)) return finish();
    if (!is_other) usual_.add(step);
    if (thread_ == 0) return read_note(record);
    record.thread = thread_ < threads_.size() ? static_cast<std::uint32_t>(thread_) : 0;
    Last& last = threads_[record.thread];
    if (last.epoch != epoch_) {
      last.recent.clear();
      last.epoch = epoch_;
    }
    record.looks = 0;
    bool has_part = false;
    record::SampledStack now = last.recent.at(1);
    if (is_short) {
      std::uint64_t stack = 0;
      if (read.is_other && !number(stack)) return finish();
      if (read.recent != 0) {
        now = last.recent.at(read.recent);
      } else if (is_packed_) {
        now = changed_stack(last, read.is_other ? stack : read.change);
      } else if (read.is_other) {
        now = other_stack(last, stack);
      }
    } else if (read.recent != 0) {
      now = last.recent.at(read.recent);
    } else {
      const SampleStep found = read_change(record, now, has_part);
      if (found != SampleStep::sample) return found;
    }
    last.recent.add(now);
    record.stack = now.stack < stacks_ ? now.stack : 0;
    record.state = now.state;
    if (!has_part) {
      record.part = now.state == record::SampleState::running ? record::sample_whole : 0;
    }
    return SampleStep::sample;
  }

 private:
  static constexpr std::uint64_t still = 1, share = 2;  // of its change
  static constexpr std::uint64_t no_thread = ~std::uint64_t{0};
  static constexpr std::uint64_t most_ticks = std::uint64_t{1} << 50;  // from a chunk's base on
  static constexpr unsigned least_look = 10;  // a look takes 1,024 ticks at least

  // A record's first number. `is_other`: another number says which thread, or in short which stack.
  struct Head {
    bool is_short = false;
    bool is_other = false;
    unsigned recent = 0;  // 0: none
    std::uint64_t time = 0;
    bool has_time = false;  // in the next number
    std::uint64_t change = 0;
    bool is_damaged = false;
  };
  static Head packed_head(std::uint64_t head) noexcept {
    using record::packed_places, record::packed_stacks, record::packed_times;
    const bool is_middle = head >= record::packed_middle && head < record::packed_long;
    const bool is_long = head >= record::packed_middle;
    const std::uint64_t stacks = is_middle ? packed_places : packed_stacks;
    const std::uint64_t rest = head - (is_middle ? record::packed_middle
                                       : is_long ? record::packed_long
                                                 : 0);
    const std::uint64_t stack = is_long ? rest % stacks : head / packed_times;
    Head read;
    if (stack == record::packed_other) {
      read.is_damaged = is_long;
      read.has_time = (head >> 4 & 1) != 0;
      read.recent = static_cast<unsigned>(head >> 1 & 7);
      read.is_other = (head & 1) != 0;
      return read;
    }
    read.is_short = true;
    read.time = is_long ? packed_times + rest / stacks : head % packed_times;
    read.is_other = stack == record::packed_change;
    if (stack < packed_places) {
      read.recent = static_cast<unsigned>(stack < record::packed_other ? stack + 1 : stack);
    } else {
      read.change = stack - packed_places;
    }
    return read;
  }
  static Head old_head(std::uint64_t head) noexcept {
    const bool is_other = (head & 2) != 0;
    if ((head & 1) != 0) return {true, is_other, 0, head >> 2, false, 0, false};
    return {false, is_other, static_cast<unsigned>(head >> 2 & 7), head >> 5, false, 0, false};
  }

  struct Last {
    record::RecentStacks recent;
    std::uint32_t epoch = 0;  // the chunk that they are of
  };

  std::uint64_t most_units() const noexcept { return most_ticks >> shift_; }
  // What is subtracted wraps, and is too large then.
  static std::uint64_t signed_of(std::uint64_t zigzag) noexcept {
    return (zigzag >> 1) ^ (std::uint64_t{0} - (zigzag & 1));
  }

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
  static record::SampledStack other_stack(const Last& last, std::uint64_t number) {
    constexpr std::uint64_t places = record::most_recent + 1;
    if (number < places) {
      return last.recent.at(static_cast<unsigned>(number) + record::first_recent);
    }
    return changed_stack(last, number - places);
  }
  static record::SampledStack changed_stack(const Last& last, std::uint64_t zigzag) {
    const auto change = static_cast<std::uint32_t>(signed_of(zigzag));
    return {last.recent.at(1).stack + change, record::SampleState::running};
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
  SampleStep read_change(SampleRecord& record, record::SampledStack& now, bool& has_part) {
    std::uint64_t change = 0, value = 0;
    if (!number(change)) return finish();
    const std::uint64_t state = change >> 2 & 3;
    if (state > static_cast<std::uint64_t>(record::SampleState::ready)) return fail();
    has_part = (change & share) != 0;
    if (has_part) {
      if (!number(value)) return finish();
      if (value > record::sample_whole) return fail();
      record.part = static_cast<std::uint8_t>(value);
    }
    if ((change & still) != 0) {
      if (!number(record.looks) || !number(value)) return finish();
      record.looks = std::min(record.looks, most_ticks >> least_look);
      record.stood_to = record.ticks - (std::min(value, most_units()) << shift_);  // may wrap
    }
    now.stack += static_cast<std::uint32_t>(signed_of(change >> 4));
    now.state = static_cast<record::SampleState>(state);
    return SampleStep::sample;
  }

  const std::uint8_t* next_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::uint64_t base_ = 0;
  std::uint64_t now_ = 0;  // units since the base
  unsigned shift_ = 0;     // of a unit
  bool has_shift_ = false;
  bool is_packed_ = false;
  record::UsualStep usual_;
  std::size_t stacks_;
  std::uint64_t thread_ = 0;  // of the record before; 0: a note
  std::uint32_t epoch_ = 0;
  bool torn_ = false;
  std::vector<Last> threads_;
};

}  // namespace nvspan::reader
