// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What ranges are told apart by where several sites may be of one name.

#pragma once

#include "reader/file/recording.hpp"

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

}  // namespace nvspan::reader
