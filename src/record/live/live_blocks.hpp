// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/chunks/chunk_pool.hpp"
#include "record/chunks/recording_file.hpp"
#include "record/file/live_format.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::record {

// The blocks of a file: each thread has one, and one whose thread ended goes to the next. Its
// owner's lock guards it.
class LiveBlocks {
 public:
  LiveBlocks(core::PagePool& pool, RecordingFile& file, ChunkPool& chunks)
      : file_(file), chunks_(chunks), all_(pool), free_(pool) {}

  void restart() noexcept;  // for a new file
  // Null: there is no space.
  LiveBlock* take(std::uint32_t thread, std::uint32_t tid, std::uint64_t ticks) noexcept;
  // Its thread ended. One with open ranges of start and end stays as it is until they have ended.
  void give_back(LiveBlock* block, std::uint64_t ticks) noexcept;
  void name(std::uint32_t tid, std::string_view name) noexcept;
  // The block in which a start/end range lies that began under this number of its thread.
  void remember(std::uint64_t number, LiveBlock* block) noexcept;
  // The place of a start/end range, in whichever block. Null: it has none.
  LiveStart* find_start(std::uint64_t id) noexcept;
  // Every thread looks at LiveSection before its next event.
  void ask_all() noexcept;
  // Places for open device ranges; null: there is no space.
  LiveDevice* devices() noexcept;

 private:
  bool grow();
  LiveBlock* take_ended() noexcept;

  RecordingFile& file_;
  ChunkPool& chunks_;
  core::PoolVector<LiveBlock*> all_;
  core::PoolVector<LiveBlock*> free_;
  LiveDevice* devices_ = nullptr;
};

// By the number in the upper half of a start/end range's id: whose block to look in. A place that
// another number has taken since loses it: then the range is not found, and stays shown as open
// until its thread's block is taken.
constexpr std::size_t live_starters = 1024;
extern std::atomic<LiveBlock*> live_starter[live_starters];

inline LiveBlock* live_starter_of(std::uint64_t id) noexcept {
  return live_starter[(id >> 32) % live_starters].load(std::memory_order_acquire);
}

// Open device ranges in the recording's file. Calls take turns: the session's lock orders them.
struct DeviceOpening {
  std::string_view domain;
  std::string_view name;
  std::uint64_t device = 0;
  std::uint64_t stream = 0;
  std::uint32_t tid = 0;
  // Of an operation of NCCL; `ranks` 0: it is none.
  std::uint32_t number = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
};

// What live_device_state() takes; 0: all places are taken.
std::uint64_t live_open_device(LiveDevice* places, const DeviceOpening& range,
                               std::uint64_t ticks) noexcept;
// A range that has ended frees its place. One that is not there any more changes nothing.
void live_device_state(LiveDevice* places, std::uint64_t range, LiveDeviceState state,
                       std::uint64_t ticks) noexcept;

}  // namespace nvspan::record
