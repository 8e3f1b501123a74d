// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Integers as bytes: seven bits each, the lowest first, so that small ones are short.

#pragma once

#include "core/log_histogram.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nvspan::ranks {

using Wide = __int128;

// Bytes that are no summary, or a damaged one.
class SummaryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Packer {
 public:
  explicit Packer(std::string& to) : to_(to) {}

  void count(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) to_.push_back(static_cast<char>(value | 0x80));
    to_.push_back(static_cast<char>(value));
  }
  // Small where it is near 0, on either side.
  void number(std::int64_t value) {
    count(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void wide(Wide value) {
    count(static_cast<std::uint64_t>(value));
    number(static_cast<std::int64_t>(value >> 64));
  }
  void text(std::string_view text) {
    count(text.size());
    to_.append(text);
  }

 private:
  std::string& to_;
};

// Throws SummaryError where the bytes end too early.
class Unpacker {
 public:
  explicit Unpacker(std::string_view from) : from_(from) {}

  bool at_end() const noexcept { return at_ == from_.size(); }
  std::size_t left() const noexcept { return from_.size() - at_; }
  std::uint64_t count() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_end()) break;
      const auto byte = static_cast<std::uint8_t>(from_[at_++]);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    throw SummaryError("the summary is damaged");
  }
  std::int64_t number() {
    const std::uint64_t value = count();
    return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  Wide wide() {
    const std::uint64_t low = count();
    return static_cast<Wide>(static_cast<unsigned __int128>(number()) << 64 | low);
  }
  std::string_view text() { return bytes(count()); }
  // How many things follow, each of one byte at least.
  std::size_t size() {
    const std::uint64_t size = count();
    if (size > left()) throw SummaryError("the summary is damaged");
    return static_cast<std::size_t>(size);
  }
  std::string_view bytes(std::uint64_t size) {
    if (size > left()) throw SummaryError("the summary is damaged");
    const std::string_view found = from_.substr(at_, static_cast<std::size_t>(size));
    at_ += found.size();
    return found;
  }

 private:
  std::string_view from_;
  std::size_t at_ = 0;
};

// The counts of a core::LogHistogram as bytes: of each bucket that holds a value, how far it is
// from the one before it, and how many values it holds. Equal counts are equal bytes.
std::string packed_histogram(const core::LogHistogram& histogram);
// Throws SummaryError where these are no such bytes.
void add_packed(std::string_view packed, core::LogHistogram& to);
// Of the values of both.
std::string merged_histograms(std::string_view one, std::string_view other);

}  // namespace nvspan::ranks
