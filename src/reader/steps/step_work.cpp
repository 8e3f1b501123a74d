// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/steps/step_work.hpp"

#include "core/statistics/order.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr int most_ranges_around =
    16;  // ranges that may be around one, of which the innermost is taken

struct BusyTime {
  std::int64_t start, end;
};

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

// The time that spans cover, which are in the order of their starts.
template <typename Iterator>
std::int64_t covered(Iterator begin, Iterator end) {
  std::int64_t time = 0, until = std::numeric_limits<std::int64_t>::min();
  for (; begin != end; ++begin) {
    if (begin->end <= until) continue;
    time += begin->end - std::max(begin->start, until);
    until = begin->end;
  }
  return time;
}

// Spans in the order of their starts as ones that neither touch nor overlap.
core::LargeVector<BusyTime> united(core::LargeVector<BusyTime> spans) {
  const auto earlier = [](const BusyTime& a, const BusyTime& b) { return a.start < b.start; };
  if (!std::is_sorted(spans.begin(), spans.end(), earlier)) {
    std::sort(spans.begin(), spans.end(), earlier);
  }
  std::size_t kept = 0;
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].start <= spans[kept].end) {
      spans[kept].end = std::max(spans[kept].end, spans[i].end);
    } else {
      spans[++kept] = spans[i];
    }
  }
  if (!spans.empty()) spans.resize(kept + 1);
  return spans;
}

core::LargeVector<BusyTime> busiest_device(Steps& steps, const core::LargeVector<StepOp>& ops) {
  std::map<std::int32_t, core::LargeVector<BusyTime>> devices;
  for (const StepOp& op : ops) devices[op.device].push_back(BusyTime{op.start, op.end});
  core::LargeVector<BusyTime> busiest;
  std::int64_t most = -1;
  for (auto& device : devices) {
    core::LargeVector<BusyTime> spans = united(std::move(device.second));
    const std::int64_t busy = covered(spans.begin(), spans.end());
    if (busy <= most) continue;
    most = busy;
    busiest = std::move(spans);
  }
  if (!devices.empty()) {
    steps.devices_left = std::max<std::uint64_t>(steps.devices_left, devices.size() - 1);
  }
  return busiest;
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

// Copies to the host after each of which its thread launches nothing until the copy has ended, and
// so long that it must have waited: CUDA's calls, which would say so, are not recorded.
class CopyWaits {
 public:
  void find(const core::LargeVector<StepOp>& ops) {
    if (std::none_of(ops.begin(), ops.end(), is_copy)) return;
    for (const StepOp& op : ops) {
      if (!op.is_launch_known) continue;
      if (op.thread >= launches_.size()) launches_.resize(op.thread + std::size_t{1});
      launches_[op.thread].push_back(op.launched);
    }
    for (auto& of_thread : launches_) std::sort(of_thread.begin(), of_thread.end());
    core::LargeVector<std::int64_t> copies, others;
    double ended = 0;
    for (const StepOp& op : ops) {
      const std::int64_t next = next_launch(op);
      if (next == none) continue;
      (is_copy(op) ? copies : others).push_back(next - op.launched);
      if (is_copy(op) && next >= op.end) ++ended;
    }
    if (copies.size() < least_copies || others.empty()) return;
    waits_ = ended >= nearly_all * static_cast<double>(copies.size()) &&
             core::median(copies) >= longer * core::median(others);
  }
  bool operator()(const StepOp& op) const { return waits_ && is_copy(op); }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  static constexpr std::size_t least_copies = 5;
  static constexpr double nearly_all = 0.98;
  static constexpr std::int64_t longer = 2;  // times the pause after other launches

  static bool is_copy(const StepOp& op) {
    return op.kind == StepOp::Kind::to_host && op.is_launch_known;
  }
  std::int64_t next_launch(const StepOp& op) const {
    if (!op.is_launch_known) return none;
    const auto& of_thread = launches_[op.thread];
    const auto next = std::upper_bound(of_thread.begin(), of_thread.end(), op.launched);
    return next == of_thread.end() ? none : *next;
  }

  std::vector<core::LargeVector<std::int64_t>> launches_;  // of each thread, sorted
  bool waits_ = false;
};

void add_idle(Steps& steps, const Stretches& stretches, const core::LargeVector<BusyTime>& busy) {
  const std::size_t causes = steps.phases + 1;
  std::size_t next = 0;
  for (const Stretches::Block& block : stretches.blocks()) {
    for (const StepStretch& stretch : block) {
      while (next < busy.size() && busy[next].end <= stretch.start) ++next;
      std::int64_t idle = stretch.end - stretch.start;
      for (std::size_t i = next; i < busy.size() && busy[i].start < stretch.end; ++i) {
        idle -= std::min(busy[i].end, stretch.end) - std::max(busy[i].start, stretch.start);
      }
      const std::size_t cause = stretch.waits ? steps.phases : stretch.phase;
      steps.idle[stretch.step * causes + cause] += idle;
    }
  }
}

}  // namespace

void add_owned(Steps& steps, core::LargeVector<OwnedOp>& owned) {
  const auto earlier = [](const OwnedOp& a, const OwnedOp& b) {
    return std::tie(a.step, a.phase, a.start) < std::tie(b.step, b.phase, b.start);
  };
  if (!std::is_sorted(owned.begin(), owned.end(), earlier)) {
    std::sort(owned.begin(), owned.end(), earlier);
  }
  core::LargeVector<std::int64_t> ahead, behind;
  for (auto first = owned.begin(); first != owned.end();) {
    const std::uint32_t step = first->step;
    auto last = first;
    ahead.clear();
    behind.clear();
    while (last != owned.end() && last->step == step) {
      auto end = last;
      while (end != owned.end() && end->step == step && end->phase == last->phase) {
        if (end->ahead >= 0) {
          ahead.push_back(end->ahead);
        }
        if (end->behind != Steps::not_known) behind.push_back(end->behind);
        ++end;
      }
      steps.gpu[step * steps.phases + last->phase] = covered(last, end);
      last = end;
    }
    std::sort(first, last, [](const OwnedOp& a, const OwnedOp& b) { return a.start < b.start; });
    steps.busy[step] = covered(first, last);
    steps.ops[step] = last - first;
    if (!ahead.empty()) steps.ahead[step] = core::median(ahead);
    if (!behind.empty()) steps.behind[step] = core::median(behind);
    first = last;
  }
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
  core::LargeVector<OwnedOp> owned;
  owned.reserve(ops.size());
  const auto has_calls = [](std::int64_t calls) { return calls != 0; };
  const bool waits_known = std::any_of(steps.wait_calls.begin(), steps.wait_calls.end(), has_calls);
  CopyWaits copy_waits;
  if (!waits_known) copy_waits.find(ops);
  for (const StepOp& op : ops) {
    if (op.kind == StepOp::Kind::graph) ++steps.graphs;
    bool is_told = true;
    const StepStretch* const owner = owner_of(stretches, op, is_told);
    if (owner == nullptr) {
      ++(is_told ? steps.outside : steps.unshared);
      continue;
    }
    if (!op.is_launch_known) ++steps.by_run_time;
    if (copy_waits(op)) {
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
    owned.push_back(OwnedOp{owner->step, phase, op.start, op.end, ahead, behind});
  }
  add_owned(steps, owned);
  const core::LargeVector<BusyTime> busy = busiest_device(steps, ops);
  for (const Stretches& of_thread : stretches) add_idle(steps, of_thread, busy);
}

}  // namespace nvspan::reader
