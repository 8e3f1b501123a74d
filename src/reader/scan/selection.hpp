// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which part of a recording is wanted.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace nvspan::reader {

struct Selection {
  std::vector<bool> sites;     // empty: all
  std::vector<bool> counters;  // likewise
  std::vector<bool> threads;
  std::int64_t from = std::numeric_limits<std::int64_t>::min();  // of the start
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
  std::int64_t shortest = 0;  // ns; a range that did not end may be any length

  bool takes_site(std::uint32_t site) const { return has(sites, site); }
  bool takes_counter(std::uint32_t counter) const { return has(counters, counter); }
  bool takes_thread(std::uint32_t thread) const { return has(threads, thread); }
  bool takes_time(std::int64_t time) const { return time >= from && time < to; }
  bool takes_duration(std::int64_t ns) const { return shortest <= 0 || ns >= shortest; }
  bool takes_all_times() const {
    return from == std::numeric_limits<std::int64_t>::min() &&
           to == std::numeric_limits<std::int64_t>::max();
  }
  bool is_whole() const {
    return sites.empty() && counters.empty() && threads.empty() && shortest <= 0 &&
           takes_all_times();
  }

  // All of it.
  static const Selection& whole() {
    static const Selection all;
    return all;
  }

  // What both take.
  Selection operator&(const Selection& other) const {
    Selection common;
    common.sites = both(sites, other.sites);
    common.counters = both(counters, other.counters);
    common.threads = both(threads, other.threads);
    common.from = from > other.from ? from : other.from;
    common.to = to < other.to ? to : other.to;
    common.shortest = shortest > other.shortest ? shortest : other.shortest;
    return common;
  }

 private:
  static bool has(const std::vector<bool>& mask, std::uint32_t number) {
    return mask.empty() || (number < mask.size() && mask[number]);
  }
  static std::vector<bool> both(const std::vector<bool>& a, const std::vector<bool>& b) {
    if (a.empty()) return b;
    std::vector<bool> common = a;
    for (std::size_t i = 0; i < common.size() && !b.empty(); ++i) common[i] = common[i] && b[i];
    return common;
  }
};

}  // namespace nvspan::reader
