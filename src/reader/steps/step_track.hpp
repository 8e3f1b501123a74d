// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What is open on one thread, and the time that it takes.

#pragma once

#include "reader/steps/step_work.hpp"
#include "reader/steps/steps.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::reader {

constexpr auto role_of_step = static_cast<std::uint8_t>(StepRole::step);
constexpr auto role_of_waiting = static_cast<std::uint8_t>(StepRole::synchronising);
constexpr auto first_phase = static_cast<std::uint8_t>(StepRole::phase);

struct StepNumber {
  bool is_there = false;
  std::int64_t value = 0;
};

class StepTrack {
 public:
  explicit StepTrack(Steps& steps, std::size_t threads) : steps_(steps), stretches_(threads) {}

  void begin_thread(std::uint32_t process, std::uint32_t thread);
  // Gives up the step that is open.
  void end_thread() { give_up(); }

  // Times of one thread may not go back. Returns what leave() wants, 0 for what is of no interest.
  std::uint64_t enter(std::uint8_t role, std::int64_t at, StepNumber number);
  void leave(std::uint64_t entered, std::int64_t at);
  // What was entered did not end here.
  void abandon(std::uint64_t entered);

  static std::uint8_t role_of(std::uint64_t entered) {
    return static_cast<std::uint8_t>(entered & role_mask);
  }
  // Of each thread; kept only where the recording has work of a GPU.
  const std::vector<Stretches>& stretches() const noexcept { return stretches_; }
  const PhaseEnds& phase_ends() const noexcept { return phase_ends_; }
  void forget_stretches();

 private:
  static constexpr std::uint32_t no_step = 0xFFFFFFFF;
  static constexpr unsigned role_bits = 8;
  static constexpr std::uint64_t role_mask = (1u << role_bits) - 1;

  std::uint64_t entry_of(std::uint8_t role) const {
    return std::uint64_t{step_ + 1} << role_bits | role;
  }
  void begin_step(std::int64_t at, StepNumber number);
  void end_step();
  void give_up();
  void resize();
  // The step's time since the last change belongs to the phase that is open.
  void pass(std::int64_t now);

  Steps& steps_;
  std::vector<Stretches> stretches_;
  std::uint32_t process_ = 0, thread_ = 0;
  std::uint32_t step_ = no_step;
  std::int64_t last_ = 0;  // up to when its time is given to phases
  struct OpenPhase {
    std::uint16_t phase;
    std::uint32_t range;
  };
  std::vector<OpenPhase> open_phases_;
  PhaseEnds phase_ends_{0};
  std::size_t waiting_ = 0;
};

}  // namespace nvspan::reader
