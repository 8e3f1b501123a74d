// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/writer/sample_lane.hpp"

#include "record/chunks/chunk_header.hpp"
#include "record/file/fault_guard.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace nvspan::record {
namespace {

constexpr std::uint32_t first_chunk_bytes = 4 * 1024;
// Where no events are kept: 1 MB of the newest samples. A ring gives them a quarter of its chunks.
constexpr std::uint32_t bytes_without_events = 64 * 1024;
constexpr std::size_t chunks_without_events = 16;
constexpr std::size_t part_of_ring = 4;
constexpr std::size_t least_of_ring = 2;  // one of them is written

}  // namespace

bool SampleLane::define(CodeDefinition code, std::string_view file, std::string_view function) {
  code.file = definitions_.names.string(file).id;
  code.function = definitions_.names.string(function).id;
  return code.file != no_string && code.function != no_string &&
         definitions_.chunk.add(DefinitionType::code, code);
}

bool SampleLane::define(FrameDefinition frame, std::string_view c_function) {
  if (!c_function.empty()) {
    const std::uint32_t id = definitions_.names.string(c_function).id;
    if (id != no_string) frame.c_function = id + 1;
  }
  return definitions_.chunk.add(DefinitionType::frame, frame);
}

bool SampleLane::define(const StackDefinition& stack) {
  return definitions_.chunk.add(DefinitionType::stack, stack);
}

bool SampleLane::define(const SampledThreadDefinition& thread) {
  return definitions_.chunk.add(DefinitionType::sampled_thread, thread);
}

bool SampleLane::take_chunk(std::size_t bytes) {
  if (!file_.takes_more()) return false;
  const std::size_t needed = sizeof(ChunkHeader) + bytes + word;  // which stays zero
  const bool all = file_.mode() == RecordMode::full;
  const ChunkPool::Place place = all ? chunks_.take(needed, nullptr, usual_) : take_newest(needed);
  if (place.chunk == nullptr) return false;
  const ChunkKey key{ChunkType::samples, 0, 0, ++number_, samples_};
  chunks_.start(place.chunk, key, place.bytes, place.sequence);
  LiveSection& live = file_.live();
  live.sample_chunks[number_ % live_sample_chunks].store(file_.segment().offset_of(place.chunk),
                                                         std::memory_order_release);
  live.samples.store(number_, std::memory_order_release);
  if (chunk_ != nullptr) seal(false);
  chunk_ = place.chunk;
  before_ = samples_;
  next_ = reinterpret_cast<char*>(chunk_) + sizeof(ChunkHeader);
  end_ = reinterpret_cast<char*>(chunk_) + place.bytes;
  file_.sample();
  return true;
}

ChunkPool::Place SampleLane::take_newest(std::size_t needed) {
  const std::size_t most = keeps_events(file_.mode())
                               ? std::max(chunks_.ring_chunks() / part_of_ring, least_of_ring)
                               : chunks_without_events;
  if (newest_.size() < most) {
    newest_.reserve(newest_.size() + 1);  // nothing may fail while the place is taken
    std::uint32_t usual = bytes_without_events;
    const ChunkPool::Place place = chunks_.take(needed, nullptr, usual);
    if (place.chunk != nullptr) {
      newest_.push_back(place.chunk);
      return place;
    }
  }
  for (std::size_t i = 0; i < newest_.size(); ++i) {
    ChunkHeader* const oldest = newest_[oldest_++ % newest_.size()];
    if (oldest != chunk_ && oldest->size >= needed) return chunks_.empty(oldest);
  }
  return ChunkPool::Place{};
}

SampleLane::Room SampleLane::make_room(std::size_t bytes) {
  Room room;
  guard_faults();
  if (file_.is_cut()) return room;
  room.is_new = chunk_ == nullptr || next_ + bytes + word > end_;
  room.found = !room.is_new || take_chunk(bytes);
  if (room.found) room.base_ticks = chunk_->base_ticks;
  return room;
}

void SampleLane::append(std::string_view records, std::uint32_t samples) noexcept {
  if (records.empty()) return;
  if (chunk_->used != 0) chunks_.unseal(chunk_);
  std::memcpy(next_ + 1, records.data() + 1, records.size() - 1);
  reinterpret_cast<std::atomic<char>*>(next_)->store(records[0], std::memory_order_release);
  next_ += records.size();
  samples_ += samples;
}

void SampleLane::seal(bool last) noexcept {
  if (chunk_ == nullptr || file_.is_cut()) return;
  const auto used = static_cast<std::size_t>(next_ - reinterpret_cast<char*>(chunk_));
  const std::size_t whole_words = (used + word - 1) / word * word;
  seal_chunk(chunk_, reinterpret_cast<char*>(chunk_) + whole_words, samples_ - before_, last);
}

void SampleLane::forget() noexcept {
  chunk_ = nullptr;
  next_ = end_ = nullptr;
  usual_ = first_chunk_bytes;
  newest_.clear();
  oldest_ = 0;
  number_ = samples_ = before_ = 0;
}

}  // namespace nvspan::record
