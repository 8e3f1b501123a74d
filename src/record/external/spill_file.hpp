// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/immovable.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nvspan::record {

// A file without a name, for what memory has no room for. Errors are std::system_error.
class SpillFile : public core::Immovable {
 public:
  explicit SpillFile(std::string directory) : directory_(std::move(directory)) {}
  ~SpillFile();

  std::uint64_t size() const noexcept { return size_; }
  void append(const std::uint64_t* words, std::size_t count);
  void read(std::uint64_t offset, std::uint64_t* words, std::size_t count) const;
  void clear();

  // Memory of events that went into the file, for the next ones: fresh pages cost a fault each.
  using Block = std::unique_ptr<std::uint64_t[]>;
  static constexpr std::size_t block_words = std::size_t{1} << 17;
  void keep(Block block) { spare_.push_back(std::move(block)); }
  Block take() {
    if (spare_.empty()) return nullptr;
    Block block = std::move(spare_.back());
    spare_.pop_back();
    return block;
  }

 private:
  void open();

  std::string directory_;
  int fd_ = -1;
  std::uint64_t size_ = 0;  // bytes
  std::vector<Block> spare_;
};

// Writes all of it at that place. Errors are std::system_error.
void write_all(int fd, const void* data, std::size_t bytes, std::uint64_t offset);

}  // namespace nvspan::record
