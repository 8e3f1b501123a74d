// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/cause/blame.hpp"

#include "core/statistics/order.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace nvspan::ranks {
namespace {

constexpr std::size_t most_roots = 8;  // that a delay keeps

class Finder {
 public:
  explicit Finder(const Job& job) : job_(job) {
    blame_.outcomes.resize(job.collectives.size());
    blame_.ranks.resize(job.ranks.size());
    const std::vector<float> none(job.steps.size(), 0);
    blame_.late.assign(job.ranks.size(), none);
    blame_.excess.assign(job.ranks.size(), none);
  }

  Blame find() {
    for (std::uint32_t k = 0; k < job_.collectives.size(); ++k) {
      const Matched& each = job_.collectives[k];
      if (each.compares() && collect(each)) judge(k);
    }
    return std::move(blame_);
  }

 private:
  // The arrivals of a collective. False: a clock is not known.
  bool collect(const Matched& of) {
    arrivals_.clear();
    moments_.clear();
    work_.clear();
    for (const Member& member : of.members) {
      const Moment come = job_.moment(member.rank, job_.at(member).begin);
      if (!come.known()) {
        ++blame_.uncertain;
        return false;
      }
      moments_.push_back(come);
      arrivals_.push_back(static_cast<double>(come.middle() - job_.solved.base));
      work_.push_back(work_of(member));
    }
    return true;
  }

  double work_of(const Member& member) const {
    const std::size_t from = job_.since[member.rank][member.index];
    return static_cast<double>(job_.ranks[member.rank].work(from, member.index));
  }

  void judge(std::uint32_t k) {
    const Matched& of = job_.collectives[k];
    CollectiveOutcome& outcome = blame_.outcomes[k];
    std::size_t last = of.members.size();
    for (std::size_t m = 0; m < of.members.size(); ++m) {
      if (!job_.at(of.members[m]).gives()) continue;
      if (last == of.members.size() || arrivals_[m] > arrivals_[last]) last = m;
    }
    if (last == of.members.size()) return;
    outcome.released = moments_[last].middle();
    const bool together = of.kind == CollectiveKind::all;
    const double median = together ? median_of(arrivals_) : 0;
    const double usual_work = together ? median_of(work_) : 0;
    for (std::size_t m = 0; m < of.members.size(); ++m) {
      const Collective& one = job_.at(of.members[m]);
      RankSums& sums = blame_.ranks[of.members[m].rank];
      ++sums.collectives;
      if (one.end != no_time) {
        sums.talked += one.end - one.begin;
        if (one.wait != no_time) sums.blocked += one.end - one.wait;
      }
      if (one.takes()) {
        const std::int64_t waits = waiting(moments_[m], moments_[last]);
        sums.waited += waits;
        outcome.waited += waits;
      }
      if (!together) continue;
      float& late = blame_.late[of.members[m].rank][of.step];
      late = std::max(late, static_cast<float>(arrivals_[m] - median));
      blame_.excess[of.members[m].rank][of.step] += static_cast<float>(work_[m] - usual_work);
    }
    // Those who wait for it: of a broadcast the others than the root.
    others_.clear();
    std::int64_t unsure = 0;
    for (std::size_t m = 0; m < of.members.size(); ++m) {
      if (m == last || !job_.at(of.members[m]).takes()) continue;
      others_.push_back(arrivals_[m]);
      unsure = std::max(unsure, moments_[m].uncertainty());
    }
    if (others_.empty()) return;
    unsure += moments_[last].uncertainty();
    const double delay = arrivals_[last] - median_of(others_);
    if (delay <= 0) return;
    outcome.delay = static_cast<std::int64_t>(delay);
    outcome.uncertainty = job_.clocks > 1 ? unsure : 0;
    if (job_.clocks > 1 && outcome.delay <= unsure) {
      ++blame_.uncertain;
      return;
    }
    outcome.last = of.members[last].rank;
    RankSums& sums = blame_.ranks[outcome.last];
    sums.late += outcome.delay;
    ++sums.was_last;
    find_roots(of, last, outcome);
  }

  double median_of(const std::vector<double>& values) {
    room_ = values;
    return core::median(room_);
  }
  double median_without(const std::vector<double>& values, std::size_t without) {
    copy_others(values, without, room_);
    return room_.empty() ? 0 : core::median(room_);
  }

  void find_roots(const Matched& of, std::size_t last, CollectiveOutcome& outcome) {
    const Member& culprit = of.members[last];
    const RankTrace& trace = job_.ranks[culprit.rank];
    const auto delay = static_cast<double>(outcome.delay);
    const double more = work_[last] - median_without(work_, last);
    const double own = std::max(0.0, std::min(more, delay));
    if (own > 0) {
      // Range by range; what it did shorter than the others is taken off in proportion.
      std::vector<Root> longer;
      double sum = 0;
      const std::size_t since = job_.since[culprit.rank][culprit.index];
      std::set<std::int32_t> names;
      for (std::size_t at = trace.first[since]; at < trace.first[culprit.index + 1]; ++at) {
        names.insert(trace.parts[at].name);
      }
      for (const std::int32_t name : names) {
        values_.clear();
        for (const Member& member : of.members) {
          const std::size_t from = job_.since[member.rank][member.index];
          values_.push_back(
              static_cast<double>(job_.ranks[member.rank].work(from, member.index, name)));
        }
        const double excess = values_[last] - median_without(values_, last);
        if (excess <= 0) continue;
        longer.push_back(Root{culprit.rank, name, excess});
        sum += excess;
      }
      for (Root& root : longer) {
        root.ns *= own / sum;
        outcome.roots.push_back(root);
      }
    }
    const double rest = delay - own;
    if (rest > 0) inherit(culprit, rest, outcome);
    std::sort(outcome.roots.begin(), outcome.roots.end(),
              [](const Root& a, const Root& b) { return a.ns > b.ns; });
    if (outcome.roots.size() > most_roots) outcome.roots.resize(most_roots);
  }

  // It came late as it had left the collective before late: that one's roots made it so, as far as
  // it waited there.
  void inherit(const Member& late, double rest, CollectiveOutcome& outcome) {
    if (late.index == 0) return;
    const std::uint32_t before = job_.of[late.rank][late.index - 1];
    if (before == Job::unmatched) return;
    const CollectiveOutcome& cause = blame_.outcomes[before];
    if (cause.roots.empty() || cause.last == late.rank || cause.last == CollectiveOutcome::nobody)
      return;
    const Collective& one = job_.ranks[late.rank].collectives[late.index - 1];
    const Moment came = job_.moment(late.rank, one.begin);
    const auto waited = static_cast<double>(cause.released - came.middle());
    const double passed = std::min(rest, waited);
    double sum = 0;
    for (const Root& root : cause.roots) sum += root.ns;
    if (passed <= 0 || sum <= 0) return;
    for (const Root& root : cause.roots) {
      Root share = root;
      share.ns *= passed / sum;
      const auto same = std::find_if(
          outcome.roots.begin(), outcome.roots.end(),
          [&](const Root& has) { return has.rank == root.rank && has.name == root.name; });
      if (same == outcome.roots.end()) {
        outcome.roots.push_back(share);
      } else {
        same->ns += share.ns;
      }
    }
  }

  const Job& job_;
  Blame blame_;
  std::vector<double> arrivals_, work_, others_, values_, room_;
  std::vector<Moment> moments_;
};

}  // namespace

void copy_others(const std::vector<double>& values, std::size_t without,
                 std::vector<double>& others) {
  others.clear();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != without) others.push_back(values[i]);
  }
}

Blame find_blame(const Job& job) { return Finder(job).find(); }

std::vector<Arrival> arrivals(const Job& job, const Matched& of) {
  std::vector<Arrival> found;
  found.reserve(of.members.size());
  Moment last;
  bool compares = of.compares();
  for (const Member& member : of.members) {
    const Collective& one = job.at(member);
    const Moment come = job.moment(member.rank, one.begin);
    Arrival& arrival = found.emplace_back();
    arrival.rank = member.rank;
    compares = compares && come.known();
    if (!come.known()) continue;
    arrival.come = come.middle();
    arrival.uncertainty = come.uncertainty();
    if (one.gives() && (!last.known() || come.middle() > last.middle())) last = come;
    if (one.end == no_time) continue;
    const Moment gone = job.moment(member.rank, one.end);
    if (gone.known()) arrival.gone = gone.middle();
  }
  if (!compares || !last.known()) return found;
  for (std::size_t m = 0; m < found.size(); ++m) {
    const Collective& one = job.at(of.members[m]);
    if (one.takes()) found[m].waited = waiting(job.moment(found[m].rank, one.begin), last);
  }
  return found;
}

}  // namespace nvspan::ranks
