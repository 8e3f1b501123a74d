// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The predefined types of payload entries, read from bytes.

#pragma once

#include "trace/payload/payload_decoder.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::trace {

// `bytes` has the type's size. Sets kind and number; of 128-bit integers too large for 64 bits the
// bytes.
void read_number(std::uint64_t type, std::string_view bytes, PayloadValue& value);

// UTF-16, UTF-32 or wide characters up to the first zero, as UTF-8.
void add_wide(std::string_view bytes, std::uint64_t unit, core::PoolString& out);

// The digits of `number`, in `room`, which has a place for all of them.
template <std::size_t size>
std::string_view index_text(std::uint64_t number, char (&room)[size]) {
  std::size_t at = size;
  do {
    room[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0 && at != 0);
  return std::string_view(room + at, size - at);
}

}  // namespace nvspan::trace
