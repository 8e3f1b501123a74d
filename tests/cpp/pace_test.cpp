// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// How often the sampler looks, and at how many threads at a time, by what looks cost.

#include "lines/pace.hpp"

#include <cstdint>

#include "expect.hpp"

namespace {

using nvspan::lines::Pace;

// Looks that cost `fixed` ns and `each` ns more for every thread.
struct Machine {
  std::int64_t fixed, each, threads;
  std::int64_t now = 0, cpu = 0;

  void look(Pace& pace) {
    now += pace.period();
    cpu += fixed + each * threads / pace.turns();
    pace.look_done(cpu, now);
  }
  // The part of a processor that the next looks take.
  double share(Pace& pace, int looks) {
    const std::int64_t before = now, ran = cpu;
    for (int i = 0; i < looks; ++i) look(pace);
    return static_cast<double>(cpu - ran) / static_cast<double>(now - before);
  }
};

void few_threads_are_looked_at_together() {
  Pace pace(0);
  Machine machine{20'000, 1'500, 4};
  EXPECT(machine.share(pace, 1900) < 0.051);
  EXPECT(pace.period() == Pace::shortest && pace.turns() == 1);
  machine.share(pace, 1000);
  EXPECT(machine.share(pace, 1000) < 0.0057);
  EXPECT(pace.turns() == 1 && pace.thread_period() == pace.period());
  EXPECT(pace.period() > 4'500'000 && pace.period() < 6'500'000);
}

void many_threads_take_turns() {
  for (const std::int64_t threads : {200, 300, 500}) {
    Pace pace(0);
    Machine machine{50'000, 1'500, threads};
    machine.share(pace, 4000);
    EXPECT(machine.share(pace, 2000) < 0.0057);
    EXPECT(pace.period() > Pace::longest / 2 && pace.period() <= Pace::longest);
    EXPECT(pace.turns() > 1 && pace.turns() <= Pace::most_turns);
    EXPECT(pace.thread_period() == pace.period() * pace.turns());
    const std::uint32_t settled = pace.turns();
    machine.share(pace, 1000);
    EXPECT(pace.turns() == settled);  // it does not go back and forth
  }
}

void turns_end_with_the_threads() {
  Pace pace(0);
  Machine machine{50'000, 1'500, 600};
  machine.share(pace, 4000);
  EXPECT(pace.turns() > 2);
  machine.threads = 2;
  machine.share(pace, 4000);
  EXPECT(pace.turns() == 1);
  EXPECT(pace.period() > 9'000'000 && pace.period() < 13'000'000);
}

void no_look_takes_longer_turns_than_the_most() {
  Pace pace(0);
  Machine machine{400'000, 1'500, 100'000};
  machine.share(pace, 4000);
  EXPECT(pace.turns() == Pace::most_turns && pace.period() == Pace::longest);
}

void a_chosen_period_is_kept() {
  Pace pace(2'000'000);
  Machine machine{50'000, 1'500, 1000};
  machine.share(pace, 4000);
  EXPECT(pace.period() == 2'000'000 && pace.turns() == 1);
}

}  // namespace

int main() {
  few_threads_are_looked_at_together();
  many_threads_take_turns();
  turns_end_with_the_threads();
  no_look_takes_longer_turns_than_the_most();
  a_chosen_period_is_kept();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
