// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A file that is written in large pieces.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace nvspan::reader {

// Failing throws std::system_error.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);

  // What is appended here is written by the next of the calls below.
  std::string& buffer() noexcept { return buffer_; }
  void flush_when_full() {
    if (buffer_.size() >= buffer_bytes) flush();
  }
  void finish();  // all of it is in the file
  std::uint64_t written() const noexcept { return written_; }

 private:
  static constexpr std::size_t buffer_bytes = 1 << 20;

  void flush();

  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string buffer_;
  std::uint64_t written_ = 0;
};

}  // namespace nvspan::reader
