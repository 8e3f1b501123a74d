// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/record_bytes.hpp"

#include "record/file/ticks.hpp"

#include <algorithm>

namespace nvspan::lines {

using record::SampleState;

namespace {

std::uint64_t zigzag(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}

}  // namespace

void RecordBytes::begin(std::uint64_t chunk, std::uint64_t ticks, bool is_new) noexcept {
  bytes_.clear();
  chunk_ = chunk;
  if (!is_new) return;
  base_ = ticks;
  units_ = 0;
  thread_ = no_thread;
  usual_.clear();
  shift_ = record::ticks_are_tsc ? record::tsc_time_shift : record::system_time_shift;
  number(shift_ | record::packed_records);
}

void RecordBytes::number(std::uint64_t value) {
  ++value;
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(0x80 | (value & 0x7F));
  bytes_ += static_cast<char>(value);
}

// Never goes back: two looks at a thread may be read in another order than they were made.
std::uint64_t RecordBytes::units_at(std::uint64_t ticks) const noexcept {
  const std::uint64_t half = std::uint64_t{1} << (shift_ - 1);
  return std::max(units_, (ticks - std::min(ticks, base_) + half) >> shift_);
}

void RecordBytes::head(std::uint64_t units, std::uint32_t thread, unsigned recent) {
  const bool other = thread != thread_;
  const std::uint64_t time = units - units_;
  number(record::packed_other * record::packed_times | std::uint64_t{time != 0} << 4 |
         std::uint64_t{recent} << 1 | std::uint64_t{other});
  if (time != 0) number(time);
  if (other) number(thread);
  if (!other) usual_.add(units - units_);
  units_ = units;
  thread_ = thread;
}

void RecordBytes::packed(std::uint64_t time, unsigned recent, std::uint64_t change) {
  using record::packed_places, record::packed_times;
  std::uint64_t stack = recent <= record::packed_other ? recent - 1 : recent;
  if (recent == 0) stack = std::min(packed_places + change, record::packed_change);
  if (time < packed_times) {
    number(stack * packed_times + time);
  } else if (const std::uint64_t middle =
                 record::packed_middle + (time - packed_times) * packed_places + stack;
             stack < packed_places && middle < record::packed_long) {
    number(middle);
  } else {
    number(record::packed_long + (time - packed_times) * record::packed_stacks + stack);
  }
  if (stack == record::packed_change) number(change);
}

void RecordBytes::sample(const Sample& sample, Said& said) {
  if (said.chunk != chunk_) said.recent.clear();
  said.chunk = chunk_;
  const record::SampledStack now{sample.stack, sample.state};
  const bool share =
      sample.part != (sample.state == SampleState::running ? record::sample_whole : 0);
  const bool still = sample.still_looks != 0;
  const unsigned recent = share || still ? 0 : said.recent.find(now);
  const std::uint64_t units = units_at(sample.ticks);
  const std::int64_t change = std::int64_t{sample.stack} - std::int64_t{said.recent.at(1).stack};
  const bool plain = !share && !still && (recent != 0 || now.state == SampleState::running);
  said.recent.add(now);
  if (plain && sample.thread == thread_) {
    const auto beyond = static_cast<std::int64_t>(units - units_ - usual_.units());
    packed(zigzag(beyond), recent, zigzag(change));
    usual_.add(units - units_);
    units_ = units;
    return;
  }
  head(units, sample.thread, recent);
  if (recent != 0) return;
  number(zigzag(change) << 4 | static_cast<std::uint64_t>(sample.state) << 2 |
         std::uint64_t{share} << 1 | std::uint64_t{still});
  if (share) number(sample.part);
  if (still) {
    number(sample.still_looks);
    number((sample.ticks - std::min(sample.ticks, sample.still_ticks)) >> shift_);
  }
}

void RecordBytes::note(std::uint64_t ticks, record::SampleNote kind, const std::uint64_t* numbers,
                       std::size_t count) {
  head(units_at(ticks), 0, 0);
  number(static_cast<std::uint64_t>(kind));
  for (std::size_t i = 0; i < count; ++i) number(numbers[i]);
}

}  // namespace nvspan::lines
