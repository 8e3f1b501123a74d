// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Distinct texts, each under the number that it was given first. Texts are read without a lock
// while other threads add some: a text never moves and never goes.

#pragma once

#include "core/immovable.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>

namespace nvspan::core {

class TextTable : public Immovable {
 public:
  std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  // The number is one that add() returned, or less than what size() returned.
  const std::string& operator[](std::size_t number) const noexcept {
    const Place at = place_of(number);
    return blocks_[at.block][at.offset];
  }

  // The number of the text, which is added if it is new. Throws std::bad_alloc.
  std::int32_t add(std::string_view text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    const std::size_t number = size_.load(std::memory_order_relaxed);
    const Place at = place_of(number);
    if (number > most || at.block >= blocks_.size()) throw std::bad_alloc();
    if (blocks_[at.block] == nullptr) {
      blocks_[at.block] = std::make_unique<std::string[]>(first_block << at.block);
    }
    std::string& kept = blocks_[at.block][at.offset];
    kept = text;
    numbers_.emplace(kept, static_cast<std::int32_t>(number));
    size_.store(number + 1, std::memory_order_release);
    return static_cast<std::int32_t>(number);
  }

 private:
  static constexpr std::size_t first_block = 64;  // each further one has twice as many
  static constexpr std::size_t most = 0x7FFFFFFF;

  struct Place {
    std::size_t block;
    std::size_t offset;
  };
  static Place place_of(std::size_t number) noexcept {
    std::size_t block = 0;
    for (std::size_t left = number / first_block + 1; left > 1; left /= 2) ++block;
    return Place{block, number - first_block * ((std::size_t{1} << block) - 1)};
  }

  std::array<std::unique_ptr<std::string[]>, 26> blocks_;
  std::atomic<std::size_t> size_{0};
  std::mutex mutex_;
  std::unordered_map<std::string_view, std::int32_t> numbers_;  // views of the blocks' texts
};

}  // namespace nvspan::core
