// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/chunks/open_file.hpp"

#include "record/file/checksum.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace nvspan::reader {
namespace {

constexpr const char* no_recording = "it is not a recording of nvspan";

}  // namespace

bool is_chunk_header(const record::ChunkHeader& header, std::uint64_t offset) noexcept {
  return header.magic == record::chunk_magic && header.type >= 1 &&
         header.type <= record::last_chunk_type && header.size >= sizeof header &&
         header.size % record::chunk_alignment == 0 && offset % record::chunk_alignment == 0 &&
         header.place == static_cast<std::uint32_t>(offset / record::chunk_alignment) &&
         header.header_sum == record::crc32c(&header, record::header_sum_offset);
}

OpenFile::~OpenFile() {
  close();
  unmap();
}

void OpenFile::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void OpenFile::unmap() noexcept {
  if (mapped_.size() != 0) ::munmap(const_cast<char*>(mapped_.data()), mapped_.size());
}

bool OpenFile::open(const std::string& path, std::string& problem, const FileTerms& terms) {
  const int flags = terms.writable ? O_RDWR | O_NOFOLLOW : O_RDONLY;
  const auto fail = [&](const char* why) {
    problem = why;
    close();
    return false;
  };
  close();
  fd_ = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  struct stat status = {};
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) return fail(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return fail(std::strerror(EISDIR));
  if (!S_ISREG(status.st_mode)) return fail(no_recording);
  if (terms.writable && status.st_uid != ::geteuid() && ::geteuid() != 0) {
    return fail(std::strerror(EPERM));
  }
  return static_cast<std::uint64_t>(status.st_size) >= terms.least || fail(no_recording);
}

std::uint64_t OpenFile::size() const noexcept {
  struct stat status = {};
  return ::fstat(fd_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::size_t OpenFile::read_some(std::uint64_t offset, void* to, std::size_t bytes) const noexcept {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  std::size_t have = 0;
  errno = 0;
  while (have < bytes && offset <= largest - have) {
    const ssize_t count = ::pread(fd_, static_cast<char*>(to) + have, bytes - have,
                                  static_cast<off_t>(offset + have));
    if (count <= 0) break;
    have += static_cast<std::size_t>(count);
  }
  return have;
}

FileSpan OpenFile::bytes(std::uint64_t offset, std::uint64_t most) {
  if (words_.size() * record::word < most) {
    most = std::min(most, size_from(offset));
    words_.resize(std::max<std::size_t>(words_.size(), most / record::word + 1));
  }
  return {words_.data(), read_some(offset, words_.data(), most)};
}

std::uint64_t OpenFile::next_data(std::uint64_t offset) const noexcept {
  const off_t found = ::lseek(fd_, static_cast<off_t>(offset), SEEK_DATA);
  if (found < 0) return errno == ENXIO ? size() : offset;
  return static_cast<std::uint64_t>(found) & ~std::uint64_t{record::chunk_alignment - 1};
}

bool OpenFile::map(std::string& problem, const FileTerms& terms) {
  const std::uint64_t size = this->size();
  const int access = terms.writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const mapped =
      size < terms.least ? MAP_FAILED : ::mmap(nullptr, size, access, MAP_SHARED, fd_, 0);
  if (mapped == MAP_FAILED) {
    problem = size < terms.least ? no_recording : std::strerror(errno);
    return false;
  }
  unmap();
  mapped_ = FileSpan(mapped, size);
  return true;
}

bool read_file_header(const std::string& path, record::FileHeader& header) {
  OpenFile file;
  std::string problem;
  return file.open(path, problem) && file.read(0, &header, sizeof header) &&
         header.magic == record::file_magic;
}

}  // namespace nvspan::reader
