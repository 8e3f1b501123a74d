// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/live/live_request.hpp"

#include "core/os/clock.hpp"
#include "reader/chunks/open_file.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace nvspan::reader {
namespace {

void wake_threads(OpenFile& file, std::uint64_t newest) {
  file.each_chunk(newest, [&](std::uint64_t offset, const record::ChunkHeader& header) {
    const std::size_t count = record::live_blocks_in(header);
    auto* blocks = file.writable_at<record::LiveBlock>(offset + record::live_blocks_start, count);
    for (std::size_t i = 0; blocks != nullptr && i < count; ++i) blocks[i].asked.store(1);
    return true;
  });
}

void pause() {
  const timespec millisecond = {0, 1000 * 1000};
  ::nanosleep(&millisecond, nullptr);
}

// Who has locked the file; 0: somebody that the system does not show. Lines of /proc/locks are like
// "1: FLOCK ADVISORY WRITE 4711 fe:01:12345 0 EOF": a process, and the file's device and inode.
int holder_of(int fd) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return 0;
  const std::string end = ":" + std::to_string(status.st_ino);
  std::ifstream locks("/proc/locks");
  std::string line, number, kind, how, access, place;
  while (std::getline(locks, line)) {
    int process = 0;
    std::istringstream words(line);
    words >> number >> kind >> how >> access >> process >> place;
    const bool is_it =
        place.size() > end.size() && place.compare(place.size() - end.size(), end.size(), end) == 0;
    if (kind == "FLOCK" && is_it) return process;
  }
  return 0;
}

// Requests take turns. Whoever may read the file can lock it.
bool take_turn(int fd, std::uint64_t until, std::string& problem) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      problem = std::strerror(errno);
      return false;
    }
    if (core::monotonic_ns() >= until) {
      const int holder = holder_of(fd);
      problem = holder == 0 ? "another process" : "process " + std::to_string(holder);
      problem += " has locked it, and no request gets through";
      return false;
    }
    pause();
  }
  return true;
}

}  // namespace

LiveAnswer ask(const std::string& path, const LiveRequest& request, std::uint64_t wait,
               std::string& problem) {
  FileTerms terms;
  terms.writable = true;
  terms.least = record::file_header_bytes;
  OpenFile file;
  if (!file.open(path, problem, terms)) return LiveAnswer::failed;
  const std::uint64_t until = core::monotonic_ns() + wait;
  if (!take_turn(file.fd(), until, problem)) return LiveAnswer::failed;
  if (!file.map(problem, terms)) return LiveAnswer::failed;
  auto& page = *file.writable_at<record::FirstPage>(0);
  record::LiveSection& live = page.live;
  if (page.header.magic != record::file_magic || live.magic.load() != record::live_magic) {
    problem = "it is not a recording that takes requests";
    return LiveAnswer::failed;
  }
  const std::uint64_t number = live.asked.load() + 1;
  live.wanted_mode.store(request.mode);
  live.wanted_ring.store(request.ring_bytes);
  live.asked.store(number);
  wake_threads(file, live.blocks.load(std::memory_order_acquire));
  for (;;) {
    if (live.obeyed.load() >= number) return LiveAnswer::obeyed;
    if (live.refused.load() >= number) return LiveAnswer::refused;
    if (core::monotonic_ns() >= until) return LiveAnswer::waiting;
    pause();
  }
}

}  // namespace nvspan::reader
