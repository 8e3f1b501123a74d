// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Preloaded into a process that reads a file: another one shortens the file between the kernel's
// look at its length and the copy of its page, so that the reader gets zeros to the end of the
// page.
//
// SHRINK_FILE: its path. SHRINK_TO: a size for each time that the file is read. SHRINK_BACK: a copy
// of the file, which it becomes again when the reader has found its new end.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t page = 4096;

bool is_chosen(int fd) {
  const char* chosen = std::getenv("SHRINK_FILE");
  char path[4096] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return chosen != nullptr && ::readlink(link.c_str(), path, sizeof path - 1) > 0 &&
         std::strcmp(path, chosen) == 0;
}

// 0: no more.
std::size_t next_size() {
  static const char* at = std::getenv("SHRINK_TO");
  if (at == nullptr || *at == '\0') return 0;
  char* end = nullptr;
  const std::size_t size = std::strtoul(at, &end, 10);
  at = *end == ',' ? end + 1 : end;
  return size;
}

void put_back(const char* path, const char* whole) {
  std::FILE* from = std::fopen(whole, "rb");
  std::FILE* to = std::fopen(path, "r+b");
  if (from == nullptr || to == nullptr) std::abort();
  for (int byte = std::getc(from); byte != EOF; byte = std::getc(from)) std::putc(byte, to);
  std::fclose(from);
  std::fclose(to);
}

}  // namespace

extern "C" ssize_t pread(int fd, void* to, std::size_t bytes, off_t offset) {
  using Read = ssize_t (*)(int, void*, std::size_t, off_t);
  static const auto read = reinterpret_cast<Read>(::dlsym(RTLD_NEXT, "pread"));
  static bool is_short = false;
  const ssize_t count = read(fd, to, bytes, offset);
  if (count < 0 || !is_chosen(fd)) return count;
  const char* path = std::getenv("SHRINK_FILE");
  const char* whole = std::getenv("SHRINK_BACK");
  if (is_short && count == 0 && whole != nullptr) put_back(path, whole);
  is_short = false;
  const auto done = static_cast<std::size_t>(count);
  const std::size_t left = done > page ? next_size() : 0;
  const auto from = static_cast<std::size_t>(offset);
  if (left <= from || left >= from + done) return count;
  if (::truncate(path, static_cast<off_t>(left)) != 0) std::abort();
  is_short = true;
  const std::size_t end = std::min(from + done, (left + page - 1) / page * page);
  std::memset(static_cast<char*>(to) + (left - from), 0, end - left);
  return static_cast<ssize_t>(end - from);
}

extern "C" ssize_t pread64(int fd, void* to, std::size_t bytes, off_t offset) {
  return pread(fd, to, bytes, offset);
}
