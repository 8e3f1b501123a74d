// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/page_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>

namespace nvspan {

// A domain and an id, which is unique in that domain alone.
struct IdPair {
  std::uint64_t domain;
  std::uint64_t id;
  friend bool operator==(const IdPair& a, const IdPair& b) {
    return a.domain == b.domain && a.id == b.id;
  }
};

struct IdPairHash {
  std::size_t operator()(const IdPair& pair) const noexcept {
    return static_cast<std::size_t>(pair.domain * 0x9E3779B97F4A7C15u ^ pair.id);
  }
};

template <typename Key, typename Value, typename Hash = std::hash<Key>>
using PoolMap = std::unordered_map<Key, Value, Hash, std::equal_to<Key>,
                                   PoolAllocator<std::pair<const Key, Value>>>;

}  // namespace nvspan
