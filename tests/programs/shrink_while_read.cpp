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

bool is_chosen(std::FILE* file) {
  const char* chosen = std::getenv("SHRINK_FILE");
  char path[4096] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(::fileno(file));
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

extern "C" std::size_t fread(void* to, std::size_t size, std::size_t count, std::FILE* file) {
  using Read = std::size_t (*)(void*, std::size_t, std::size_t, std::FILE*);
  static const auto read = reinterpret_cast<Read>(::dlsym(RTLD_NEXT, "fread"));
  static bool is_short = false;
  const long begin = std::ftell(file);
  const std::size_t done = read(to, size, count, file);
  if (!is_chosen(file)) return done;
  const char* path = std::getenv("SHRINK_FILE");
  const char* whole = std::getenv("SHRINK_BACK");
  if (is_short && done == 0 && whole != nullptr) put_back(path, whole);
  is_short = false;
  const std::size_t left = done > page ? next_size() : 0;
  const auto from = static_cast<std::size_t>(begin);
  if (left <= from || left >= from + done) return done;
  if (::truncate(path, static_cast<off_t>(left)) != 0) std::abort();
  is_short = true;
  const std::size_t end = std::min(from + done, (left + page - 1) / page * page);
  std::memset(static_cast<char*>(to) + (left - from), 0, end - left);
  std::fseek(file, static_cast<long>(end), SEEK_SET);
  return end - from;
}
