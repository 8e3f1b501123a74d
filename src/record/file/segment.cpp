// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/file/segment.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace nvspan::record {
namespace {

// Small, for a process that is killed leaves what it never used of its last extent, and pools of
// short processes are many.
constexpr std::size_t first_extent = 16 * 1024;
constexpr std::size_t largest_extent = 64 * 1024 * 1024;
constexpr int most_names = 100000;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// For file systems that cannot reserve space: writing it does the same.
bool write_zeros(int fd, std::uint64_t offset, std::size_t bytes) noexcept {
  static const char zeros[4096] = {};
  while (bytes != 0) {
    const ssize_t count =
        ::pwrite(fd, zeros, std::min(bytes, sizeof zeros), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    offset += static_cast<std::size_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

bool Segment::create(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || (slash != std::string_view::npos && dot < slash + 2)) {
    dot = path.size();
  }
  int fd = -1;
  for (int number = 0; number < most_names; ++number) {
    path_.assign(path.data(), path.size());
    if (number != 0) {
      char text[16];
      std::snprintf(text, sizeof text, "-%d", number);
      path_.insert(dot, text);
    }
    fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd >= 0 || errno != EEXIST) break;
  }
  struct stat status = {};
  if (fd < 0 || ::fstat(fd, &status) != 0) {
    error_ = errno;
    if (fd >= 0) ::close(fd);
    return false;
  }
  ::close(fd);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  file_bytes_ = 0;
  written_bytes_ = 0;
  cut_ = false;
  clear_fault();
  guard_faults();
  next_extent_ = first_extent;
  extents_.clear();
  if (!grow(first_extent)) {
    ::unlink(path_.c_str());
    return false;
  }
  header_ = reinterpret_cast<FileHeader*>(extents_.back().start);
  extents_.back().used = file_header_bytes;
  return true;
}

int Segment::open_again() noexcept {
  const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
  if (fd < 0) return -1;
  struct stat status = {};
  if (::fstat(fd, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_) {
    if (static_cast<std::uint64_t>(status.st_size) < written_bytes_) cut_ = true;
    return fd;
  }
  ::close(fd);
  errno = ESTALE;
  return -1;
}

bool Segment::reserve(int fd, std::uint64_t offset, std::size_t bytes) noexcept {
  // Going over this limit raises SIGXFSZ, which ends most programs.
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      offset + bytes > limit.rlim_cur) {
    errno = EFBIG;
    return false;
  }
  int result = 0;
  do {
    result = ::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return true;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
  return write_zeros(fd, offset, bytes);
}

bool Segment::grow(std::size_t bytes) noexcept {
  bytes = round_up(bytes, page);
  const int fd = open_again();
  if (fd < 0) {
    error_ = errno;
    return false;
  }
  if (cut_) {
    ::close(fd);
    error_ = ENODATA;
    return false;
  }
  std::size_t wanted = std::max(bytes, round_up(next_extent_, page));
  bool grown = false;
  for (;;) {
    grown = reserve(fd, file_bytes_, wanted);
    if (grown || wanted == bytes) break;
    wanted = bytes;  // the last of the space
  }
  if (!grown) {
    error_ = errno;
    [[maybe_unused]] const int ignored = ::ftruncate(fd, static_cast<off_t>(file_bytes_));
    ::close(fd);
    return false;
  }
  void* start = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                       static_cast<off_t>(file_bytes_));
  const int mapping_error = errno;
  ::close(fd);
  if (start == MAP_FAILED) {
    error_ = mapping_error;
    return false;
  }
  ::madvise(start, wanted, MADV_DONTFORK);
  bool listed = guard_mapping(start, wanted);
  try {
    if (listed)
      extents_.push_back(Extent{static_cast<char*>(start), wanted, file_bytes_, 0, wanted});
  } catch (...) {
    forget_mapping(start);
    listed = false;
  }
  if (!listed) {
    ::munmap(start, wanted);
    error_ = ENOMEM;
    return false;
  }
  file_bytes_ += wanted;
  written_bytes_ = file_bytes_;
  next_extent_ = std::min(2 * next_extent_, largest_extent);
  return true;
}

char* Segment::allocate(std::size_t bytes) noexcept {
  if (extents_.empty()) {
    error_ = EBADF;
    return nullptr;
  }
  bytes = round_up(bytes, chunk_alignment);
  if (extents_.back().bytes - extents_.back().used < bytes) {
    if (!grow(bytes)) return nullptr;
    Extent& before = extents_[extents_.size() - 2];
    const auto room = static_cast<std::size_t>(extents_.back().offset - before.offset);
    hole_ = Hole{before.start + before.used, room - before.used};
    before.used = room;
  }
  Extent& extent = extents_.back();
  char* found = extent.start + extent.used;
  extent.used += bytes;
  // One fault for many pages, here rather than in the program's ranges. Older kernels refuse.
#ifdef MADV_POPULATE_WRITE
  constexpr int populate = MADV_POPULATE_WRITE;
#else
  constexpr int populate = 23;
#endif
  const auto first = reinterpret_cast<std::uintptr_t>(found) & ~(page - 1);
  const auto last = reinterpret_cast<std::uintptr_t>(found) + bytes;
  ::madvise(reinterpret_cast<void*>(first), round_up(last - first, page), populate);
  return found;
}

std::uint64_t Segment::offset_of(const void* at) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  for (std::size_t i = extents_.size(); i-- > 0;) {
    const auto start = reinterpret_cast<std::uintptr_t>(extents_[i].start);
    if (address >= start && address - start < extents_[i].mapped) {
      return extents_[i].offset + (address - start);
    }
  }
  return 0;
}

void Segment::shrink_last(const char* end) noexcept {
  if (extents_.empty()) return;
  Extent& extent = extents_.back();
  if (end < extent.start || end > extent.start + extent.used) return;
  extent.used = round_up(static_cast<std::size_t>(end - extent.start), chunk_alignment);
}

// What is beyond the end stays mapped, and is touched only after grow() has reserved it again.
void Segment::trim() noexcept {
  if (extents_.empty()) return;
  Extent& extent = extents_.back();
  const std::uint64_t end = extent.offset + extent.used;
  const std::size_t kept = round_up(extent.used, page);
  const int fd = open_again();
  if (fd < 0) return;
  if (cut_) {
    ::close(fd);
    return;
  }
  if (::ftruncate(fd, static_cast<off_t>(end)) == 0) {
    // The mapping of whole pages goes on to hold; new chunks come from new extents.
    file_bytes_ = extent.offset + kept;
    extent.bytes = extent.used;
    written_bytes_ = end;
  }
  ::close(fd);
}

void Segment::check_size() noexcept {
  const int fd = open_again();
  if (fd >= 0) ::close(fd);
}

bool Segment::rewrite(const FileHeader& header) noexcept {
  const int fd = open_again();
  if (fd < 0) return false;
  alignas(FileHeader) char bytes[file_header_bytes] = {};
  std::memcpy(bytes, &header, sizeof header);
  const bool done = ::pwrite(fd, bytes, sizeof bytes, 0) == static_cast<ssize_t>(sizeof bytes);
  ::close(fd);
  return done;
}

void Segment::close() noexcept {
  trim();
  for (const Extent& extent : extents_) {
    forget_mapping(extent.start);
    ::munmap(extent.start, extent.mapped);
  }
  extents_.clear();
  header_ = nullptr;
  unguard_faults();
}

void Segment::forget() noexcept {
  extents_.clear();
  header_ = nullptr;
}

}  // namespace nvspan::record
