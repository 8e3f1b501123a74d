// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What ranges are told apart by where several sites may be of one name.

#pragma once

#include "reader/file/recording.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::reader {

// Domain, name and kind; domains are below 2^29.
constexpr std::uint64_t name_key(const ReadSite& site, RangeKind kind = RangeKind::push_pop) {
  return std::uint64_t{site.domain} << 34 |
         std::uint64_t{static_cast<std::uint32_t>(site.name)} << 2 |
         static_cast<std::uint64_t>(kind);
}

// The backward pass of a name is another one.
constexpr std::uint64_t pass_key(const ReadSite& site, RangeKind kind) {
  return name_key(site, kind) | std::uint64_t{site.backward} << 63;
}

// A name within what is around it.
struct PathKey {
  std::uint64_t from;  // the path around it, by any number
  std::uint64_t name;  // a pass_key()
  friend bool operator==(const PathKey& a, const PathKey& b) {
    return a.from == b.from && a.name == b.name;
  }
};
struct PathHash {
  std::size_t operator()(const PathKey& key) const noexcept {
    std::uint64_t hash = (key.from + 1) * 0x9E3779B97F4A7C15u;
    hash ^= key.name * 0xC2B2AE3D27D4EB4Fu;
    return static_cast<std::size_t>(hash ^ hash >> 29 ^ hash >> 47);
  }
};

}  // namespace nvspan::reader
