// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/live/writer_process.hpp"

#include "core/os/clock.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace nvspan::reader {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line, '\0');
  return line;
}

// When the process with this number began, in ns of CLOCK_MONOTONIC, or up to 10 ms before; 0: it
// is not known. The times that a machine has slept are taken for those before.
std::uint64_t start_of(std::uint32_t pid) {
  const std::string stat = text_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  constexpr int start_field = 20;  // after the name
  for (int i = 0; i < start_field; ++i) fields >> field;
  const auto second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  const std::uint64_t since_boot =
      std::strtoull(field.c_str(), nullptr, 10) * (1'000'000'000 / second);
  const std::uint64_t awake = core::monotonic_ns();
  const std::uint64_t asleep = core::clock_ns(CLOCK_BOOTTIME) - awake;
  return since_boot > asleep ? since_boot - asleep : 0;
}

}  // namespace

bool is_of_this_boot(const record::FileHeader& header) {
  static const std::string own = text_of("/proc/sys/kernel/random/boot_id");
  const std::size_t size = ::strnlen(header.boot_id, sizeof header.boot_id);
  return size != 0 && own.compare(0, size, header.boot_id, size) == 0;
}

bool is_writer_gone(const record::FileHeader& header) {
  return (header.boot_id[0] != '\0' && !is_of_this_boot(header)) ||
         (::kill(static_cast<pid_t>(header.pid), 0) != 0 && errno == ESRCH) ||
         start_of(header.pid) > header.first.monotonic;
}

}  // namespace nvspan::reader
