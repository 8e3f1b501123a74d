// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/text/line_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nvspan::core {

// A real number as Python's repr() lays it out, whatever the program's locale: the fewest digits
// that read back as the same number (one more for 46 powers of two), and always a point or an
// exponent. "0.1", "2.0", "1e+16"; for what is not finite "nan", "inf" or "-inf".
class NumberText {
 public:
  explicit NumberText(double value);
  explicit NumberText(float value);

  std::string_view view() const noexcept { return {bytes_, size_}; }

 private:
  template <typename Real>
  void print(Real value);
  void lay_out(bool negative, const char* digits, int count, int exponent);
  void add(char byte) { bytes_[size_++] = byte; }
  void add(const char* bytes, int count);
  void add_zeros(int count);

  char bytes_[32];
  std::size_t size_ = 0;
};

// False for what is not finite, of which nothing is added.
bool add_real(LineBuffer& line, double value);
bool add_real(LineBuffer& line, float value);

// "nan", "inf" or "-inf".
const char* not_finite_name(double value);

// A duration as text, whatever the program's locale: three significant digits, as whole ones below
// a microsecond, "1.23 ms" or "7 ns". recording/time_text.py writes the same.
class DurationText {
 public:
  explicit DurationText(std::uint64_t ns);

  std::string_view number() const noexcept { return {number_, length_}; }
  std::string_view unit() const noexcept { return unit_; }
  std::string text() const { return std::string(number()) + " " + std::string(unit_); }

 private:
  char number_[32];
  std::size_t length_ = 0;
  std::string_view unit_ = "ns";
};

}  // namespace nvspan::core
