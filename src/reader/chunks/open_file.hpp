// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// How every recording is opened: a regular file, without waiting for anything.

#pragma once

#include "reader/chunks/byte_source.hpp"
#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::reader {

struct FileTerms {
  bool writable = false;    // then it must be the caller's own, and no link
  std::uint64_t least = 0;  // bytes
};

// Another process may shorten the file at any time: what reads it where it is ends there, and what
// reads its mapping raises SIGBUS.
class OpenFile : public ByteSource {
 public:
  ~OpenFile() override;

  // False: `problem` says why.
  bool open(const std::string& path, std::string& problem, const FileTerms& terms = {});
  void close() noexcept;  // its mapping stays
  // False: `problem` says why, and what was mapped before stays.
  bool map(std::string& problem, const FileTerms& terms);
  FileSpan mapped() const noexcept { return mapped_; }
  // Of one that is mapped to be written.
  template <typename T>
  T* writable_at(std::uint64_t offset, std::uint64_t count = 1) noexcept {
    return const_cast<T*>(mapped_.at<T>(offset, count));
  }
  int fd() const noexcept { return fd_; }
  std::uint64_t size() const noexcept override;  // now
  FileSpan bytes(std::uint64_t offset, std::uint64_t most) override;
  bool read(std::uint64_t offset, void* to, std::size_t bytes) override {
    return read_some(offset, to, bytes) == bytes;
  }
  // As many as there are; errno is 0 unless one could not be read.
  std::size_t read_some(std::uint64_t offset, void* to, std::size_t bytes) const noexcept;
  // From `offset` on, the first place for a chunk where anything was written; the size: none.
  std::uint64_t next_data(std::uint64_t offset) const noexcept;

 private:
  void unmap() noexcept;

  int fd_ = -1;
  FileSpan mapped_;
  std::vector<std::uint64_t> words_;  // of bytes()
};

// The header of a file, without the rest. False: it cannot be read, or is no recording.
bool read_file_header(const std::string& path, record::FileHeader& header);

}  // namespace nvspan::reader
