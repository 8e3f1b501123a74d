// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/chunks/file_lock.hpp"

#include "core/os/clock.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace nvspan::reader {
namespace {

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

}  // namespace

bool lock_file(int fd, std::uint64_t wait, std::string& problem) {
  const std::uint64_t until = core::monotonic_ns() + wait;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      problem = std::strerror(errno);
      return false;
    }
    if (core::monotonic_ns() >= until) {
      const int holder = holder_of(fd);
      problem = holder == 0 ? "another process" : "process " + std::to_string(holder);
      problem += " has locked it";
      return false;
    }
    const timespec millisecond = {0, 1000 * 1000};
    ::nanosleep(&millisecond, nullptr);
  }
  return true;
}

}  // namespace nvspan::reader
