// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A duration as text, whatever the program's locale: three decimals of the largest unit that fits,
// "1.235 ms" or "7 ns". recording/time_text.py writes the same.

#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace nvspan::core {

class DurationText {
 public:
  explicit DurationText(std::uint64_t ns) {
    const std::uint64_t size = ns >= 1'000'000'000 ? 1'000'000'000
                               : ns >= 1'000'000   ? 1'000'000
                               : ns >= 1000        ? 1000
                                                   : 1;
    unit_ = size == 1 ? "ns" : size == 1000 ? "us" : size == 1'000'000 ? "ms" : "s";
    auto whole = static_cast<unsigned long long>(ns / size);
    int written = 0;
    if (size == 1) {
      written = std::snprintf(number_, sizeof number_, "%llu", whole);
    } else {
      auto thousandths = static_cast<unsigned>((ns % size + size / 2000) / (size / 1000));
      whole += thousandths / 1000;
      thousandths %= 1000;
      written = std::snprintf(number_, sizeof number_, "%llu.%03u", whole, thousandths);
    }
    length_ = static_cast<std::size_t>(written);
  }

  std::string_view number() const noexcept { return {number_, length_}; }
  std::string_view unit() const noexcept { return unit_; }
  std::string text() const { return std::string(number()) + " " + std::string(unit_); }

 private:
  char number_[32];
  std::size_t length_ = 0;
  std::string_view unit_;
};

}  // namespace nvspan::core
