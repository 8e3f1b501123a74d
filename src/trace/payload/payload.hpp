// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A payload as a call carries it: one number, as bits of a type, or pieces of bytes of a schema.

#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace nvspan::trace {

enum class PayloadType : std::uint8_t { none, u64, i64, f64, u32, i32, f32, ext, unknown };

// Calls `use` with the number, as a value of its own type. False: the type is that of no number.
template <typename Use>
bool use_scalar(PayloadType type, std::uint64_t bits, Use&& use) {
  const auto as = [bits](auto number) {
    std::memcpy(&number, &bits, sizeof number);
    return number;
  };
  switch (type) {
    case PayloadType::u64:
      use(bits);
      return true;
    case PayloadType::i64:
      use(as(std::int64_t{}));
      return true;
    case PayloadType::f64:
      use(as(double{}));
      return true;
    case PayloadType::u32:
      use(as(std::uint32_t{}));
      return true;
    case PayloadType::i32:
      use(as(std::int32_t{}));
      return true;
    case PayloadType::f32:
      use(as(float{}));
      return true;
    case PayloadType::none:
    case PayloadType::ext:
    case PayloadType::unknown:
      break;
  }
  return false;
}

// One piece of an extended payload. `data` has no address when it was not copied; `error` says why.
struct PayloadBlob {
  std::uint64_t schema_id = 0;
  std::uint64_t size = 0;
  std::string_view data;
  const char* error = nullptr;
};

// The same, as the decoder takes it.
struct PayloadPiece {
  std::uint64_t schema = 0;
  std::string_view data;
};

}  // namespace nvspan::trace
