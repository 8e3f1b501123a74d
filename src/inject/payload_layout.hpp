// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What has to be known of payload schemas, time domains and counters to find events in raw bytes.

#pragma once

#include "inject/id_pair.hpp"
#include "record/page_pool.hpp"

#include <cstdint>

namespace nvspan {

struct LayoutEntry {
  std::uint64_t flags = 0;
  std::uint64_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t detail = 0;       // of an embedded array: its length
  std::uint64_t time_domain = 0;  // or a timestamp type
};

struct PayloadLayout {
  explicit PayloadLayout(PagePool& pool) : entries(pool) {}

  std::uint64_t flags = 0;
  std::uint64_t size = 0;  // 0: not static
  PoolVector<LayoutEntry> entries;
};

struct CounterLayout {
  std::uint64_t type = 0;
  std::uint64_t time_domain = 0;
};

// Of all domains: ids are those of one domain. Guarded by the session's lock.
class LayoutTable {
 public:
  explicit LayoutTable(PagePool& pool)
      : pool_(pool), payloads_(pool), counters_(pool), times_(pool) {}

  PayloadLayout& keep_payload(std::uint64_t domain, std::uint64_t schema) {
    const IdPair key{domain, schema};
    payloads_.erase(key);
    return payloads_.emplace(key, PayloadLayout(pool_)).first->second;
  }
  const PayloadLayout* payload(std::uint64_t domain, std::uint64_t schema) const {
    const auto found = payloads_.find(IdPair{domain, schema});
    return found == payloads_.end() ? nullptr : &found->second;
  }
  void keep_counter(std::uint64_t domain, std::uint64_t counter, const CounterLayout& layout) {
    counters_[IdPair{domain, counter}] = layout;
  }
  const CounterLayout* counter(std::uint64_t domain, std::uint64_t counter) const {
    const auto found = counters_.find(IdPair{domain, counter});
    return found == counters_.end() ? nullptr : &found->second;
  }
  void keep_time_domain(std::uint64_t id, std::uint64_t type) { times_[id] = type; }
  // What a time domain's stamps are; predefined types stand for themselves.
  std::uint64_t timestamp_type(std::uint64_t time_domain) const {
    const auto found = times_.find(time_domain);
    return found == times_.end() ? time_domain : found->second;
  }

 private:
  PagePool& pool_;
  PoolMap<IdPair, PayloadLayout, IdPairHash> payloads_;
  PoolMap<IdPair, CounterLayout, IdPairHash> counters_;
  PoolMap<std::uint64_t, std::uint64_t> times_;
};

}  // namespace nvspan
