// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a tool numbers within a domain: schemas, counters, scopes and so on.

#pragma once

#include <cstddef>
#include <cstdint>

namespace nvspan::trace {

struct DomainKey {
  std::uint64_t domain;
  std::uint64_t id;
  friend bool operator==(const DomainKey& a, const DomainKey& b) {
    return a.domain == b.domain && a.id == b.id;
  }
};

struct DomainKeyHash {
  std::size_t operator()(const DomainKey& key) const noexcept {
    return static_cast<std::size_t>(key.domain * 0x9E3779B97F4A7C15u ^ key.id);
  }
};

}  // namespace nvspan::trace
