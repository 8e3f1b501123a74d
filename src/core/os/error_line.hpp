// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace nvspan::core {

// Writes "nvspan: " and what follows from the format as one line on standard error, in one write.
// What is past 500 bytes is cut off. It allocates nothing.
[[gnu::format(printf, 1, 2)]] inline void write_error_line(const char* format, ...) noexcept {
  char line[512] = "nvspan: ";
  constexpr std::size_t prefix = 8;
  constexpr std::size_t room = sizeof line - prefix - 1;  // one for the line's end
  std::va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(line + prefix, room, format, values);
  va_end(values);
  if (length <= 0) return;
  std::size_t size = static_cast<std::size_t>(length);
  size = prefix + (size < room ? size : room - 1);
  line[size++] = '\n';
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line, size);
}

}  // namespace nvspan::core
