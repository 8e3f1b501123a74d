// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The events of one thread, given in any order and taken in the order of their times.

#pragma once

#include "record/external/lane_record.hpp"
#include "record/external/spill_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nvspan::record {

// Sorted records in a spill file, read piece by piece.
class SpilledRun {
 public:
  SpilledRun(const SpillFile& file, std::uint64_t begin, std::uint64_t end, std::size_t words)
      : file_(&file), next_(begin), end_(end), buffer_(words) {}

  // False: there are no more.
  bool advance(LaneRecord& record);

 private:
  bool hold(std::size_t words);

  const SpillFile* file_;
  std::uint64_t next_;  // in the file
  std::uint64_t end_;
  std::vector<std::uint64_t> buffer_;
  std::size_t at_ = 0;
  std::size_t held_ = 0;
};

class EventLane {
 public:
  // Room for a record, which the caller fills at once.
  std::uint64_t* add(std::uint64_t time, std::uint64_t value, LaneEvent event,
                     std::uint32_t subject, std::size_t payload_words = 0) {
    std::size_t head_payload = payload_words;
    if (event == LaneEvent::range && payload_words == 0 && value - time <= longest_short_range) {
      event = short_range;
      head_payload = static_cast<std::size_t>(value - time);
    }
    const std::size_t value_words = LaneRecord::value_words(event);
    const std::size_t words = lane_head_words + value_words + payload_words;
    if (static_cast<std::size_t>(limit_ - next_) < words) start_block(words);
    std::uint64_t* to = next_;
    next_ += words;
    to[0] = time;
    to[1] = record_head(event, subject, head_payload);
    if (value_words != 0) to[lane_head_words] = value;
    ++count_;
    const std::uint64_t rank = LaneRecord{to}.rank();
    sorted_ = sorted_ && !LaneRecord::before(time, rank, last_time_, last_rank_);
    first_time_ = std::min(first_time_, time);
    const std::uint64_t end = rank == never_ended ? time : rank;
    last_end_ = std::max(last_end_, end);
    last_time_ = time;
    last_rank_ = rank;
    return to + lane_head_words + value_words;
  }

  std::uint64_t bytes() const noexcept { return bytes_; }  // of memory
  bool is_empty() const noexcept { return count_ == 0 && runs_.empty(); }

  // The first moment of all events, or never_ended; the last one, 0 where there is none.
  std::uint64_t first_time() const noexcept { return first_time_; }
  std::uint64_t last_end() const noexcept { return last_end_; }

  // What is in memory goes into the file, as one sorted run.
  void spill(SpillFile& file);
  void clear();

  // Calls `use` with every record, in the order of their times; of one moment and rank in the order
  // in which they were given.
  template <typename Use>
  void for_each(const SpillFile& file, Use&& use) const {
    if (!follow_one_another()) return for_each_merged(file, use);
    constexpr std::size_t words = std::size_t{1} << 17;
    LaneRecord record{};
    for (const Run& run : runs_) {
      SpilledRun spilled(file, run.begin, run.end, words);
      while (spilled.advance(record)) use(record);
    }
    for_each_held(use);
  }

 private:
  struct Block {
    SpillFile::Block words;
    std::size_t size;
    std::size_t used;  // known once the next one has begun
  };
  struct Key {
    std::uint64_t time;
    std::uint64_t rank;
    const std::uint64_t* words;

    bool operator<(const Key& other) const {
      return LaneRecord::before(time, rank, other.time, other.rank);
    }
  };
  struct Run {
    std::uint64_t begin;
    std::uint64_t end;
    Key first;  // whose words are gone
    Key last;
  };

  // Whether the runs, and what is in memory behind them, are in order as they are.
  bool follow_one_another() const;
  Key first_held() const;
  void start_block(std::size_t words);
  std::vector<Key> sorted_keys() const;

  template <typename Use>
  void for_each_given(Use&& use) const {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const std::uint64_t* at = blocks_[i].words.get();
      const std::uint64_t* end = i + 1 == blocks_.size() ? next_ : at + blocks_[i].used;
      while (at < end) {
        const LaneRecord record{at};
        at += record.size();
        use(record);
      }
    }
  }
  template <typename Use>
  void for_each_held(Use&& use) const {
    if (sorted_) return for_each_given(use);
    for (const Key& key : sorted_keys()) use(LaneRecord{key.words});
  }
  template <typename Use>
  void for_each_merged(const SpillFile& file, Use&& use) const;

  SpillFile* spilled_to_ = nullptr;
  std::vector<Block> blocks_;
  std::vector<Run> runs_;
  std::uint64_t* next_ = nullptr;
  std::uint64_t* limit_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t count_ = 0;
  bool sorted_ = true;
  std::uint64_t first_time_ = never_ended;
  std::uint64_t last_end_ = 0;
  std::uint64_t last_time_ = 0;
  std::uint64_t last_rank_ = never_ended;
};

// The runs, the earlier ones first where records are equal; what is in memory was given last.
template <typename Use>
void EventLane::for_each_merged(const SpillFile& file, Use&& use) const {
  constexpr std::size_t most_words = std::size_t{1} << 17;
  constexpr std::size_t all_words = std::size_t{1} << 23;
  const std::size_t words =
      std::max<std::size_t>(512, std::min(most_words, all_words / runs_.size()));
  struct Source {
    Key key;
    std::size_t order;
  };
  const auto later = [](const Source& a, const Source& b) {
    return b.key < a.key || (!(a.key < b.key) && b.order < a.order);
  };
  const auto key_of = [](const LaneRecord& record) {
    return Key{record.time(), record.rank(), record.words};
  };
  std::vector<SpilledRun> runs;
  std::vector<Source> heap;
  LaneRecord record{};
  for (const Run& run : runs_) {
    runs.emplace_back(file, run.begin, run.end, words);
    if (runs.back().advance(record)) heap.push_back(Source{key_of(record), runs.size() - 1});
  }
  const std::vector<Key> held = sorted_keys();
  std::size_t next = 0;
  if (!held.empty()) heap.push_back(Source{held[next++], runs.size()});
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Source& source = heap.back();
    use(LaneRecord{source.key.words});
    bool more = false;
    if (source.order == runs.size()) {
      more = next < held.size();
      if (more) source.key = held[next++];
    } else {
      more = runs[source.order].advance(record);
      if (more) source.key = key_of(record);
    }
    if (more)
      std::push_heap(heap.begin(), heap.end(), later);
    else
      heap.pop_back();
  }
}

}  // namespace nvspan::record
