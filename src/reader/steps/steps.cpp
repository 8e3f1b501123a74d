// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/steps/steps.hpp"

#include "reader/scan/range_scan.hpp"
#include "reader/steps/step_launches.hpp"
#include "reader/steps/step_track.hpp"
#include "trace/payload/payload.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace nvspan::reader {
namespace {

// When the chosen steps of each thread begin.
class ChosenStarts {
 public:
  ChosenStarts(const LoopSteps& steps, std::size_t threads) : starts_(threads), next_(threads) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      starts_[static_cast<std::size_t>(steps.thread[i])].push_back(steps.start[i]);
    }
  }
  bool has(std::uint32_t thread, std::int64_t at) const {
    return std::binary_search(starts_[thread].begin(), starts_[thread].end(), at);
  }
  // Asked in the order of a thread's times; of ranges that begin at once the first, which is around
  // the others, has it.
  bool takes_next(std::uint32_t thread, std::int64_t at) {
    const auto& starts = starts_[thread];
    std::size_t& next = next_[thread];
    while (next < starts.size() && starts[next] < at) ++next;
    if (next == starts.size() || starts[next] != at) return false;
    ++next;
    return true;
  }

 private:
  std::vector<core::LargeVector<std::int64_t>> starts_;
  std::vector<std::size_t> next_;
};

// Push ranges are met in the order of their times. Start/end ranges are not in recordings of
// events from elsewhere: `sorts` takes everything down first.
class StepScan : public RangeScan<StepScan> {
 public:
  StepScan(const Recording& recording, const StepOptions& options, bool sorts, Steps& out)
      : RangeScan(recording, Selection::whole()),
        options_(options),
        sorts_(sorts),
        roles_(options.roles),
        chosen_(*options.chosen, recording.threads().size()),
        out_(out),
        track_(out, recording.threads().size()),
        launches_(recording, options.call_domain, options.work_domains) {
    roles_.resize(recording.sites().size(), 0);
    out_.phases = options.phases + 1;
    out_.has_work = has_device_ranges(recording);
  }

  void begin_thread(std::uint32_t thread) {
    track_.begin_thread(recording_.threads()[thread].process, thread);
  }
  void end_thread(std::uint32_t) { track_.end_thread(); }

  // The row of a range is what was entered, 0 for most.
  std::uint64_t open(const PushRange& range, std::uint64_t parent, const EntryPayload& payload) {
    if (launches_.is_call(range.site, *process_))
      launches_.add_call(time(range.start), thread_, payload);
    const std::uint8_t role = roles_[range.site];
    if (role == 0) return 0;
    if (role >= first_phase && options_.direct && !is_step(parent)) return 0;
    return enter(role, range.site, time(range.start), payload);
  }
  [[gnu::always_inline]] void ended(const ScannedRange& range) {
    if (range.kind == RangeKind::device) return launches_.end(range.row, range);
    if (range.reason != EndReason::closed && roles_[range.site] == role_of_step) ++out_.unclosed;
    if (range.row == 0 || range.row == no_row) return;
    leave(range);
  }
  std::uint64_t opened(const ScannedRange& range, std::uint64_t, std::uint64_t ticks,
                       const EntryPayload& payload) {
    const ReadSite& site = recording_.sites()[range.site];
    if (site.device != 0) {
      const std::uint8_t role = roles_[range.site];
      return launches_.begin(recording_.threads()[thread_].process, thread_, range.site,
                             role < first_phase ? -1 : role - first_phase, payload);
    }
    if (launches_.is_call(range.site, *process_)) launches_.add_call(time(ticks), thread_, payload);
    const std::uint8_t role = roles_[range.site];
    if (role == 0 || (role >= first_phase && options_.direct)) return 0;
    has_start_end = true;
    return sorts_ ? note(role, range.site, range.start, payload) : 0;
  }
  void left_out(const ScannedRange& range) { ended(range); }

  void end_process(std::uint32_t process) {
    replay(process);
    if (out_.has_work) add_work(out_, track_.stretches(), track_.phase_ends(), launches_.take());
    out_.of_device_ranges = out_.has_work && !launches_.has_seen();
    track_.forget_stretches();
  }

  bool has_start_end = false;  // a range of interest is one

 private:
  struct Noted {
    std::uint32_t thread;
    std::uint8_t role;
    StepNumber number;
    std::int64_t start, end;  // `open_end`: it did not end there
    std::uint64_t entered;
  };
  static constexpr std::int64_t open_end = std::numeric_limits<std::int64_t>::max();

  bool is_step(std::uint64_t row) const {
    if (row == 0 || row == no_row) return false;
    return (sorts_ ? noted_[row - 1].role : StepTrack::role_of(row)) == role_of_step;
  }

  std::uint64_t enter(std::uint8_t role, std::uint32_t site, std::int64_t at,
                      const EntryPayload& payload) {
    if (sorts_) return note(role, site, at, payload);
    if (role == role_of_step && !chosen_.takes_next(thread_, at)) return 0;
    return track_.enter(role, at, number_of(site, payload));
  }
  void leave(const ScannedRange& range) {
    // A start/end range may end in another thread, whose step this is not.
    const bool here = range.reason == EndReason::closed && range.thread == range.end_thread;
    if (sorts_) {
      if (here) noted_[range.row - 1].end = range.end;
    } else if (here) {
      track_.leave(range.row, range.end);
    } else {
      track_.abandon(range.row);
    }
  }

  // A payload is a number where nvspan.step put it; others are sizes, or anything else.
  StepNumber number_of(std::uint32_t site, const EntryPayload& payload) const {
    StepNumber number;
    if (!payload.present || payload.bytes != nullptr) return number;
    const ReadSite& of = recording_.sites()[site];
    if (recording_.text(of.name) != "step") return number;
    if (recording_.text(recording_.domains()[of.domain]) != "torch") return number;
    const auto type = static_cast<trace::PayloadType>(recording_.sites()[site].own_payload_type());
    number.is_there = trace::use_scalar(
        type, payload.bits, [&](auto value) { number.value = static_cast<std::int64_t>(value); });
    return number;
  }

  std::uint64_t note(std::uint8_t role, std::uint32_t site, std::int64_t at,
                     const EntryPayload& payload) {
    noted_.push_back(Noted{thread_, role, number_of(site, payload), at, open_end, 0});
    return noted_.size();
  }

  // Enters and leaves what was noted, thread by thread in the order of its times.
  void replay(std::uint32_t process) {
    note_cycles(process);
    struct Change {
      std::int64_t at;
      bool enters;
      std::int64_t length;  // what is around comes first
      std::size_t noted;
    };
    std::vector<std::vector<Change>> changes(noted_.empty() ? 0 : recording_.threads().size());
    for (std::size_t i = 0; i < noted_.size(); ++i) {
      const Noted& one = noted_[i];
      if (one.role == role_of_step && !chosen_.has(one.thread, one.start)) continue;
      if (one.end <= one.start) continue;
      const std::int64_t length = one.end == open_end ? open_end : one.end - one.start;
      changes[one.thread].push_back(Change{one.start, true, length, i});
      if (one.end != open_end) changes[one.thread].push_back(Change{one.end, false, 0, i});
    }
    for (std::uint32_t thread = 0; thread < changes.size(); ++thread) {
      if (changes[thread].empty()) continue;
      std::sort(changes[thread].begin(), changes[thread].end(),
                [](const Change& a, const Change& b) {
                  return std::make_tuple(a.at, a.enters, -a.length, a.noted) <
                         std::make_tuple(b.at, b.enters, -b.length, b.noted);
                });
      track_.begin_thread(process, thread);
      for (const Change& change : changes[thread]) {
        Noted& one = noted_[change.noted];
        if (change.enters) {
          one.entered = track_.enter(one.role, change.at, one.number);
        } else if (one.entered != 0) {
          track_.leave(one.entered, change.at);
        }
      }
      track_.end_thread();
    }
    noted_.clear();
  }

  // No range is around the steps of a cycle.
  void note_cycles(std::uint32_t process) {
    const LoopSteps& steps = *options_.chosen;
    if (steps.kind != LoopSteps::Kind::cycle) return;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto thread = static_cast<std::uint32_t>(steps.thread[i]);
      if (recording_.threads()[thread].process != process) continue;
      noted_.push_back(Noted{thread, role_of_step, {}, steps.start[i], steps.end[i], 0});
    }
  }

  const StepOptions& options_;
  const bool sorts_;
  std::vector<std::uint8_t> roles_;
  ChosenStarts chosen_;
  Steps& out_;
  StepTrack track_;
  StepLaunches launches_;
  std::vector<Noted> noted_;
};

}  // namespace

void Steps::fit_work() {
  const std::size_t count = size();
  gpu.resize(count * phases);
  idle.resize(count * (phases + 1));
  busy.resize(count);
  ops.resize(count);
  ahead.resize(count, -1);
  behind.resize(count, not_known);
}

void Steps::leave_gaps_out(const std::vector<ReadGap>& gaps) {
  if (gaps.empty() || !has_work || of_device_ranges) return;
  in_gap.resize(size());
  std::size_t left = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::int64_t end = start[i] + duration[i];
    in_gap[i] = std::any_of(gaps.begin(), gaps.end(), [&](const ReadGap& gap) {
      return gap.process == static_cast<std::uint64_t>(process[i]) && gap.from < end &&
             start[i] < gap.to;
    });
    if (!in_gap[i]) {
      ++left;
      continue;
    }
    std::fill_n(&gpu[i * phases], phases, 0);
    std::fill_n(&idle[i * (phases + 1)], phases + 1, 0);
    busy[i] = ops[i] = 0;
    ahead[i] = -1;
    behind[i] = not_known;
  }
  if (left == 0) has_work = false;
}

Steps find_steps(const Recording& recording, const StepOptions& options) {
  for (const bool sorts : {false, true}) {
    if (!sorts && options.chosen->kind == LoopSteps::Kind::cycle) continue;
    Steps steps;
    StepScan scan(recording, options, sorts, steps);
    scan.run_whole();
    steps.fit_work();
    if (!sorts && scan.has_start_end) continue;
    steps.leave_gaps_out(recording.gaps());
    return steps;
  }
  return {};
}

namespace {

// Of a part's time in a step: covered time, where its ranges overlap.
std::int64_t held_of(const HeldRequests::Group& group, std::size_t step, std::int64_t time) {
  if (group.total[step] <= 0) return 0;
  const double share =
      static_cast<double>(group.held[step]) / static_cast<double>(group.total[step]);
  return static_cast<std::int64_t>(static_cast<double>(time) * share);
}

}  // namespace

Steps steps_by_parts(const Recording& recording, const LoopSteps& chosen, const LoopTree& tree,
                     const std::vector<std::size_t>& phases, const HeldRequests* held) {
  Steps steps;
  steps.phases = phases.size() + (held == nullptr ? 1 : 2);
  const std::size_t count = chosen.size();
  steps.cpu.resize(count * steps.phases);
  for (std::size_t i = 0; i < count; ++i) {
    const auto thread = static_cast<std::size_t>(chosen.thread[i]);
    steps.process.push_back(recording.threads()[thread].process);
    std::int64_t* const cpu = &steps.cpu[i * steps.phases];
    std::int64_t outside = held == nullptr ? 0 : held->held[i];  // of what is held: in no part
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
      const auto& series = tree.parts[phases[phase]].series;
      if (series.empty()) continue;
      const std::int64_t taken = held == nullptr ? 0 : held_of(held->groups[phase], i, series[i]);
      cpu[phase] = series[i] - taken;
      outside -= taken;
    }
    if (held != nullptr) cpu[phases.size()] = held->held[i];
    cpu[steps.phases - 1] = tree.self[i] - std::clamp<std::int64_t>(outside, 0, tree.self[i]);
  }
  steps.thread = chosen.thread;
  steps.start = chosen.start;
  steps.duration = tree.steps;
  for (auto* column : {&steps.has_number, &steps.number, &steps.waits, &steps.wait_calls}) {
    column->resize(count);
  }
  steps.fit_work();
  return steps;
}

}  // namespace nvspan::reader
