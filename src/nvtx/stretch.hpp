// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A profile's generators and coroutines have a range for each stretch that a call of theirs runs.
// Its category says what it does to the call, and its payload is the call's number.

#include <cstdint>
#include <string_view>

namespace nvspan::nvtx {

// The last one is no stretch: the call was suspended, and until then it did not go on.
enum class StretchKind : std::uint8_t { none, begins, resumes, unfinished };

constexpr const char* profile_domain_name = "nvtx.py";
constexpr const char* resumed_suffix = " resumed";
constexpr const char* unfinished_suffix = " unfinished";

// A call's number modulo this is its place among the calls that
// have begun and not ended. 0: it has no place, because too many have one.
constexpr std::uint64_t stretch_places = std::uint64_t{1} << 18;

inline StretchKind stretch_of(std::string_view domain, std::string_view category) noexcept {
  if (domain != profile_domain_name) return StretchKind::none;
  const auto drop_suffix = [&category](std::string_view suffix) {
    if (category.size() < suffix.size()) return false;
    const std::size_t left = category.size() - suffix.size();
    if (category.substr(left) != suffix) return false;
    category = category.substr(0, left);
    return true;
  };
  const StretchKind kind = drop_suffix(resumed_suffix)      ? StretchKind::resumes
                           : drop_suffix(unfinished_suffix) ? StretchKind::unfinished
                                                            : StretchKind::begins;
  for (const std::string_view callable : {"coroutine", "generator", "async generator"}) {
    if (category == callable) return kind;
  }
  return StretchKind::none;
}

}  // namespace nvspan::nvtx
