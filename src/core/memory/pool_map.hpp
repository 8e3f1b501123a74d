// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"

#include <functional>
#include <unordered_map>
#include <utility>

namespace nvspan::core {

template <typename Key, typename Value, typename Hash = std::hash<Key>>
using PoolMap = std::unordered_map<Key, Value, Hash, std::equal_to<Key>,
                                   PoolAllocator<std::pair<const Key, Value>>>;

}  // namespace nvspan::core
