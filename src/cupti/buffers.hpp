// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace nvspan::cupti {

// The memory that CUPTI writes records into: from take() until give_back() it is CUPTI's. From CUDA
// 13 on each thread that launches work has a buffer of its own.
class ActivityBuffers {
 public:
  // 1,500 kernels: what a process that is killed loses at most, for each thread.
  static constexpr std::size_t usual_bytes = 256 * 1024;
  // Beyond the budget CUPTI gets small ones.
  static constexpr std::size_t small_bytes = 16 * 1024;
  static constexpr std::size_t budget = 64 * 1024 * 1024;

  // For when there is no memory; nobody touches them before.
  static constexpr std::size_t spare_buffers = 256;

  struct Buffer {
    std::uint8_t* begin;  // null: no memory
    std::size_t size;
  };
  Buffer take() noexcept;
  Buffer take_spare() noexcept;
  void give_back(const Buffer& buffer) noexcept;

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t most_kept = 16;

  std::mutex mutex_;
  std::vector<std::uint8_t*> kept_;  // of usual_bytes
  std::size_t taken_ = 0;            // bytes
  bool spare_taken_[spare_buffers] = {};
  alignas(alignment) std::uint8_t spare_[spare_buffers][small_bytes];
};

}  // namespace nvspan::cupti
