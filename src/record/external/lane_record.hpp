// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// An event as a lane holds it until its place in the file is known: its time, its head, a value if
// it has one, then its payload in the form of the file's entries.

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

constexpr std::size_t lane_head_words = 2;  // time and head
constexpr std::size_t most_payload_words = (std::size_t{1} << 24) - 1;
// In a head, a range that has its duration where others have the payload's length.
constexpr auto short_range = static_cast<LaneEvent>(0xFF);
constexpr std::uint64_t longest_short_range = most_payload_words;  // ns

constexpr std::uint64_t record_head(LaneEvent event, std::uint32_t subject, std::size_t payload) {
  return static_cast<std::uint64_t>(event) | std::uint64_t{subject} << 8 |
         static_cast<std::uint64_t>(payload) << 40;
}

// One record, wherever it lies.
struct LaneRecord {
  const std::uint64_t* words;

  std::uint64_t time() const { return words[0]; }
  std::uint64_t value() const { return is_short() ? time() + last_bits() : *value_at(); }
  const std::uint64_t* value_at() const { return words + lane_head_words; }
  LaneEvent event() const { return is_short() ? LaneEvent::range : kind(); }
  std::uint32_t subject() const { return static_cast<std::uint32_t>(words[1] >> 8); }
  std::size_t payload_words() const { return is_short() ? 0 : last_bits(); }
  const std::uint64_t* payload() const { return value_at() + value_words(kind()); }
  std::size_t size() const { return lane_head_words + value_words(kind()) + payload_words(); }

  static constexpr std::size_t value_words(LaneEvent kind) {
    return kind == LaneEvent::mark || kind == short_range ? 0 : 1;
  }

  // Of two events at one moment the one that lasts longer is around the other.
  std::uint64_t rank() const { return event() <= LaneEvent::start_end ? value() : never_ended; }
  static bool before(std::uint64_t time, std::uint64_t rank, std::uint64_t other_time,
                     std::uint64_t other_rank) {
    return time != other_time ? time < other_time : rank > other_rank;
  }

 private:
  LaneEvent kind() const { return static_cast<LaneEvent>(words[1] & 0xFF); }
  bool is_short() const { return kind() == short_range; }
  std::uint64_t last_bits() const { return words[1] >> 40; }
};

}  // namespace nvspan::record
