// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/cause/replay.hpp"

#include "ranks/cause/excess.hpp"

#include <algorithm>

namespace nvspan::ranks {
namespace {

constexpr double never = -1e300;

}  // namespace

Replay::Replay(const Job& job) : job_(job) {
  const std::size_t count = job.collectives.size();
  std::vector<double> released(count, never);
  givers_.assign(count, 0);
  events_.resize(job.ranks.size());
  begins_.assign(job.ranks.size(), 0);
  const auto at = [&](std::uint32_t rank, std::int64_t local) {
    return static_cast<double>(job.moment(rank, local).middle() - job.solved.base);
  };
  for (std::size_t k = 0; k < count; ++k) {
    if (!job.collectives[k].compares()) continue;
    for (const Member& member : job.collectives[k].members) {
      if (!job.at(member).gives()) continue;
      ++givers_[k];
      released[k] = std::max(released[k], at(member.rank, job.at(member).begin));
    }
  }
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    struct Timed {
      double time, end;
      Event event;
    };
    std::vector<Timed> timed;
    const auto& own = job.ranks[r].collectives;
    for (std::uint32_t i = 0; i < own.size(); ++i) {
      const std::uint32_t k = job.of[r][i];
      if (k == Job::unmatched || givers_[k] == 0) continue;
      Event event;
      event.collective = k;
      event.index = i;
      event.gives = own[i].gives();
      const double begin = at(r, own[i].begin);
      timed.push_back(Timed{begin, begin, event});
      if (own[i].wait == no_time || own[i].end == no_time || !own[i].takes()) continue;
      const double wait = std::max(begin, at(r, own[i].wait));
      const double end = std::max(wait, at(r, own[i].end));
      event.waits = true;
      event.after = std::max(0.0, end - std::max(wait, released[k]));
      timed.push_back(Timed{wait, end, event});
    }
    std::stable_sort(timed.begin(), timed.end(),
                     [](const Timed& a, const Timed& b) { return a.time < b.time; });
    double last = timed.empty() ? 0 : timed.front().time;
    begins_[r] = last;
    for (Timed& each : timed) {
      each.event.gap = std::max(0.0, each.time - last);
      last = std::max(last, each.end);
      events_[r].push_back(each.event);
    }
  }
  released_ = run(0, {});
  times_ = steps_of(released_);
}

std::vector<double> Replay::run(std::uint32_t rank, const std::vector<double>& less) {
  const std::size_t ranks = events_.size();
  constexpr std::uint32_t none = 0xFFFFFFFF;
  std::vector<double> released(givers_.size(), never);
  std::vector<std::uint32_t> missing = givers_;
  std::vector<std::uint32_t> waiting(givers_.size(), none);  // the first rank of a list
  std::vector<std::uint32_t> next_waiting(ranks, none);
  std::vector<std::size_t> next(ranks, 0);
  std::vector<double> now = begins_;
  std::vector<std::uint32_t> able;
  for (std::uint32_t r = static_cast<std::uint32_t>(ranks); r-- > 0;) able.push_back(r);
  std::vector<std::uint8_t> worked(ranks, 0);  // the gap before its next event is over
  while (!able.empty()) {
    const std::uint32_t r = able.back();
    able.pop_back();
    while (next[r] < events_[r].size()) {
      const Event& event = events_[r][next[r]];
      const std::uint32_t k = event.collective;
      if (worked[r] == 0) {
        const bool changes = !less.empty() && r == rank && !event.waits;
        now[r] += std::max(0.0, event.gap - (changes ? less[event.index] : 0));
        worked[r] = 1;
      }
      if (event.waits) {
        if (missing[k] != 0) {
          next_waiting[r] = waiting[k];
          waiting[k] = r;
          break;
        }
        now[r] = std::max(now[r], released[k]) + event.after;
      } else if (event.gives) {
        released[k] = std::max(released[k], now[r]);
        if (--missing[k] == 0) {
          for (std::uint32_t w = waiting[k]; w != none; w = next_waiting[w]) able.push_back(w);
        }
      }
      ++next[r];
      worked[r] = 0;
    }
  }
  stuck_ = 0;
  for (std::size_t r = 0; r < ranks; ++r) stuck_ += next[r] < events_[r].size() ? 1 : 0;
  return released;
}

std::vector<double> Replay::steps_of(const std::vector<double>& released) const {
  std::vector<double> ends(job_.steps.size(), never);
  double first = never;
  for (std::size_t k = 0; k < released.size(); ++k) {
    if (released[k] == never) continue;
    if (first == never) first = released[k];
    double& end = ends[job_.collectives[k].step];
    end = std::max(end, released[k]);
  }
  std::vector<double> times(ends.size(), 0);
  double last = first;
  for (std::size_t s = 0; s < ends.size(); ++s) {
    if (ends[s] == never) continue;
    times[s] = ends[s] - last;
    last = ends[s];
  }
  return times;
}

std::vector<double> Replay::savings(std::uint32_t rank, std::int32_t name) {
  std::vector<double> less = excess_of_rank(job_, name, rank);
  const RankTrace& trace = job_.ranks[rank];
  const auto work = [&](std::uint32_t i) {
    return static_cast<double>(name == every_name ? trace.work(i, i) : trace.work(i, i, name));
  };
  const auto is_pair = [&](std::uint32_t i) {
    const std::uint32_t k = job_.of[rank][i];
    return k != Job::unmatched && job_.collectives[k].pairs();
  };
  for (std::uint32_t i = 0; i < less.size(); ++i) {
    const std::uint32_t k = job_.of[rank][i];
    if (k == Job::unmatched || givers_[k] == 0 || is_pair(i)) continue;
    double whole = work(i);
    for (std::uint32_t j = job_.since[rank][i]; j < i; ++j) {
      less[i] -= less[j];
      if (is_pair(j)) whole += work(j);
    }
    // Among few, the others may be the slow ones: who is as fast as all are is not made slower.
    if (job_.collectives[k].members.size() < job_.largest) less[i] = std::max(0.0, less[i]);
    // What is compared here was done before the sends and receives between as well.
    const double part = whole > 0 ? less[i] / whole : 0;
    for (std::uint32_t j = job_.since[rank][i]; j < i; ++j) {
      if (!is_pair(j)) continue;
      less[j] += part * work(j);
      less[i] -= part * work(j);
    }
  }
  std::vector<double> saved = steps_of(run(rank, less));
  for (std::size_t s = 0; s < saved.size(); ++s) saved[s] = times_[s] - saved[s];
  return saved;
}

std::vector<double> Replay::losses(std::uint32_t rank, double ns) {
  std::vector<double> less(job_.of[rank].size(), 0);
  std::vector<bool> has(job_.steps.size(), false);
  for (std::size_t i = 0; i < less.size(); ++i) {
    const std::uint32_t k = job_.of[rank][i];
    if (k == Job::unmatched || givers_[k] == 0 || has[job_.collectives[k].step]) continue;
    has[job_.collectives[k].step] = true;
    less[i] = -ns;
  }
  std::vector<double> lost = steps_of(run(rank, less));
  for (std::size_t s = 0; s < lost.size(); ++s) lost[s] -= times_[s];
  return lost;
}

}  // namespace nvspan::ranks
