// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/sqlite/pages.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

namespace nvspan::reader {
namespace {

constexpr std::size_t header_bytes = 100;
constexpr std::size_t page_size_at = 16, version_at = 18, reserved_at = 20, encoding_at = 56;
constexpr char magic[16] = "SQLite format 3";

bool has_content(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size != 0;
}

}  // namespace

SqlitePages::SqlitePages(const std::string& path)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category());
  try {
    std::array<std::uint8_t, header_bytes> header{};
    read(0, header.data(), header.size());
    if (std::memcmp(header.data(), magic, sizeof magic) != 0) {
      throw SqliteError("no SQLite database");
    }
    page_bytes_ = static_cast<std::size_t>(header[page_size_at]) << 8 | header[page_size_at + 1];
    if (page_bytes_ == 1) page_bytes_ = 65536;
    if (page_bytes_ < 512 || (page_bytes_ & (page_bytes_ - 1)) != 0) {
      throw SqliteError("damaged: pages of " + std::to_string(page_bytes_) + " bytes");
    }
    usable_bytes_ = page_bytes_ - header[reserved_at];
    if (usable_bytes_ < 480) throw SqliteError("damaged: pages without room");
    if (header[encoding_at + 3] > 1) throw SqliteError("text in UTF-16");
    // What SQLite has not yet taken from a log belongs to the database.
    if ((header[version_at + 1] == 2 && has_content(path + "-wal")) ||
        has_content(path + "-journal")) {
      throw SqliteError("a log next to the database");
    }
    const off_t end = ::lseek(file_, 0, SEEK_END);
    if (end < 0) throw std::system_error(errno, std::generic_category());
    const auto bytes = static_cast<std::uint64_t>(end);
    count_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        bytes / page_bytes_, std::numeric_limits<std::uint32_t>::max() - 1));
    pages_in_stretch_ =
        static_cast<std::uint32_t>(std::max<std::size_t>(stretch_bytes / page_bytes_, 1));
  } catch (...) {
    ::close(file_);
    throw;
  }
}

SqlitePages::SqlitePages(const SqlitePages& other)
    : file_(::fcntl(other.file_, F_DUPFD_CLOEXEC, 0)),
      page_bytes_(other.page_bytes_),
      usable_bytes_(other.usable_bytes_),
      pages_in_stretch_(other.pages_in_stretch_),
      count_(other.count_) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category());
}

SqlitePages::~SqlitePages() { ::close(file_); }

void SqlitePages::read(std::uint64_t offset, std::uint8_t* to, std::size_t bytes) {
  while (bytes != 0) {
    const ssize_t got = ::pread(file_, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::system_error(errno, std::generic_category());
    if (got == 0) throw SqliteError("cut: it has no byte " + std::to_string(offset));
    to += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

const std::uint8_t* SqlitePages::page(std::uint32_t number) {
  if (number == 0 || number > count_) {
    throw SqliteError("damaged: there is no page " + std::to_string(number));
  }
  const std::uint32_t wanted = (number - 1) / pages_in_stretch_;
  Stretch* oldest = &stretches_[0];
  Stretch* found = nullptr;
  for (Stretch& stretch : stretches_) {
    if (stretch.number == wanted) found = &stretch;
    if (stretch.used < oldest->used) oldest = &stretch;
  }
  if (found == nullptr) {
    found = oldest;
    found->number = 0xFFFFFFFF;
    const std::uint32_t first = wanted * pages_in_stretch_;
    const std::size_t bytes = std::min(pages_in_stretch_, count_ - first) * page_bytes_;
    found->bytes.resize(bytes + padding);
    read(std::uint64_t{first} * page_bytes_, found->bytes.data(), bytes);
    found->number = wanted;
  }
  found->used = ++uses_;
  return found->bytes.data() + (number - 1) % pages_in_stretch_ * page_bytes_;
}

}  // namespace nvspan::reader
