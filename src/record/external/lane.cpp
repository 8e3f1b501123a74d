// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/external/lane.hpp"

#include <cstring>

namespace nvspan::record {
namespace {

constexpr std::size_t first_block = 512;  // words
constexpr std::size_t largest_block = SpillFile::block_words;

}  // namespace

bool SpilledRun::hold(std::size_t words) {
  if (held_ - at_ >= words) return true;
  const auto left = static_cast<std::size_t>((end_ - next_) / sizeof(std::uint64_t));
  if (left == 0) return false;
  std::memmove(buffer_.data(), buffer_.data() + at_, (held_ - at_) * sizeof(std::uint64_t));
  held_ -= at_;
  at_ = 0;
  if (buffer_.size() < words) buffer_.resize(words);
  const std::size_t count = std::min(left, buffer_.size() - held_);
  file_->read(next_, buffer_.data() + held_, count);
  next_ += count * sizeof(std::uint64_t);
  held_ += count;
  return held_ >= words;
}

bool SpilledRun::advance(LaneRecord& record) {
  if (!hold(lane_head_words)) return false;
  const std::size_t size = LaneRecord{buffer_.data() + at_}.size();
  if (!hold(size)) return false;
  record = LaneRecord{buffer_.data() + at_};
  at_ += size;
  return true;
}

void EventLane::start_block(std::size_t words) {
  std::size_t size = first_block;
  if (!blocks_.empty()) {
    Block& last = blocks_.back();
    last.used = static_cast<std::size_t>(next_ - last.words.get());
    size = std::min(largest_block, 2 * last.size);
  }
  Block block{nullptr, std::max(size, words), 0};
  if (spilled_to_ != nullptr && words <= largest_block) {
    block.words = spilled_to_->take();
    if (block.words != nullptr) block.size = largest_block;
  }
  size = block.size;
  if (block.words == nullptr) block.words.reset(new std::uint64_t[size]);
  next_ = block.words.get();
  limit_ = next_ + size;
  bytes_ += size * sizeof(std::uint64_t);
  blocks_.push_back(std::move(block));
}

// Stretches that are in order as given are merged, so that what comes sorted by parts costs little.
std::vector<EventLane::Key> EventLane::sorted_keys() const {
  std::vector<Key> keys;
  keys.reserve(count_);
  std::vector<std::size_t> ends;
  for_each_given([&](const LaneRecord& record) {
    const Key key{record.time(), record.rank(), record.words};
    if (!keys.empty() && key < keys.back()) ends.push_back(keys.size());
    keys.push_back(key);
  });
  ends.push_back(keys.size());
  constexpr std::size_t most_stretches = 256;
  if (ends.size() > most_stretches && keys.size() / ends.size() < 16) {
    std::stable_sort(keys.begin(), keys.end());
    return keys;
  }
  const auto at = [&](std::size_t index) {
    return keys.begin() + static_cast<std::ptrdiff_t>(index);
  };
  while (ends.size() > 1) {
    std::vector<std::size_t> merged;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::size_t end = i + 1 < ends.size() ? ends[i + 1] : ends[i];
      if (i + 1 < ends.size()) std::inplace_merge(at(begin), at(ends[i]), at(end));
      merged.push_back(end);
      begin = end;
    }
    ends = std::move(merged);
  }
  return keys;
}

EventLane::Key EventLane::first_held() const {
  const LaneRecord record{blocks_.front().words.get()};
  return Key{record.time(), record.rank(), nullptr};
}

bool EventLane::follow_one_another() const {
  for (std::size_t i = 1; i < runs_.size(); ++i) {
    if (runs_[i].first < runs_[i - 1].last) return false;
  }
  if (runs_.empty() || count_ == 0) return true;
  return sorted_ && !(first_held() < runs_.back().last);
}

void EventLane::spill(SpillFile& file) {
  if (count_ == 0) return;
  Run run{file.size(), 0, {}, {}};
  if (sorted_) {
    run.first = first_held();
    run.last = Key{last_time_, last_rank_, nullptr};
    blocks_.back().used = static_cast<std::size_t>(next_ - blocks_.back().words.get());
    for (const Block& block : blocks_) file.append(block.words.get(), block.used);
  } else {
    std::vector<std::uint64_t> words;
    words.reserve(largest_block);
    const std::vector<Key> keys = sorted_keys();
    run.first = keys.front();
    run.last = keys.back();
    for (const Key& key : keys) {
      const std::size_t size = LaneRecord{key.words}.size();
      if (words.size() + size > largest_block && !words.empty()) {
        file.append(words.data(), words.size());
        words.clear();
      }
      words.insert(words.end(), key.words, key.words + size);
    }
    file.append(words.data(), words.size());
  }
  run.end = file.size();
  for (Block& block : blocks_) {
    if (block.size == largest_block) file.keep(std::move(block.words));
  }
  EventLane spilled;
  spilled.spilled_to_ = &file;
  spilled.runs_ = std::move(runs_);
  spilled.runs_.push_back(run);
  spilled.first_time_ = first_time_;
  spilled.last_end_ = last_end_;
  *this = std::move(spilled);
}

void EventLane::clear() { *this = EventLane(); }

}  // namespace nvspan::record
