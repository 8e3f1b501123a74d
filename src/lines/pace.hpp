// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

namespace nvspan::lines {

// How often the sampler looks: at first so that its thread takes a twentieth of a processor at
// most, and a short run has an answer; then so that it takes a two-hundredth. Where looks at all
// threads would have to be farther apart than `longest`, a look is at a part of them: each has its
// turn.
class Pace {
 public:
  static constexpr std::int64_t shortest = 1'000'000;  // ns from a look to the next
  static constexpr std::int64_t longest = 50'000'000;
  static constexpr std::int64_t share = 200;          // of the time, one part
  static constexpr std::uint64_t first_looks = 2000;  // which keep to another one
  static constexpr std::int64_t first_share = 20;
  static constexpr std::uint32_t most_turns = 6;  // a thread is looked at three times a second

  // `fixed`: 0, or the period that the user chose, which is kept.
  explicit Pace(std::int64_t fixed) : fixed_(fixed), period_(fixed != 0 ? fixed : shortest) {}

  std::int64_t period() const noexcept { return period_; }
  // A look is at one thread of so many.
  std::uint32_t turns() const noexcept { return turns_; }
  // From one look at a thread to the next.
  std::int64_t thread_period() const noexcept { return period_ * turns_; }

  // Of a forked child: what its parent had reached.
  void go_on_from(const Pace& parent) noexcept {
    if (!parent.is_settled()) return;
    go_on_from(parent.period_);
    cost_ = fixed_ != 0 ? 0 : parent.cost_;
  }
  // `period`: 0, or what the parent had reached.
  void go_on_from(std::int64_t period) noexcept {
    if (period == 0 || fixed_ != 0) return;
    looks_ = looks_before_ = first_looks;
    period_ = std::clamp(period, shortest, longest);
  }
  // What a look costs here is known.
  bool is_settled() const noexcept { return fixed_ == 0 && looks_ >= first_looks; }

  // After a look at `now`; `cpu` is what the sampler's thread has run so far. True: the period of a
  // thread is another.
  bool look_done(std::int64_t cpu, std::int64_t now) noexcept {
    constexpr std::uint64_t together = 64;
    constexpr std::uint64_t least = 8;
    constexpr std::int64_t soon = 500'000'000;  // ns
    ++looks_;
    const std::uint64_t looks = looks_ - looks_before_;
    if (looks < together && (looks < least || now - before_ < soon)) return false;
    const std::int64_t cost = (cpu - cpu_before_) / static_cast<std::int64_t>(looks);
    cpu_before_ = cpu;
    looks_before_ = looks_;
    before_ = now;
    cost_ = cost_ == 0 ? cost : (cost_ + cost) / 2;
    if (fixed_ != 0) return false;
    const std::int64_t parts = looks_ < first_looks ? first_share : share;
    if (take_turns(cost_ * parts)) return true;
    const std::int64_t wanted = std::clamp(cost_ * parts, shortest, longest);
    if (std::max(wanted, period_) - std::min(wanted, period_) <= period_ / noise) return false;
    period_ = wanted;
    return true;
  }

 private:
  static constexpr std::int64_t noise = 8;  // an eighth

  // `wanted`: the period that looks such as the last ones cost.
  bool take_turns(std::int64_t wanted) noexcept {
    const auto needed = [&](std::int64_t period) {
      const std::int64_t turns = (turns_ * period + longest - 1) / longest;
      return static_cast<std::uint32_t>(
          std::clamp<std::int64_t>(turns, 1, std::int64_t{most_turns}));
    };
    const std::uint32_t more = needed(wanted);
    const std::uint32_t less = needed(wanted + wanted / noise);
    const std::uint32_t turns = more > turns_ ? more : std::min(less, turns_);
    if (turns == turns_) return false;
    turns_ = turns;
    period_ = longest;
    cost_ = 0;  // looks cost something else now
    return true;
  }

  std::int64_t fixed_;
  std::int64_t period_;
  std::uint32_t turns_ = 1;
  std::uint64_t looks_ = 0;
  std::uint64_t looks_before_ = 0;
  std::int64_t before_ = 0;
  std::int64_t cpu_before_ = 0;
  std::int64_t cost_ = 0;  // ns of a look
};

}  // namespace nvspan::lines
