// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/ancestors.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nvspan::lines {
namespace {

constexpr const char* thread_name = "nvspan-lines";
constexpr const char* period_follows = "nvspan-lines:";  // a name has 15 bytes at most
constexpr std::int64_t millisecond = 1'000'000;

// False: there is no such file, or this process may not read it.
bool read_text(const char* path, char* text, std::size_t size) noexcept {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t read = ::read(fd, text, size - 1);
  ::close(fd);
  if (read <= 0) return false;
  text[read] = '\0';
  return true;
}

pid_t parent_of(pid_t pid) noexcept {
  char path[64];
  char text[512];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  if (!read_text(path, text, sizeof text)) return 0;
  const char* const name_end = std::strrchr(text, ')');
  constexpr std::size_t state = sizeof ") R" - 1;  // the name's end, a blank and a letter
  if (name_end == nullptr || std::strlen(name_end) < state) return 0;
  return static_cast<pid_t>(std::strtol(name_end + state, nullptr, 10));
}

// 0: it has no sampler, or one that has not found out.
std::int64_t period_of(pid_t pid) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", static_cast<int>(pid));
  DIR* const tasks = ::opendir(path);
  if (tasks == nullptr) return 0;
  constexpr int most = 64;  // it begins before the program's own threads
  long milliseconds = 0;
  for (int i = 0; i < most && milliseconds == 0; ++i) {
    const dirent* const task = ::readdir(tasks);
    if (task == nullptr) break;
    char comm[sizeof path + sizeof task->d_name + sizeof "comm"];
    char text[32];
    const int size = std::snprintf(comm, sizeof comm, "%s/%s/comm", path, task->d_name);
    if (size < 0 || static_cast<std::size_t>(size) >= sizeof comm) continue;
    if (task->d_name[0] == '.' || !read_text(comm, text, sizeof text)) continue;
    const std::size_t size_of_name = std::strlen(period_follows);
    if (std::strncmp(text, period_follows, size_of_name) != 0) continue;
    milliseconds = std::strtol(text + size_of_name, nullptr, 10);
  }
  ::closedir(tasks);
  return milliseconds > 0 && milliseconds < 100 ? milliseconds * millisecond : 0;
}

}  // namespace

void name_sampler_thread() noexcept { ::prctl(PR_SET_NAME, thread_name); }

void name_sampler_thread(std::int64_t period) noexcept {
  char name[32];
  const std::int64_t rounded_up = (period + millisecond - 1) / millisecond;
  std::snprintf(name, sizeof name, "%s%d", period_follows, static_cast<int>(rounded_up));
  ::prctl(PR_SET_NAME, name);
}

std::int64_t period_of_ancestors() noexcept {
  constexpr int most = 8;
  pid_t pid = ::getppid();
  for (int i = 0; i < most && pid > 1; ++i) {
    const std::int64_t period = period_of(pid);
    if (period != 0) return period;
    pid = parent_of(pid);
  }
  return 0;
}

}  // namespace nvspan::lines
