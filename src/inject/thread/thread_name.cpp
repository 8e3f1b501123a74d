// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/thread/thread_name.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

namespace nvspan::inject {

std::size_t system_thread_name(char* name, std::size_t room) noexcept {
  constexpr std::size_t longest = 16;  // TASK_COMM_LEN, with a zero
  if (::syscall(SYS_gettid) == ::getpid()) return 0;
  char own[longest] = {};
  char program[longest] = {};
  if (::prctl(PR_GET_NAME, own) != 0) return 0;
  const int file = ::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t read = ::read(file, program, sizeof program);
  ::close(file);
  if (read <= 0) return 0;
  program[read - 1] = '\0';  // in place of the line's end
  const std::string_view found(own);
  return found == program ? 0 : found.copy(name, room);
}

}  // namespace nvspan::inject
