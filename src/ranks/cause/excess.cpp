// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/cause/excess.hpp"

#include <algorithm>
#include <cstddef>

namespace nvspan::ranks {
namespace {

// The median of the sorted values without the one at `place`.
double median_of_others(const std::vector<double>& sorted, std::size_t place) {
  const std::size_t count = sorted.size() - 1;
  const auto at = [&](std::size_t i) { return sorted[i < place ? i : i + 1]; };
  return count % 2 != 0 ? at(count / 2) : (at(count / 2 - 1) + at(count / 2)) / 2;
}

}  // namespace

std::vector<std::vector<double>> excess_by_collective(const Job& job, std::int32_t name) {
  std::vector<std::vector<double>> more(job.ranks.size());
  for (std::size_t r = 0; r < more.size(); ++r) more[r].assign(job.of[r].size(), 0);
  std::vector<double> values, sorted;
  for (const Matched& of : job.collectives) {
    if (!of.compares() || of.pairs()) continue;
    values.clear();
    for (const Member& member : of.members) {
      const RankTrace& trace = job.ranks[member.rank];
      const std::size_t from = job.since[member.rank][member.index];
      values.push_back(static_cast<double>(name == every_name
                                               ? trace.work(from, member.index)
                                               : trace.work(from, member.index, name)));
    }
    sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t m = 0; m < values.size(); ++m) {
      const auto place = std::lower_bound(sorted.begin(), sorted.end(), values[m]);
      const auto without = static_cast<std::size_t>(place - sorted.begin());
      more[of.members[m].rank][of.members[m].index] = values[m] - median_of_others(sorted, without);
    }
  }
  return more;
}

Series excess_by_step(const Job& job, std::int32_t name) {
  std::vector<std::vector<double>> more = excess_by_collective(job, name);
  Series steps(job.ranks.size(), std::vector<float>(job.steps.size(), 0));
  for (std::size_t r = 0; r < more.size(); ++r) {
    for (std::size_t i = 0; i < more[r].size(); ++i) {
      const std::uint32_t k = job.of[r][i];
      if (k == Job::unmatched || !job.collectives[k].compares()) continue;
      if (job.collectives[k].pairs()) continue;
      for (std::size_t j = job.since[r][i]; j < i; ++j) more[r][i] -= more[r][j];
      steps[r][job.collectives[k].step] += static_cast<float>(more[r][i]);
    }
  }
  return steps;
}

}  // namespace nvspan::ranks
