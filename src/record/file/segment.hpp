// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/immovable.hpp"
#include "core/memory/page_pool.hpp"
#include "record/file/fault_guard.hpp"
#include "record/file/format.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::record {

// The file of one process's recording, grown in extents that are mapped and never move. Disk space
// is reserved before it is mapped, so a full disk is an error here and not a SIGBUS later. A forked
// child does not inherit the mappings. No descriptor stays open: a program that closes "all"
// descriptors would hand its number to another file. Guarded by its owner's lock.
class Segment : public core::Immovable {
 public:
  explicit Segment(core::PagePool& pool) : path_(pool), extents_(pool) {}

  // Creates the file. Existing files are never overwritten: "-1", "-2", ... goes before the suffix.
  // False, with error() set: it could not be created.
  bool create(std::string_view path);
  bool is_open() const noexcept { return header_ != nullptr; }
  FileHeader* header() const noexcept { return header_; }
  const char* path() const noexcept { return path_.c_str(); }
  int error() const noexcept { return error_; }

  // Whether another process cut the file to less than was written. A fault shows it at once; the
  // file's size shows it at this call.
  bool is_cut() const noexcept { return cut_ || fault_seen(); }
  void check_size() noexcept;
  // Writes over the beginning of the file, however short it is. False: the file no longer exists.
  bool rewrite(const FileHeader& header) noexcept;

  // `bytes` of zeros, null when the file cannot grow: error() says why.
  char* allocate(std::size_t bytes) noexcept;
  // The bytes that allocate() left unused before those it returned: no chunk lies there.
  struct Hole {
    char* start = nullptr;
    std::size_t bytes = 0;
  };
  Hole take_hole() noexcept {
    const Hole taken = hole_;
    hole_ = Hole{};
    return taken;
  }
  std::uint64_t offset_of(const void* at) const noexcept;  // in the file
  std::uint64_t end() const noexcept {
    return extents_.empty() ? 0 : extents_.back().offset + extents_.back().used;
  }
  bool ends_at(const char* end) const noexcept {
    return !extents_.empty() && extents_.back().start + extents_.back().used == end;
  }
  // Gives back what allocate() returned last, from `end` on, if that was the last.
  void shrink_last(const char* end) noexcept;

  void trim() noexcept;    // cuts off what was never allocated
  void close() noexcept;   // trims and unmaps
  void forget() noexcept;  // in a forked child, where nothing of it is mapped

 private:
  struct Extent {
    char* start;
    std::size_t bytes;
    std::uint64_t offset;
    std::size_t used;
    std::size_t mapped;
  };

  int open_again() noexcept;
  bool grow(std::size_t bytes) noexcept;
  bool reserve(int fd, std::uint64_t offset, std::size_t bytes) noexcept;

  core::PoolString path_;
  core::PoolVector<Extent> extents_;
  FileHeader* header_ = nullptr;
  Hole hole_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;  // the size that the file was given last
  bool cut_ = false;
  std::size_t next_extent_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  int error_ = 0;
};

}  // namespace nvspan::record
