// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/decode/safe_memory.hpp"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace nvspan::inject {
namespace {

constexpr std::size_t page = 4096;

}  // namespace

bool read_memory(const void* address, void* out, std::size_t size) noexcept {
  if (size == 0) return true;
  if (address == nullptr) return false;
  const iovec local = {out, size};
  const iovec remote = {const_cast<void*>(address), size};
  const ssize_t count = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
  if (count >= 0) return static_cast<std::size_t>(count) == size;
  if (errno != ENOSYS && errno != EPERM) return false;
  std::memcpy(out, address, size);
  return true;
}

StringStatus read_string(const char* address, std::size_t limit, core::PoolString& out) {
  out.clear();
  if (address == nullptr) return StringStatus::absent;
  char buffer[page];
  while (out.size() < limit) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    std::size_t size = page - at % page;  // never past the page: the next one may not be there
    if (size > limit - out.size()) size = limit - out.size();
    if (!read_memory(address, buffer, size)) return StringStatus::unreadable;
    const void* end = std::memchr(buffer, 0, size);
    const std::size_t length =
        end == nullptr ? size : static_cast<std::size_t>(static_cast<const char*>(end) - buffer);
    out.append(buffer, length);
    if (end != nullptr) return StringStatus::complete;
    address += size;
  }
  return StringStatus::cut;
}

}  // namespace nvspan::inject
