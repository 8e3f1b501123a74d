// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/chunks/process_header.hpp"

#include "record/file/file_name.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace nvspan::record {
namespace {

void read_file(const char* path, char* out, std::size_t size) noexcept {
  std::memset(out, 0, size);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  std::size_t have = 0;
  while (have + 1 < size) {
    const ssize_t count = ::read(fd, out + have, size - 1 - have);
    if (count <= 0) break;
    have += static_cast<std::size_t>(count);
  }
  ::close(fd);
}

}  // namespace

void describe_process(FileHeader& header) noexcept {
  header.pid = static_cast<std::uint32_t>(::getpid());
  header.parent_pid = static_cast<std::uint32_t>(::getppid());
  const RankOfProcess rank = rank_of_process();
  header.rank = rank.rank;
  header.local_rank = rank.local_rank;
  header.world_size = rank.world_size;
  host_name(header.host, sizeof header.host);
  read_file("/proc/sys/kernel/random/boot_id", header.boot_id, sizeof header.boot_id);
  const char* command = std::getenv("NVSPAN_RECORD_COMMAND");
  if (command == nullptr || std::strcmp(command, "0") != 0) {
    read_file("/proc/self/cmdline", header.command, sizeof header.command);
  }
  header.command_bytes = sizeof header.command;
  while (header.command_bytes != 0 && header.command[header.command_bytes - 1] == '\0') {
    --header.command_bytes;
  }
}

}  // namespace nvspan::record
