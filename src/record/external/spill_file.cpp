// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/external/spill_file.hpp"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

namespace nvspan::record {
namespace {

[[noreturn]] void fail(const char* what, int error = errno) {
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

void write_all(int fd, const void* data, std::size_t bytes, std::uint64_t offset) {
  const auto* at = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t written = ::pwrite(fd, at, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    if (written == 0) fail("write", ENOSPC);
    at += written;
    bytes -= static_cast<std::size_t>(written);
    offset += static_cast<std::uint64_t>(written);
  }
}

SpillFile::~SpillFile() {
  if (fd_ >= 0) ::close(fd_);
}

void SpillFile::open() {
  std::string name = directory_ + "/.nvspan-spill-XXXXXX";
  std::vector<char> text(name.begin(), name.end());
  text.push_back('\0');
  fd_ = ::mkostemp(text.data(), O_CLOEXEC);
  if (fd_ < 0) fail("create a temporary file");
  ::unlink(text.data());
}

void SpillFile::append(const std::uint64_t* words, std::size_t count) {
  if (fd_ < 0) open();
  write_all(fd_, words, count * sizeof *words, size_);
  size_ += count * sizeof *words;
}

void SpillFile::read(std::uint64_t offset, std::uint64_t* words, std::size_t count) const {
  auto* at = reinterpret_cast<char*>(words);
  std::size_t bytes = count * sizeof *words;
  while (bytes != 0) {
    const ssize_t got = ::pread(fd_, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("read a temporary file", got < 0 ? errno : EIO);
    at += got;
    bytes -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
}

void SpillFile::clear() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  size_ = 0;
  spare_.clear();
}

}  // namespace nvspan::record
