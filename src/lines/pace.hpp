// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

namespace nvspan::lines {

// How often the sampler looks: at first so that its thread takes a twentieth of a processor at
// most, and a short run has an answer; then so that it takes a two-hundredth.
class Pace {
 public:
  static constexpr std::int64_t shortest = 1'000'000;  // ns from a look to the next
  static constexpr std::int64_t longest = 50'000'000;
  static constexpr std::int64_t share = 200;          // of the time, one part
  static constexpr std::uint64_t first_looks = 2000;  // which keep to another one
  static constexpr std::int64_t first_share = 20;

  // `fixed`: 0, or the period that the user chose, which is kept.
  explicit Pace(std::int64_t fixed) : fixed_(fixed), period_(fixed != 0 ? fixed : shortest) {}

  std::int64_t period() const noexcept { return period_; }

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

  // After a look at `now`; `cpu` is what the sampler's thread has run so far. True: the period is
  // another.
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
    const std::int64_t wanted = std::clamp(cost_ * parts, shortest, longest);
    constexpr std::int64_t noise = 8;  // an eighth
    if (std::max(wanted, period_) - std::min(wanted, period_) <= period_ / noise) return false;
    period_ = wanted;
    return true;
  }

 private:
  std::int64_t fixed_;
  std::int64_t period_;
  std::uint64_t looks_ = 0;
  std::uint64_t looks_before_ = 0;
  std::int64_t before_ = 0;
  std::int64_t cpu_before_ = 0;
  std::int64_t cost_ = 0;  // ns of a look
};

}  // namespace nvspan::lines
