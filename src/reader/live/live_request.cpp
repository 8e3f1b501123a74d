// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/live/live_request.hpp"

#include "core/os/clock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nvspan::reader {
namespace {

// The file, mapped for writing and locked against other requests.
struct Mapped {
  int fd = -1;
  char* start = nullptr;
  std::size_t bytes = 0;

  Mapped() = default;
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  Mapped(Mapped&&) = delete;
  Mapped& operator=(Mapped&&) = delete;
  ~Mapped() {
    if (start != nullptr) ::munmap(start, bytes);
    if (fd >= 0) ::close(fd);
  }
};

bool open_locked(const std::string& path, Mapped& file, std::string& problem) {
  file.fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
  struct stat status = {};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0 || ::flock(file.fd, LOCK_EX) != 0) {
    problem = std::strerror(errno);
    return false;
  }
  file.bytes = static_cast<std::size_t>(status.st_size);
  if (file.bytes < record::file_header_bytes) {
    problem = "it is not a recording of nvspan";
    return false;
  }
  void* start = ::mmap(nullptr, file.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0);
  if (start == MAP_FAILED) {
    problem = std::strerror(errno);
    return false;
  }
  file.start = static_cast<char*>(start);
  return true;
}

void wake_threads(const Mapped& file, const record::LiveSection& live) {
  std::uint64_t offset = live.blocks.load(std::memory_order_acquire);
  while (offset != 0 && offset + sizeof(record::ChunkHeader) <= file.bytes) {
    record::ChunkHeader header = {};
    std::memcpy(&header, file.start + offset, sizeof header);
    if (header.magic != record::chunk_magic || header.size < record::live_blocks_start ||
        offset + header.size > file.bytes || header.before >= offset) {
      return;
    }
    auto* blocks =
        reinterpret_cast<record::LiveBlock*>(file.start + offset + record::live_blocks_start);
    const std::size_t count = (header.size - record::live_blocks_start) / sizeof(record::LiveBlock);
    for (std::size_t i = 0; i < count; ++i) blocks[i].asked.store(1);
    offset = header.before;
  }
}

}  // namespace

LiveAnswer ask(const std::string& path, const LiveRequest& request, std::uint64_t wait,
               std::string& problem) {
  Mapped file;
  if (!open_locked(path, file, problem)) return LiveAnswer::failed;
  const auto& header = *reinterpret_cast<const record::FileHeader*>(file.start);
  auto& live = *reinterpret_cast<record::LiveSection*>(file.start + record::live_offset);
  if (header.magic != record::file_magic || live.magic.load() != record::live_magic) {
    problem = "it is not a recording that takes requests";
    return LiveAnswer::failed;
  }
  const std::uint64_t number = live.asked.load() + 1;
  live.wanted_mode.store(request.mode);
  live.wanted_ring.store(request.ring_bytes);
  live.asked.store(number);
  wake_threads(file, live);
  const std::uint64_t until = core::monotonic_ns() + wait;
  for (;;) {
    if (live.obeyed.load() >= number) return LiveAnswer::obeyed;
    if (live.refused.load() >= number) return LiveAnswer::refused;
    if (core::monotonic_ns() >= until) return LiveAnswer::waiting;
    const timespec pause = {0, 1000 * 1000};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace nvspan::reader
