// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/steps/step_track.hpp"

#include <algorithm>
#include <iterator>

namespace nvspan::reader {

void StepTrack::begin_thread(std::uint32_t process, std::uint32_t thread) {
  process_ = process;
  thread_ = thread;
  end_step();
}

std::uint64_t StepTrack::enter(std::uint8_t role, std::int64_t at, StepNumber number) {
  if (role == role_of_step) {
    if (step_ != no_step) return 0;  // a step within a step
    begin_step(at, number);
    return entry_of(role);
  }
  if (step_ == no_step) return 0;
  pass(at);
  if (role == role_of_waiting) {
    if (++waiting_ == 1) ++steps_.wait_calls[step_];
    return entry_of(role);
  }
  OpenPhase opened{static_cast<std::uint16_t>(role - first_phase), 0};
  if (steps_.has_work) {
    opened.range = static_cast<std::uint32_t>(phase_ends_.size());
    phase_ends_.push_back(at);
  }
  open_phases_.push_back(opened);
  return entry_of(role);
}

void StepTrack::leave(std::uint64_t entered, std::int64_t at) {
  const std::uint8_t role = role_of(entered);
  if (step_ == no_step || entry_of(role) != entered) return;
  pass(at);
  if (role == role_of_step) {
    steps_.duration[step_] = last_ - steps_.start[step_];
    return end_step();
  }
  if (role == role_of_waiting) {
    --waiting_;
    return;
  }
  const auto phase = static_cast<std::uint16_t>(role - first_phase);
  const auto found = std::find_if(open_phases_.rbegin(), open_phases_.rend(),
                                  [&](const OpenPhase& open) { return open.phase == phase; });
  if (found == open_phases_.rend()) return;
  phase_ends_[found->range] = at;
  open_phases_.erase(std::next(found).base());
}

void StepTrack::abandon(std::uint64_t entered) {
  if (role_of(entered) == role_of_step && entry_of(role_of_step) == entered) give_up();
}

void StepTrack::forget_stretches() {
  for (auto& of_thread : stretches_) of_thread.clear();
  phase_ends_.resize(1);
}

void StepTrack::begin_step(std::int64_t at, StepNumber number) {
  step_ = static_cast<std::uint32_t>(steps_.size());
  last_ = at;
  steps_.process.push_back(process_);
  steps_.thread.push_back(thread_);
  steps_.has_number.push_back(number.is_there ? 1 : 0);
  steps_.number.push_back(number.value);
  steps_.start.push_back(at);
  steps_.duration.push_back(0);
  resize();
}

void StepTrack::end_step() {
  step_ = no_step;
  open_phases_.clear();
  waiting_ = 0;
}

void StepTrack::give_up() {
  if (step_ == no_step) return;
  ++steps_.unclosed;
  for (auto* column : {&steps_.process, &steps_.thread, &steps_.has_number, &steps_.number,
                       &steps_.start, &steps_.duration}) {
    column->pop_back();
  }
  stretches_[thread_].drop(step_);
  resize();
  end_step();
}

void StepTrack::resize() {
  const std::size_t count = steps_.size();
  steps_.cpu.resize(count * steps_.phases);
  steps_.waits.resize(count);
  steps_.wait_calls.resize(count);
}

void StepTrack::pass(std::int64_t now) {
  if (now <= last_) return;
  const OpenPhase none{static_cast<std::uint16_t>(steps_.phases - 1), 0};
  const OpenPhase& in = open_phases_.empty() ? none : open_phases_.back();
  steps_.cpu[step_ * steps_.phases + in.phase] += now - last_;
  if (waiting_ != 0) steps_.waits[step_] += now - last_;
  if (steps_.has_work) {
    stretches_[thread_].push_back(
        StepStretch{last_, now, step_, in.range, in.phase, waiting_ != 0});
  }
  last_ = now;
}

}  // namespace nvspan::reader
