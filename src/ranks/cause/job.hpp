// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The ranks of a job side by side: their collectives matched, their clocks corrected.

#pragma once

#include "ranks/clocks/clock_solver.hpp"
#include "ranks/traces/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::ranks {

struct Member {
  std::uint32_t rank = 0;   // of Job::ranks
  std::uint32_t index = 0;  // of its collectives
};

// A collective of all the ranks that took part in it.
struct Matched {
  std::int32_t op = 0;
  std::uint64_t group = 0;
  std::int64_t sequence = 0;  // or how many of its kind were before
  CollectiveKind kind = CollectiveKind::all;
  bool enqueued = false;  // of one member at least
  bool whole = true;      // as many members as the group has, or as were seen in it
  bool differs = false;   // operations are not the same, or somebody left before all came
  std::uint32_t step = 0;
  std::vector<Member> members;  // by rank

  // Whether its members can be compared: all are there, and it is one and the same.
  bool compares() const noexcept { return members.size() >= 2 && whole && !differs; }
  // Of a sender and its receiver, whose work before need not be alike.
  bool pairs() const noexcept {
    return kind == CollectiveKind::send || kind == CollectiveKind::receive;
  }
};

struct Job {
  static constexpr std::uint32_t unmatched = 0xFFFFFFFF;

  std::vector<RankTrace> ranks;
  std::vector<std::string> texts;

  std::vector<std::uint32_t> clock;  // by rank: ranks of one boot share one
  std::uint32_t clocks = 0;
  Clocks solved;                               // of several clocks
  std::vector<Matched> collectives;            // by the time of the last that came
  std::vector<std::vector<std::uint32_t>> of;  // by rank and index: of `collectives`
  // By rank and index: where the work begins that members of a collective are compared by: behind
  // their last of the same group, of a send or receive behind their last with the same peer.
  std::vector<std::vector<std::uint32_t>> since;
  std::size_t largest = 0;          // members of a collective
  std::size_t absent = 0;           // ranks of the largest group that no file is of
  std::size_t alone = 0;            // collectives of which one rank alone has a range
  std::vector<std::int64_t> steps;  // their numbers; a collective is in one of these

  const Collective& at(const Member& member) const {
    return ranks[member.rank].collectives[member.index];
  }
  // A moment of a rank on the common time line.
  Moment moment(std::uint32_t rank, std::int64_t local) const {
    if (clocks <= 1) return Moment{local, local};
    return solved.moment(clock[rank], local);
  }
};

// Matches the collectives of `job.ranks`, and finds the clocks. `priors` are by rank, or empty.
void match(Job& job, const std::vector<Prior>& priors, const ClockOptions& options);

}  // namespace nvspan::ranks
