// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The job as a graph of work and collectives, run again with one rank's work changed: what would a
// step take if this rank were as fast as the others?

#pragma once

#include "ranks/cause/job.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::ranks {

class Replay {
 public:
  explicit Replay(const Job& job);

  // By step, how much shorter the job would be, in ns, if the rank had the median of the others'
  // work in ranges of that name, or in all (every_name).
  std::vector<double> savings(std::uint32_t rank, std::int32_t name);
  // By step, how much longer the job would be, in ns, if the rank took so much longer in each.
  std::vector<double> losses(std::uint32_t rank, double ns);
  // By step, as it was: from the last arrival of the step before to its own.
  const std::vector<double>& step_times() const noexcept { return times_; }
  // Ranks that come to no end, as collectives miss members.
  std::size_t stuck() const noexcept { return stuck_; }

 private:
  // What a rank does: work, then it comes to a collective, or waits for one.
  struct Event {
    double gap = 0;    // work before
    double after = 0;  // from the moment that all have come, or that it waits, to its end
    std::uint32_t collective = 0;
    std::uint32_t index = 0;
    bool waits = false;
    bool gives = false;  // to the others: they need it
  };

  std::vector<double> run(std::uint32_t rank, const std::vector<double>& less);
  std::vector<double> steps_of(const std::vector<double>& released) const;

  const Job& job_;
  std::vector<std::vector<Event>> events_;
  std::vector<double> begins_;         // by rank
  std::vector<std::uint32_t> givers_;  // by collective
  std::vector<double> released_;
  std::vector<double> times_;
  std::size_t stuck_ = 0;
};

}  // namespace nvspan::ranks
