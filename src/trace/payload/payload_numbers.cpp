// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "trace/payload/payload_numbers.hpp"

#include "core/text/utf8.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace nvspan::trace {
namespace {

using namespace nvtx::entry_type;
using namespace nvtx::entry_flag;
using namespace nvtx::schema_type;

template <typename T>
T load(std::string_view bytes) {
  T value{};
  bytes.copy(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

// IEEE 754 of other widths: sign, exponent, fraction.
double real_of(bool negative, int exponent, int most, double fraction) {
  const int bias = most / 2;
  double value = 0;
  if (exponent == most) {
    value = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, 1 - bias);
  } else {
    value = std::ldexp(1 + fraction, exponent - bias);
  }
  return negative ? -value : value;
}

double real_of_half(std::uint16_t bits) {
  return real_of(bits >> 15 != 0, bits >> 10 & 31, 31, (bits & 1023) / 1024.0);
}

double real_of_quad(std::string_view bytes) {
  const auto low = load<std::uint64_t>(bytes);
  const auto high = load<std::uint64_t>(bytes.substr(8));
  const double fraction =
      (static_cast<double>(high & 0xFFFFFFFFFFFF) + static_cast<double>(low) * 0x1p-64) * 0x1p-48;
  return real_of(high >> 63 != 0, static_cast<int>(high >> 48 & 0x7FFF), 0x7FFF, fraction);
}

float single_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

void read_number(std::uint64_t type, std::string_view bytes, PayloadValue& value) {
  const auto is_integer = [&](std::int64_t number) {
    value.kind = PayloadValue::Kind::integer;
    value.integer = number;
  };
  const auto is_count = [&](std::uint64_t number) {
    value.kind = PayloadValue::Kind::count;
    value.count = number;
  };
  const auto is_real = [&](double number) {
    value.kind = PayloadValue::Kind::real;
    value.real = number;
  };
  switch (type) {
    case int8:
      return is_integer(load<std::int8_t>(bytes));
    case c_short:
    case int16:
      return is_integer(load<std::int16_t>(bytes));
    case c_int:
    case int32:
      return is_integer(load<std::int32_t>(bytes));
    case c_long:
    case c_longlong:
    case int64:
      return is_integer(load<std::int64_t>(bytes));
    case c_ushort:
    case uint16:
      return is_count(load<std::uint16_t>(bytes));
    case c_uint:
    case uint32:
    case nvtx::entry_type::category:
    case color:
    case pid32:
    case tid32:
      return is_count(load<std::uint32_t>(bytes));
    case c_float:
    case float32:
    case tf32:
      return is_real(static_cast<double>(load<float>(bytes)));
    case c_double:
    case float64:
      return is_real(load<double>(bytes));
    case c_longdouble:
      return is_real(static_cast<double>(load<long double>(bytes)));
    case float128:
      return is_real(real_of_quad(bytes));
    case float16:
      return is_real(real_of_half(load<std::uint16_t>(bytes)));
    case bf16:
      return is_real(
          static_cast<double>(single_of(std::uint32_t{load<std::uint16_t>(bytes)} << 16)));
    case int128:
    case uint128: {
      const auto low = load<std::uint64_t>(bytes);
      const auto high = load<std::uint64_t>(bytes.substr(8));
      if (high == 0) return is_count(low);
      if (type == int128 && high == ~std::uint64_t{0} && low >> 63 != 0) {
        return is_integer(static_cast<std::int64_t>(low));
      }
      value.kind = PayloadValue::Kind::bytes;
      value.text = bytes;
      return;
    }
    default:
      break;
  }
  return is_count(bytes.size() == 1 ? load<std::uint8_t>(bytes) : load<std::uint64_t>(bytes));
}

void add_wide(std::string_view bytes, std::uint64_t unit, core::PoolString& out) {
  const auto add = [&](char byte) { out.push_back(byte); };
  for (std::size_t at = 0; bytes.size() - at >= unit; at += unit) {
    std::uint32_t code = 0;
    if (unit == 2) {
      code = load<std::uint16_t>(bytes.substr(at));
      const bool leads = code >= 0xD800 && code < 0xDC00 && bytes.size() - at >= 2 * unit;
      const std::uint32_t next = leads ? load<std::uint16_t>(bytes.substr(at + unit)) : 0;
      if (leads && next >= 0xDC00 && next < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (next - 0xDC00);
        at += unit;
      }
    } else {
      code = load<std::uint32_t>(bytes.substr(at));
    }
    if (code == 0) return;
    core::encode_utf8(code, add);
  }
}

}  // namespace nvspan::trace
