// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Delay attribution: charges each collective's wait to the last rank to arrive, and inherited delay
// to its origin (Scalasca's delay analysis).

#pragma once

#include "ranks/cause/job.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::ranks {

// A part of a delay: so long, as that rank was longer in that range than the others.
struct Root {
  std::uint32_t rank = 0;
  std::int32_t name = 0;
  double ns = 0;
};

struct CollectiveOutcome {
  static constexpr std::uint32_t nobody = 0xFFFFFFFF;

  std::uint32_t last = nobody;   // nobody: not known, or nobody waited
  std::int64_t released = 0;     // when the last came
  std::int64_t delay = 0;        // how much later than the median of those who waited
  std::int64_t uncertainty = 0;  // of `delay`
  std::int64_t waited = 0;       // by all together
  std::vector<Root> roots;       // of `delay`, as far as it is known
};

// How long who came at `own` waited for who came at `last`: 0 where their clocks cannot tell.
inline std::int64_t waiting(const Moment& own, const Moment& last) {
  const std::int64_t waits = last.middle() - own.middle();
  return waits > own.uncertainty() + last.uncertainty() ? waits : 0;
}

struct Arrival {
  std::uint32_t rank = 0;        // of Job::ranks
  std::int64_t come = no_time;   // no_time: its clock is not known
  std::int64_t gone = no_time;   // no_time: not known, or nothing shows it
  std::int64_t waited = 0;       // until the last came; 0 where ranks cannot be compared
  std::int64_t uncertainty = 0;  // of `come`
};

struct RankSums {
  std::int64_t waited = 0;   // until the last came
  std::int64_t blocked = 0;  // in collectives at all
  std::int64_t talked = 0;   // from the begin to the end of collectives
  std::int64_t late = 0;     // after the median, where it was the last
  std::uint64_t was_last = 0;
  std::uint64_t collectives = 0;
};

struct Blame {
  std::vector<CollectiveOutcome> outcomes;  // by collective
  std::vector<RankSums> ranks;
  // By rank and step: how much later than the median of the others it came, at most, in ns; and how
  // much more work it had.
  std::vector<std::vector<float>> late;
  std::vector<std::vector<float>> excess;
  std::size_t uncertain = 0;  // collectives whose last is not known, as the clocks are not
};

Blame find_blame(const Job& job);

// When each rank came to one collective, on the common time line, by rank.
std::vector<Arrival> arrivals(const Job& job, const Matched& of);

// Fills `others` with the values but the `without`th.
void copy_others(const std::vector<double>& values, std::size_t without,
                 std::vector<double>& others);

}  // namespace nvspan::ranks
