// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/cause/excess.hpp"

#include "core/statistics/order.hpp"
#include "ranks/cause/blame.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace nvspan::ranks {
namespace {

// The middle of the sorted values without the one at `place`; of an even number the mean of both
// middle ones (core::midpoint), as the lower one would make every rank longer on average.
double middle_of_others(const std::vector<double>& sorted, std::size_t place) {
  const std::size_t count = sorted.size() - 1;
  const auto at = [&](std::size_t i) { return sorted[i < place ? i : i + 1]; };
  return (at((count - 1) / 2) + at(count / 2)) / 2;
}

double work_of(const Job& job, const Member& member, std::int32_t name) {
  const RankTrace& trace = job.ranks[member.rank];
  const std::size_t from = job.since[member.rank][member.index];
  return static_cast<double>(name == every_name ? trace.work(from, member.index)
                                                : trace.work(from, member.index, name));
}

bool is_compared(const Matched& of) { return of.compares() && !of.pairs(); }

std::vector<float> sums_of_steps(const Job& job, std::size_t rank, std::vector<double> more) {
  std::vector<float> steps(job.steps.size(), 0);
  for (std::size_t i = 0; i < more.size(); ++i) {
    const std::uint32_t k = job.of[rank][i];
    if (k == Job::unmatched || !is_compared(job.collectives[k])) continue;
    for (std::size_t j = job.since[rank][i]; j < i; ++j) more[i] -= more[j];
    steps[job.collectives[k].step] += static_cast<float>(more[i]);
  }
  return steps;
}

}  // namespace

std::vector<std::vector<double>> excess_by_collective(const Job& job, std::int32_t name) {
  std::vector<std::vector<double>> more(job.ranks.size());
  for (std::size_t r = 0; r < more.size(); ++r) more[r].assign(job.of[r].size(), 0);
  std::vector<double> values, sorted;
  for (const Matched& of : job.collectives) {
    if (!is_compared(of)) continue;
    values.clear();
    for (const Member& member : of.members) values.push_back(work_of(job, member, name));
    sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t m = 0; m < values.size(); ++m) {
      const auto place = std::lower_bound(sorted.begin(), sorted.end(), values[m]);
      const auto without = static_cast<std::size_t>(place - sorted.begin());
      more[of.members[m].rank][of.members[m].index] = values[m] - middle_of_others(sorted, without);
    }
  }
  return more;
}

std::vector<double> excess_of_rank(const Job& job, std::int32_t name, std::uint32_t rank) {
  std::vector<double> more(job.of[rank].size(), 0), values, room;
  for (std::size_t i = 0; i < more.size(); ++i) {
    const std::uint32_t k = job.of[rank][i];
    if (k == Job::unmatched || !is_compared(job.collectives[k])) continue;
    values.clear();
    std::size_t own = 0;
    for (const Member& member : job.collectives[k].members) {
      if (member.rank == rank && member.index == i) own = values.size();
      values.push_back(work_of(job, member, name));
    }
    copy_others(values, own, room);
    more[i] = values[own] - (room.empty() ? 0 : core::midpoint(room));
  }
  return more;
}

Series excess_by_step(const Job& job, std::int32_t name) {
  std::vector<std::vector<double>> more = excess_by_collective(job, name);
  Series steps(job.ranks.size());
  for (std::size_t r = 0; r < more.size(); ++r) {
    steps[r] = sums_of_steps(job, r, std::move(more[r]));
  }
  return steps;
}

std::vector<float> excess_by_step(const Job& job, std::int32_t name, std::uint32_t rank) {
  return sums_of_steps(job, rank, excess_of_rank(job, name, rank));
}

}  // namespace nvspan::ranks
