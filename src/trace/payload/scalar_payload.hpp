// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A payload that is one number: its bits, and which type they are of.

#pragma once

#include <cstdint>
#include <cstring>
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

}  // namespace nvspan::trace
