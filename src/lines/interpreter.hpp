// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lines/layout.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nvspan::lines {

using Address = std::uintptr_t;

// The code objects that were freed, told by the interpreter: the newest ones, and how many in all.
// Whoever frees one holds the GIL, so there is one writer at a time.
struct Deaths {
  static constexpr std::uint64_t kept = 4096;

  std::atomic<std::uint64_t> count{0};
  std::atomic<Address> addresses[kept] = {};

  void add(Address address) noexcept {
    const std::uint64_t number = count.load(std::memory_order_relaxed);
    addresses[number % kept].store(address, std::memory_order_relaxed);
    count.store(number + 1, std::memory_order_release);
  }
  Address operator[](std::uint64_t number) const noexcept {
    return addresses[number % kept].load(std::memory_order_relaxed);
  }
};

// The interpreter of this process, as its extension module describes it to another library.
struct Interpreter {
  std::uint32_t size = sizeof(Interpreter);  // differs where the two are of different builds
  nvspan_layout layout = {};
  const Deaths* deaths = nullptr;  // null: nobody tells of them, and memory is compared
};

// A frame as the sampler sees it, to be compared with what Python says.
struct SeenFrame {
  Address code;
  const char* file;
  const char* name;
  std::int32_t first_line;
  std::uint32_t line;
  const char* c_function;  // that the innermost one called; empty: not known
};

template <typename T>
T value_at(const char* bytes, std::int32_t offset) noexcept {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

// A field of what is at an address.
constexpr Address moved(Address address, std::int32_t offset) noexcept {
  return address + static_cast<Address>(static_cast<std::int64_t>(offset));
}
constexpr std::size_t pointer = sizeof(Address);

// What a pointer to an object or frame can be.
constexpr bool is_plausible(Address address) noexcept {
  constexpr Address lowest = 1 << 16;
  constexpr Address beyond_user_space = Address{1} << 47;
  return address >= lowest && address < beyond_user_space && address % 8 == 0;
}

// A freed object has a count of zero, or the allocator's link in its place.
inline bool has_references(const nvspan_layout& layout, const char* object) noexcept {
  const auto count = value_at<std::uint64_t>(object, 0);
  return count != 0 && (count & layout.dead_references) == 0;
}

}  // namespace nvspan::lines
