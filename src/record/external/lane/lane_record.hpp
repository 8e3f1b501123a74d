// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// An event as a lane holds it until its place in the file is known: three words, then its payload
// in the form of the file's entries.

#pragma once

#include <cstddef>
#include <cstdint>

namespace nvspan::record {

enum class LaneEvent : std::uint8_t {
  range,       // subject: site; value: end
  start_end,   // subject: site; value: end
  start,       // subject: site; value: range id
  end,         // subject: domain; value: range id
  mark,        // subject: site
  push,        // subject: site; of loose ends alone
  pop,         // subject: domain; of loose ends alone
  sample_i64,  // subject: counter; value: the sample
  sample_f64,
  sample_none,   // value: the reason
  sample_bytes,  // the sample is the payload
};

// Times are ns with the sign bit turned over, so that as unsigned numbers they have the same order.
constexpr std::uint64_t tick_bias = std::uint64_t{1} << 63;
constexpr std::uint64_t ticks_of(std::int64_t ns) {
  return static_cast<std::uint64_t>(ns) ^ tick_bias;
}
constexpr std::int64_t ns_of(std::uint64_t ticks) {
  return static_cast<std::int64_t>(ticks ^ tick_bias);
}
constexpr std::uint64_t never_ended = ~std::uint64_t{0};  // of a range's end

constexpr std::size_t lane_record_words = 3;  // without a payload
constexpr std::size_t most_payload_words = (std::size_t{1} << 24) - 1;

constexpr std::uint64_t record_head(LaneEvent event, std::uint32_t subject, std::size_t payload) {
  return static_cast<std::uint64_t>(event) | std::uint64_t{subject} << 8 |
         static_cast<std::uint64_t>(payload) << 40;
}

// One record, wherever it lies.
struct LaneRecord {
  const std::uint64_t* words;

  std::uint64_t time() const { return words[0]; }
  std::uint64_t value() const { return words[1]; }
  LaneEvent event() const { return static_cast<LaneEvent>(words[2] & 0xFF); }
  std::uint32_t subject() const { return static_cast<std::uint32_t>(words[2] >> 8); }
  std::size_t payload_words() const { return static_cast<std::size_t>(words[2] >> 40); }
  const std::uint64_t* payload() const { return words + lane_record_words; }
  std::size_t size() const { return lane_record_words + payload_words(); }

  // Of two events at one moment the one that lasts longer is around the other.
  std::uint64_t rank() const { return event() <= LaneEvent::start_end ? value() : never_ended; }
  static bool before(std::uint64_t time, std::uint64_t rank, std::uint64_t other_time,
                     std::uint64_t other_rank) {
    return time != other_time ? time < other_time : rank > other_rank;
  }
};

}  // namespace nvspan::record
