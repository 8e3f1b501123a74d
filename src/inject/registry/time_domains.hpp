// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "core/memory/pool_map.hpp"

#include <cstdint>

namespace nvspan::inject {

// The clocks that programs registered for their own stamps. Guarded by the session's lock.
class TimeDomains {
 public:
  explicit TimeDomains(core::PagePool& pool) : types_(pool) {}

  void keep(std::uint64_t id, std::uint64_t type) { types_[id] = type; }
  // What a time domain's stamps are; predefined types stand for themselves.
  std::uint64_t type(std::uint64_t time_domain) const {
    const auto found = types_.find(time_domain);
    return found == types_.end() ? time_domain : found->second;
  }

 private:
  core::PoolMap<std::uint64_t, std::uint64_t> types_;
};

}  // namespace nvspan::inject
