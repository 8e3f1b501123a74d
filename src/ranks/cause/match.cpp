// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/cause/job.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace nvspan::ranks {
namespace {

constexpr std::int64_t tolerance = 20'000;  // ns by which the clock of one host may seem to differ

struct Key {
  std::uint64_t group = 0;
  std::int64_t pair = -1;  // sender and receiver
  std::int64_t op = 0;     // where the order alone counts
  std::int64_t number = 0;

  bool operator==(const Key& other) const {
    return group == other.group && pair == other.pair && op == other.op && number == other.number;
  }
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = key.group;
    for (const std::int64_t part : {key.pair, key.op, key.number}) {
      hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
  }
};

using OrderKey = std::pair<std::uint64_t, std::pair<std::int64_t, std::int64_t>>;

void number_clocks(Job& job) {
  std::map<std::string, std::uint32_t> numbers;
  for (const RankTrace& trace : job.ranks) {
    const std::string& of = trace.boot_id.empty() ? trace.host : trace.boot_id;
    job.clock.push_back(numbers.emplace(of, numbers.size()).first->second);
  }
  job.clocks = static_cast<std::uint32_t>(numbers.size());
}

void pair_up(Job& job) {
  std::unordered_map<Key, std::uint32_t, KeyHash> numbers;
  std::vector<Matched> found;
  job.of.resize(job.ranks.size());
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    const RankTrace& trace = job.ranks[r];
    std::map<OrderKey, std::int64_t> order;
    std::map<std::pair<std::uint64_t, std::int64_t>, std::uint32_t> behind;  // by group and peer
    job.since.emplace_back(trace.collectives.size(), 0);
    job.of[r].assign(trace.collectives.size(), Job::unmatched);
    for (std::uint32_t i = 0; i < trace.collectives.size(); ++i) {
      const Collective& each = trace.collectives[i];
      Key key;
      key.group = each.group;
      const bool pairs = each.kind == CollectiveKind::send || each.kind == CollectiveKind::receive;
      std::uint32_t& last = behind[{each.group, pairs ? each.root : -1}];
      job.since[r][i] = last;
      last = i + 1;
      if (pairs) {
        if (each.rank < 0 || each.root < 0) continue;
        const std::int64_t from = each.kind == CollectiveKind::send ? each.rank : each.root;
        const std::int64_t to = each.kind == CollectiveKind::send ? each.root : each.rank;
        key.pair = from << 32 | to;
      }
      if (pairs || each.sequence == no_sequence) {
        key.op = pairs ? -1 : each.op + 1;
        key.number = order[{key.group, {key.pair, key.op}}]++;
      } else {
        if (each.device) key.op = each.op + 1;  // NCCL counts each function by itself
        key.number = each.sequence;
      }
      const auto place = numbers.emplace(key, found.size());
      if (place.second) {
        Matched matched;
        matched.op = each.op;
        matched.group = each.group;
        matched.sequence = key.number;
        matched.kind = each.kind;
        found.push_back(matched);
      }
      Matched& matched = found[place.first->second];
      const Collective* first = matched.members.empty() ? nullptr : &job.at(matched.members[0]);
      if (first != nullptr && first->op != each.op && !pairs) matched.differs = true;
      matched.enqueued = matched.enqueued || each.enqueued;
      if (!matched.members.empty() && matched.members.back().rank == r) continue;  // twice
      matched.members.push_back(Member{r, i});
      job.of[r][i] = place.first->second;
    }
  }
  // A group is as large as most of its ranks at once.
  std::unordered_map<std::uint64_t, std::size_t> largest;
  for (const Matched& each : found) {
    std::size_t& size = largest[each.group];
    size = std::max(size, each.members.size());
  }
  for (Matched& each : found) {
    const Collective& first = job.at(each.members[0]);
    const bool pairs = each.kind == CollectiveKind::send || each.kind == CollectiveKind::receive;
    // A rank that no file is of is missed by none of its collectives.
    const std::size_t seen = largest[each.group];
    if (!pairs && first.size > 0 && static_cast<std::size_t>(first.size) > seen) {
      job.absent = std::max(job.absent, static_cast<std::size_t>(first.size) - seen);
    }
    each.whole = each.members.size() >= (pairs ? 2 : seen);
    if (each.members.size() < 2) ++job.alone;
    job.largest = std::max(job.largest, each.members.size());
  }
  job.collectives.swap(found);
}

void find_clocks(Job& job, const std::vector<Prior>& priors, const ClockOptions& options) {
  std::vector<std::vector<Sighting>> seen(job.clocks);
  for (std::uint32_t k = 0; k < job.collectives.size(); ++k) {
    const Matched& each = job.collectives[k];
    if (!each.whole || each.differs || each.members.size() < 2) continue;
    std::unordered_map<std::uint32_t, Sighting> of;
    for (const Member& member : each.members) {
      const Collective& one = job.at(member);
      Sighting& sighting = of[job.clock[member.rank]];
      sighting.collective = k;
      if (one.gives()) sighting.begin = std::max(sighting.begin, one.begin - one.early);
      if (one.takes() && !one.enqueued && one.end != no_time) {
        sighting.end = std::min(sighting.end, one.end);
      }
    }
    if (of.size() < 2) continue;
    for (const auto& entry : of) seen[entry.first].push_back(entry.second);
  }
  const auto when = [](const Sighting& one) { return one.begin != no_begin ? one.begin : one.end; };
  for (auto& of_clock : seen) {
    std::sort(of_clock.begin(), of_clock.end(),
              [&](const Sighting& a, const Sighting& b) { return when(a) < when(b); });
  }
  std::vector<Prior> of_clocks;
  if (!priors.empty()) {
    of_clocks.resize(job.clocks);
    for (std::size_t r = 0; r < priors.size(); ++r) {
      Prior& prior = of_clocks[job.clock[r]];
      prior.low = std::max(prior.low, priors[r].low);
      prior.high = std::min(prior.high, priors[r].high);
      if (prior.measured.empty()) prior.measured = priors[r].measured;
    }
  }
  job.solved = solve_clocks(seen, job.collectives.size(), of_clocks, options);
  for (const std::uint32_t k : job.solved.left_out) job.collectives[k].differs = true;
}

// What left before all had come is matched wrongly, or does not wait.
void check(Job& job) {
  for (Matched& each : job.collectives) {
    std::int64_t last = no_begin;
    std::int64_t first = no_end;
    for (const Member& member : each.members) {
      const Collective& one = job.at(member);
      const Moment come = job.moment(member.rank, one.begin);
      if (one.gives() && come.known()) last = std::max(last, come.low - one.early);
      if (!one.takes() || one.enqueued || one.end == no_time) continue;
      const Moment gone = job.moment(member.rank, one.end);
      if (gone.known()) first = std::min(first, gone.high);
    }
    if (last != no_begin && first != no_end && last > first + tolerance) each.differs = true;
  }
}

void put_in_order(Job& job) {
  std::vector<std::int64_t> released(job.collectives.size(), no_begin);
  for (std::size_t k = 0; k < job.collectives.size(); ++k) {
    for (const Member& member : job.collectives[k].members) {
      const Moment come = job.moment(member.rank, job.at(member).begin);
      if (come.known()) released[k] = std::max(released[k], come.middle());
    }
  }
  std::vector<std::uint32_t> order(job.collectives.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return released[a] < released[b]; });
  std::vector<std::uint32_t> place(order.size());
  std::vector<Matched> sorted(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted[i] = std::move(job.collectives[order[i]]);
  }
  job.collectives.swap(sorted);
  for (auto& of_rank : job.of) {
    for (std::uint32_t& each : of_rank) {
      if (each != Job::unmatched) each = place[each];
    }
  }
  for (std::uint32_t& each : job.solved.left_out) each = place[each];
  for (Contradiction& each : job.solved.contradictions) each.collective = place[each.collective];
}

// The step of a collective is that of the first of its members that has steps.
void find_steps(Job& job) {
  std::unordered_map<std::int64_t, std::uint32_t> numbers;
  bool has = false;
  for (const RankTrace& trace : job.ranks) has = has || !trace.steps.empty();
  std::uint32_t last = 0;
  for (std::size_t k = 0; k < job.collectives.size(); ++k) {
    Matched& each = job.collectives[k];
    std::int64_t number = has ? -1 : static_cast<std::int64_t>(k);
    for (const Member& member : each.members) {
      const std::vector<Step>& steps = job.ranks[member.rank].steps;
      const std::int64_t at = job.at(member).begin;
      const auto after =
          std::upper_bound(steps.begin(), steps.end(), at,
                           [](std::int64_t time, const Step& step) { return time < step.start; });
      if (after == steps.begin()) continue;
      number = (after - 1)->number;
      break;
    }
    const auto place = numbers.emplace(number, job.steps.size());
    if (place.second) job.steps.push_back(number);
    each.step = place.first->second;
    last = std::max(last, each.step);
  }
}

}  // namespace

void match(Job& job, const std::vector<Prior>& priors, const ClockOptions& options) {
  number_clocks(job);
  pair_up(job);
  if (job.clocks > 1) find_clocks(job, priors, options);
  check(job);
  put_in_order(job);
  find_steps(job);
}

}  // namespace nvspan::ranks
