// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/steps/step_work.hpp"

#include "core/log_histogram.hpp"
#include "core/statistics/order.hpp"
#include "reader/projection/work_scan.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr int most_ranges_around =
    16;  // ranges that may be around one, of which the innermost is taken

// On the thread that launched it, or, as autograd launches from threads of its own, on another.
// Where steps of several others run then, it is not told which.
const StepStretch* owner_of(const std::vector<Stretches>& stretches, const StepOp& op,
                            bool& is_told) {
  const std::int64_t time = op.is_launch_known ? op.launched : op.start;
  if (op.is_launch_known && op.thread < stretches.size()) {
    if (const StepStretch* found = stretches[op.thread].at(time)) return found;
  }
  const StepStretch* found = nullptr;
  for (const Stretches& of_thread : stretches) {
    const StepStretch* const one = of_thread.at(time);
    if (one != nullptr && found != nullptr) is_told = false;
    if (found == nullptr) found = one;
  }
  return is_told ? found : nullptr;
}

// Puts them in the order of their starts.
void sort_by_start(core::LargeVector<StepOp>& ops) {
  const auto earlier = [](const StepOp& a, const StepOp& b) { return a.start < b.start; };
  if (!std::is_sorted(ops.begin(), ops.end(), earlier)) {
    std::sort(ops.begin(), ops.end(), earlier);
  }
}

// The one that has work for the most time; ops in the order of their starts.
std::int16_t busiest_device(Steps& steps, const core::LargeVector<StepOp>& ops) {
  std::map<std::int16_t, CoveredTime> devices;
  for (const StepOp& op : ops) devices[op.device].add(op.start, op.end);
  const auto busiest = std::max_element(
      devices.begin(), devices.end(),
      [](const auto& a, const auto& b) { return a.second.total < b.second.total; });
  if (busiest == devices.end()) return -1;
  steps.devices_left = std::max<std::uint64_t>(steps.devices_left, devices.size() - 1);
  return busiest->first;
}

// The device ranges of a graph's replay have no launch. Those that run within a range around the
// replay are of its launch: it has their time already, and they run later, maybe in another step.
void find_launches_of_replays(core::LargeVector<StepOp>& ops) {
  std::map<std::int32_t, std::vector<StepOp>> around;  // of each device, by start
  bool any = false;
  for (const StepOp& op : ops) any = any || !op.is_launch_known;
  if (!any) return;
  for (const StepOp& op : ops) {
    if (op.is_launch_known) around[op.device].push_back(op);
  }
  for (auto& of_device : around) {
    std::sort(of_device.second.begin(), of_device.second.end(),
              [](const StepOp& a, const StepOp& b) { return a.start < b.start; });
  }
  for (StepOp& op : ops) {
    const auto found = around.find(op.device);
    if (op.is_launch_known || found == around.end()) continue;
    // The clocks of graphs and of streams differ by some us.
    const std::int64_t middle = op.start + (op.end - op.start) / 2;
    const std::vector<StepOp>& outer = found->second;
    auto at =
        std::upper_bound(outer.begin(), outer.end(), middle,
                         [](std::int64_t time, const StepOp& one) { return time < one.start; });
    for (int looked = 0; at != outer.begin() && looked < most_ranges_around; ++looked) {
      --at;
      if (at->end < middle) continue;
      op.is_launch_known = op.is_of_replay = true;
      op.launched = at->launched;
      op.thread = at->thread;
      break;
    }
  }
}

bool is_known_copy(const StepOp& op) {
  return op.kind == StepOp::Kind::to_host && op.is_launch_known;
}

// Marks copies to the host after each of which its thread launches nothing until the copy has
// ended, and so long that it must have waited: CUDA's calls, which would say so, are not recorded.
void find_copy_waits(core::LargeVector<StepOp>& ops) {
  if (std::none_of(ops.begin(), ops.end(), is_known_copy)) return;
  constexpr std::size_t least_copies = 5;
  constexpr double nearly_all = 0.98;
  constexpr double longer = 2;  // times the pause after other launches
  const auto place = [](const StepOp& op) {
    return std::make_tuple(!op.is_launch_known, op.thread, op.launched);
  };
  std::sort(ops.begin(), ops.end(),
            [&](const StepOp& a, const StepOp& b) { return place(a) < place(b); });
  core::LargeVector<std::int64_t> copies;
  core::LogHistogram others;
  std::uint64_t count = 0;
  double ended = 0;
  for (std::size_t i = 0, next = 0; i < ops.size() && ops[i].is_launch_known; ++i) {
    const StepOp& op = ops[i];
    while (next < ops.size() && place(ops[next]) <= place(op)) ++next;
    if (next == ops.size() || !ops[next].is_launch_known || ops[next].thread != op.thread) continue;
    const std::int64_t pause = ops[next].launched - op.launched;
    if (is_known_copy(op)) {
      copies.push_back(pause);
      if (ops[next].launched >= op.end) ++ended;
    } else {
      others.add(static_cast<std::uint64_t>(pause));
      ++count;
    }
  }
  if (copies.size() < least_copies || count == 0) return;
  if (ended < nearly_all * static_cast<double>(copies.size())) return;
  const auto usual = static_cast<double>(core::median(copies));
  if (usual < longer * others.percentile(0.5, count)) return;
  for (StepOp& op : ops) op.is_waited_for = is_known_copy(op);
}

// Takes the time in which a device has work from the stretches of steps; times only grow.
class IdleTaker {
 public:
  IdleTaker(Steps& steps, const std::vector<Stretches>& stretches) : steps_(steps) {
    for (const Stretches& of_thread : stretches) {
      if (!of_thread.blocks().empty()) threads_.push_back({&of_thread.blocks(), 0, 0});
      for (const Stretches::Block& block : of_thread.blocks()) {
        for (const StepStretch& stretch : block) idle(stretch) += stretch.end - stretch.start;
      }
    }
  }

  void take(std::int64_t start, std::int64_t end) {
    start = std::max(start, until_);
    if (end <= start) return;
    until_ = end;
    for (Place& first : threads_) {
      while (first.is_inside() && first.stretch().end <= start) first.step();
      for (Place at = first; at.is_inside() && at.stretch().start < end; at.step()) {
        const StepStretch& stretch = at.stretch();
        idle(stretch) -=
            std::max<std::int64_t>(0, std::min(stretch.end, end) - std::max(stretch.start, start));
      }
    }
  }

 private:
  struct Place {
    const std::vector<Stretches::Block>* blocks;
    std::size_t block, next;

    bool is_inside() const { return block < blocks->size(); }
    const StepStretch& stretch() const { return (*blocks)[block][next]; }
    void step() {
      if (++next < (*blocks)[block].size()) return;
      ++block;
      next = 0;
    }
  };

  std::int64_t& idle(const StepStretch& stretch) {
    const std::size_t cause = stretch.waits ? steps_.phases : stretch.phase;
    return steps_.idle[stretch.step * (steps_.phases + 1) + cause];
  }

  Steps& steps_;
  std::vector<Place> threads_;
  std::int64_t until_ = std::numeric_limits<std::int64_t>::min();
};

// The work of the steps from `first` on, which comes in the order of its starts.
class WorkSums {
 public:
  WorkSums(Steps& steps, std::size_t first)
      : steps_(steps),
        first_(first),
        until_(steps.size() - first, none),
        until_of_phase_(until_.size() * steps.phases, none) {}

  void add(const OwnedOp& op) {
    const std::size_t step = op.step - first_;
    steps_.gpu[op.step * steps_.phases + op.phase] +=
        taken(until_of_phase_[step * steps_.phases + op.phase], op);
    steps_.busy[op.step] += taken(until_[step], op);
    ++steps_.ops[op.step];
  }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  static std::int64_t taken(std::int64_t& until, const OwnedOp& op) {
    const std::int64_t time = std::max<std::int64_t>(0, op.end - std::max(op.start, until));
    until = std::max(until, op.end);
    return time;
  }

  Steps& steps_;
  std::size_t first_;
  core::LargeVector<std::int64_t> until_, until_of_phase_;  // up to when their time is counted
};

std::size_t first_step(const Steps& steps, const std::vector<Stretches>& stretches) {
  std::size_t first = steps.size();
  for (const Stretches& of_thread : stretches) {
    if (of_thread.blocks().empty()) continue;
    first = std::min<std::size_t>(first, of_thread.blocks().front().front().step);
  }
  return first;
}

// The medians of each step, whose ops follow each other. `step`, `ahead` and `behind` read them.
template <typename Ops, typename Step, typename Ahead, typename Behind>
void put_medians(Steps& steps, Ops& ops, Step&& step, Ahead&& ahead, Behind&& behind) {
  core::LargeVector<std::int64_t> aheads, behinds;
  for (auto first = ops.begin(); first != ops.end();) {
    const std::uint32_t of = step(*first);
    aheads.clear();
    behinds.clear();
    for (; first != ops.end() && step(*first) == of; ++first) {
      if (ahead(*first) >= 0) aheads.push_back(ahead(*first));
      if (behind(*first) != Steps::not_known) behinds.push_back(behind(*first));
    }
    if (!aheads.empty()) steps.ahead[of] = core::median(aheads);
    if (!behinds.empty()) steps.behind[of] = core::median(behinds);
  }
}

// Of each what add_work() has put into it: its step, how far ahead its launch was, how far behind
// the phase its end.
struct Delays {
  static void put(StepOp& op, const OwnedOp& owned) {
    op.thread = owned.step;
    op.start = owned.ahead;
    op.end = owned.behind;
  }
  static std::uint32_t step(const StepOp& op) { return op.thread; }
  static std::int64_t ahead(const StepOp& op) { return op.start; }
  static std::int64_t behind(const StepOp& op) { return op.end; }
};

template <typename Ops, typename Step>
void sort_by_step(Ops& ops, Step&& step) {
  const auto earlier = [&](const auto& a, const auto& b) { return step(a) < step(b); };
  if (!std::is_sorted(ops.begin(), ops.end(), earlier)) std::sort(ops.begin(), ops.end(), earlier);
}

}  // namespace

void add_owned(Steps& steps, core::LargeVector<OwnedOp> owned) {
  std::sort(owned.begin(), owned.end(),
            [](const OwnedOp& a, const OwnedOp& b) { return a.start < b.start; });
  WorkSums sums(steps, 0);
  for (const OwnedOp& op : owned) sums.add(op);
  const auto step = [](const OwnedOp& op) { return op.step; };
  sort_by_step(owned, step);
  put_medians(
      steps, owned, step, [](const OwnedOp& op) { return op.ahead; },
      [](const OwnedOp& op) { return op.behind; });
}

void Stretches::drop(std::uint32_t step) {
  while (!blocks_.empty() && blocks_.back().back().step == step) {
    blocks_.back().pop_back();
    if (blocks_.back().empty()) blocks_.pop_back();
  }
}

const StepStretch* Stretches::at(std::int64_t time) const {
  const auto next = std::upper_bound(
      blocks_.begin(), blocks_.end(), time,
      [](std::int64_t wanted, const Block& block) { return wanted < block.front().start; });
  if (next == blocks_.begin()) return nullptr;
  const Block& block = *(next - 1);
  const auto after = std::upper_bound(
      block.begin(), block.end(), time,
      [](std::int64_t wanted, const StepStretch& one) { return wanted < one.start; });
  const StepStretch& before = *(after - 1);
  return time <= before.end ? &before : nullptr;
}

void add_work(Steps& steps, const std::vector<Stretches>& stretches, const PhaseEnds& ends,
              core::LargeVector<StepOp> ops) {
  steps.fit_work();
  find_launches_of_replays(ops);
  const auto has_calls = [](std::int64_t calls) { return calls != 0; };
  const bool waits_known = std::any_of(steps.wait_calls.begin(), steps.wait_calls.end(), has_calls);
  if (!waits_known) find_copy_waits(ops);
  sort_by_start(ops);
  const std::int16_t busiest = busiest_device(steps, ops);
  IdleTaker idle(steps, stretches);
  WorkSums sums(steps, first_step(steps, stretches));
  std::size_t kept = 0;  // of ops: those of steps, of which Delays are left
  for (const StepOp& op : ops) {
    if (op.device == busiest) idle.take(op.start, op.end);
    if (op.kind == StepOp::Kind::graph) ++steps.graphs;
    bool is_told = true;
    const StepStretch* const owner = owner_of(stretches, op, is_told);
    if (owner == nullptr) {
      ++(is_told ? steps.outside : steps.unshared);
      continue;
    }
    if (!op.is_launch_known) ++steps.by_run_time;
    if (op.is_waited_for) {
      steps.waits[owner->step] += op.end - op.launched;
      ++steps.wait_calls[owner->step];
    }
    const bool has_launch = op.is_launch_known && !op.is_of_replay;
    const std::int64_t ahead = has_launch ? std::max<std::int64_t>(op.start - op.launched, 0) : -1;
    // NCCL launches what a replay of a graph needs from a thread of the driver, in no phase.
    const bool in_phase = op.is_launch_known && owner->phase + std::size_t{1} != steps.phases;
    const auto phase =
        in_phase || op.phase < 0 ? owner->phase : static_cast<std::uint16_t>(op.phase);
    const bool has_end = has_launch && owner->range != 0;
    const std::int64_t behind = has_end ? op.end - ends[owner->range] : Steps::not_known;
    const OwnedOp owned{owner->step, phase, op.start, op.end, ahead, behind};
    sums.add(owned);
    Delays::put(ops[kept++], owned);
  }
  ops.resize(kept);
  sort_by_step(ops, Delays::step);
  put_medians(steps, ops, Delays::step, Delays::ahead, Delays::behind);
}

}  // namespace nvspan::reader
