// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/cause/critical_path.hpp"

#include <algorithm>

namespace nvspan::ranks {

CriticalPath critical_path(const Job& job, const Blame& blame) {
  CriticalPath path;
  // From the rank of the last collective's last arrival backwards; where it had waited for another,
  // that one's work goes on.
  std::uint32_t rank = CollectiveOutcome::nobody;
  std::size_t k = job.collectives.size();
  while (k-- > 0 && rank == CollectiveOutcome::nobody) rank = blame.outcomes[k].last;
  if (rank == CollectiveOutcome::nobody) return path;
  ++k;
  std::size_t index = 0;
  for (const Member& member : job.collectives[k].members) {
    if (member.rank == rank) index = member.index;
  }
  const std::int64_t last = blame.outcomes[k].released;
  std::int64_t first = last;
  for (;;) {
    const RankTrace& trace = job.ranks[rank];
    for (std::size_t at = trace.first[index]; at < trace.first[index + 1]; ++at) {
      path.work[{rank, trace.parts[at].name}] += trace.parts[at].ns;
    }
    if (index == 0) {
      first = std::min(first, job.moment(rank, trace.start).middle());
      break;
    }
    --index;
    const Collective& before = trace.collectives[index];
    const std::uint32_t matched = job.of[rank][index];
    const bool waits = before.wait != no_time && before.end != no_time;
    if (waits && matched != Job::unmatched) {
      const CollectiveOutcome& outcome = blame.outcomes[matched];
      const std::int64_t end = job.moment(rank, before.end).middle();
      const std::int64_t from = job.moment(rank, before.wait).middle();
      path.collectives += std::max<std::int64_t>(0, end - std::max(from, outcome.released));
      if (outcome.last != CollectiveOutcome::nobody && outcome.last != rank &&
          outcome.released > from) {
        for (const Member& member : job.collectives[matched].members) {
          if (member.rank != outcome.last) continue;
          rank = member.rank;
          index = member.index;
          break;
        }
      }
    }
  }
  path.duration = last - first;
  return path;
}

}  // namespace nvspan::ranks
