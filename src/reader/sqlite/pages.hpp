// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The pages of an SQLite database, read in stretches: a file that is cut while it is read gives an
// error, and no signal.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace nvspan::reader {

// What this reader takes no part in: a damaged file, a log beside it, an unknown encoding.
struct SqliteError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class SqlitePages {
 public:
  // Throws std::system_error and SqliteError.
  explicit SqlitePages(const std::string& path);
  ~SqlitePages();
  // The same file, with stretches of its own: for another thread. Throws std::system_error.
  SqlitePages(const SqlitePages& other);
  SqlitePages& operator=(const SqlitePages&) = delete;

  static constexpr std::size_t padding = 8;  // bytes that may be read past any page

  // Pages are numbered from 1; valid until the next call but `kept_stretches` - 1. Throws.
  const std::uint8_t* page(std::uint32_t number);

  std::size_t page_bytes() const noexcept { return page_bytes_; }
  // Without what the database reserves at the end of each.
  std::size_t usable_bytes() const noexcept { return usable_bytes_; }
  std::uint32_t count() const noexcept { return count_; }

 private:
  static constexpr std::size_t kept_stretches = 8;
  static constexpr std::size_t stretch_bytes = std::size_t{1} << 18;  // at least a page
  struct Stretch {
    std::uint32_t number = 0xFFFFFFFF;
    std::uint64_t used = 0;
    std::vector<std::uint8_t> bytes;
  };

  void read(std::uint64_t offset, std::uint8_t* to, std::size_t bytes);

  int file_ = -1;
  std::size_t page_bytes_ = 0, usable_bytes_ = 0;
  std::uint32_t pages_in_stretch_ = 0, count_ = 0;
  std::uint64_t uses_ = 0;
  std::array<Stretch, kept_stretches> stretches_;
};

}  // namespace nvspan::reader
