// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A step's time by its phases, the GPU's work by the step that launched it, and the typical step.

#include "expect.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "reader/steps/step_track.hpp"
#include "reader/steps/typical_step.hpp"

using nvspan::reader::add_work;
using nvspan::reader::first_phase;
using nvspan::reader::role_of_step;
using nvspan::reader::role_of_waiting;
using nvspan::reader::StepOp;
using nvspan::reader::Steps;
using nvspan::reader::StepTrack;
using nvspan::reader::typical_step;

namespace {

constexpr std::uint8_t load = first_phase, train = first_phase + 1;

template <typename Values>
std::string text_of(const Values& values) {
  std::string text;
  for (const std::int64_t value : values) text += std::to_string(value) + ' ';
  return text;
}

Steps steps_of_two_phases() {
  Steps steps;
  steps.phases = 3;
  steps.has_work = true;
  return steps;
}

void the_innermost_phase_has_the_time() {
  Steps steps = steps_of_two_phases();
  StepTrack track(steps, 1);
  track.begin_thread(0, 0);
  EXPECT(track.enter(load, 5, {}) == 0);  // outside of a step
  const auto step = track.enter(role_of_step, 10, {true, 7});
  EXPECT(track.enter(role_of_step, 12, {}) == 0);  // within one
  const auto outer = track.enter(train, 20, {});
  const auto inner = track.enter(load, 30, {});
  // It ends before what is within it, as ranges of two domains may.
  track.leave(outer, 40);
  track.leave(inner, 60);
  const auto wait = track.enter(role_of_waiting, 70, {});
  track.leave(wait, 75);
  track.leave(step, 100);
  track.leave(inner, 110);  // of a step that is over
  track.end_thread();
  EXPECT_EQUAL(text_of(steps.cpu), "30 10 50 ");
  EXPECT_EQUAL(text_of(steps.duration), "90 ");
  EXPECT_EQUAL(text_of(steps.number), "7 ");
  EXPECT_EQUAL(text_of(steps.waits), "5 ");
  EXPECT_EQUAL(text_of(steps.wait_calls), "1 ");
}

void a_step_that_does_not_end_is_given_up() {
  Steps steps = steps_of_two_phases();
  StepTrack track(steps, 1);
  track.begin_thread(0, 0);
  track.leave(track.enter(role_of_step, 0, {}), 10);
  track.enter(role_of_step, 20, {});
  track.enter(load, 25, {});
  track.end_thread();
  EXPECT_EQUAL(text_of(steps.duration), "10 ");
  EXPECT(steps.unclosed == 1);
  EXPECT_EQUAL(text_of(steps.cpu), "0 0 10 ");
  EXPECT(track.stretches()[0].blocks().size() == 1 && track.stretches()[0].blocks()[0].size() == 1);
}

void work_belongs_to_where_it_was_launched() {
  Steps steps = steps_of_two_phases();
  StepTrack track(steps, 2);
  track.begin_thread(0, 0);
  const auto step = track.enter(role_of_step, 0, {});
  const auto phase = track.enter(train, 10, {});
  track.leave(phase, 50);
  track.leave(step, 100);
  track.end_thread();
  StepOp known;
  known.start = 40;
  known.end = 90;
  known.launched = 20;
  known.thread = 1;  // not the step's
  known.is_launch_known = true;
  StepOp overlapping = known;
  overlapping.start = 80;
  overlapping.end = 95;
  overlapping.launched = 60;
  StepOp replayed;
  replayed.start = 97;
  replayed.end = 99;
  replayed.phase = 0;
  StepOp outside = known;
  outside.launched = 300;
  add_work(steps, track.stretches(), track.phase_ends(), {known, overlapping, replayed, outside});
  EXPECT_EQUAL(text_of(steps.gpu), "2 50 15 ");
  EXPECT_EQUAL(text_of(steps.busy), "57 ");
  EXPECT_EQUAL(text_of(steps.ops), "3 ");
  EXPECT_EQUAL(text_of(steps.ahead), "20 ");
  EXPECT_EQUAL(text_of(steps.behind), "40 ");
  // By phase, and for waiting: 10 of other and 30 of train before the work, then 95 to 97 and 99.
  EXPECT_EQUAL(text_of(steps.idle), "0 30 13 0 ");
  EXPECT(steps.outside == 1);
  EXPECT(steps.by_run_time == 1);
}

void the_typical_step_adds_up() {
  Steps steps = steps_of_two_phases();
  StepTrack track(steps, 1);
  track.begin_thread(0, 0);
  std::int64_t at = 0;
  for (const std::int64_t length : {500, 100, 100, 104, 96, 100, 300, 100}) {
    const auto step = track.enter(role_of_step, at, {});
    const auto phase = track.enter(load, at, {});
    track.leave(phase, at + length / 2);
    track.leave(step, at + length);
    at += length;
  }
  steps.fit_work();
  const auto typical = typical_step(steps);
  EXPECT_EQUAL(text_of(typical.state), "1 0 0 0 0 0 2 0 ");
  EXPECT(typical.steps == 6);
  EXPECT(typical.duration == 100);
  EXPECT(std::accumulate(typical.cpu.begin(), typical.cpu.end(), 0.0) == typical.duration);
  EXPECT(typical.shortest == 96 && typical.longest == 104 && typical.median == 100);
}

// The states of steps that are as long as this.
std::string states(const std::vector<std::int64_t>& lengths) {
  Steps steps = steps_of_two_phases();
  StepTrack track(steps, 1);
  track.begin_thread(0, 0);
  std::int64_t at = 0;
  for (const std::int64_t length : lengths) {
    track.leave(track.enter(role_of_step, at, {}), at + length);
    at += length;
  }
  steps.fit_work();
  return text_of(typical_step(steps).state);
}

void a_third_of_the_steps_is_never_left_out() {
  EXPECT_EQUAL(states({500, 500, 100, 100, 300, 100, 100, 100, 100, 100}), "1 1 0 0 2 0 0 0 0 0 ");
  EXPECT_EQUAL(states({500, 500, 100, 300, 300, 100, 100, 100, 100, 100}), "1 1 0 0 0 0 0 0 0 0 ");
  EXPECT_EQUAL(states({500, 500, 500, 500, 100, 100, 100, 100, 100, 100}), "0 0 0 0 0 0 0 0 0 0 ");
  EXPECT_EQUAL(states({100, 100, 300, 100, 300, 100}), "0 0 0 0 0 0 ");
}

}  // namespace

int main() {
  the_innermost_phase_has_the_time();
  a_step_that_does_not_end_is_given_up();
  work_belongs_to_where_it_was_launched();
  the_typical_step_adds_up();
  a_third_of_the_steps_is_never_left_out();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
