// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Clocks from collectives: the truth lies inside the stated intervals, and what contradicts is
// named. An argument: so many draws, and a line about them.

#include "clock_truth.hpp"
#include "expect.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ranks/clocks/clock_solver.hpp"

using nvspan::ranks::ClockOptions;
using nvspan::ranks::Clocks;
using nvspan::ranks::Moment;
using nvspan::ranks::no_begin;
using nvspan::ranks::no_end;
using nvspan::ranks::Prior;
using nvspan::ranks::Sighting;
using nvspan::ranks::solve_clocks;
using nvspan_test::ClockMisses;
using nvspan_test::ClockTruth;
using nvspan_test::misses_of;

namespace {

std::string text_of(const Clocks& found, std::uint32_t clock, std::int64_t local) {
  const auto moment = found.moment(clock, local);
  if (!moment.known()) return "unknown";
  return std::to_string(moment.low) + ".." + std::to_string(moment.high);
}

ClockOptions without_drift() {
  ClockOptions options;
  options.steepest = 0;
  options.wander = 0;
  return options;
}

// Three clocks, of which two never meet: a bound passes on through the third.
void a_bound_passes_on_from_clock_to_clock() {
  const std::vector<std::vector<Sighting>> seen = {
      {{0, 1000, 1100}, {1, 2000, 2050}},
      {{0, 5020, 5100}, {1, 6000, 6070}, {2, 7000, 7100}},
      {{2, 17010, 17100}},
  };
  const Clocks found = solve_clocks(seen, 3, {}, without_drift());
  EXPECT_EQUAL(text_of(found, 1, 5020), "950..1070");
  EXPECT_EQUAL(text_of(found, 2, 17010), "2840..3150");
  EXPECT(found.contradictions.empty());
}

void one_sided_collectives_bound_one_side() {
  // A broadcast from clock 0: its begin is before each end. And one back.
  const std::vector<std::vector<Sighting>> seen = {
      {{0, 1000, no_end}, {1, no_begin, 2000}},
      {{0, no_begin, 400}, {1, 700, no_end}},
  };
  const Clocks found = solve_clocks(seen, 2, {}, without_drift());
  EXPECT_EQUAL(text_of(found, 1, 400), "1000..1700");
  const std::vector<std::vector<Sighting>> half = {{{0, 1000, no_end}}, {{0, no_begin, 400}}};
  EXPECT_EQUAL(text_of(solve_clocks(half, 1, {}, without_drift()), 1, 400), "unknown");
}

void a_prior_narrows() {
  const std::vector<std::vector<Sighting>> seen = {{{0, 1000, 2000}}, {{0, 1000, 2000}}};
  EXPECT_EQUAL(text_of(solve_clocks(seen, 1, {}, without_drift()), 1, 1000), "0..2000");
  std::vector<Prior> priors(2);
  priors[1].low = -50;
  priors[1].high = 60;
  EXPECT_EQUAL(text_of(solve_clocks(seen, 1, priors, without_drift()), 1, 1000), "950..1060");
  priors[1].measured = {{0, -70, 40}, {2000, -30, 90}};
  EXPECT_EQUAL(text_of(solve_clocks(seen, 1, priors, without_drift()), 1, 1000), "970..1040");
}

void measurements_tell_the_drift() {
  const std::int64_t second = 1'000'000'000;
  std::vector<std::vector<Sighting>> seen(2);
  for (auto& of_clock : seen) of_clock = {{0, 100 * second, 200 * second}};
  ClockOptions options;
  options.wander = 0;
  std::vector<Prior> priors(2);
  // 100 us in 100 s: in their middle it is known as closely as at both ends.
  priors[1].measured = {{0, -10, 10}, {300 * second, 299'990, 300'010}};
  const Moment middle = solve_clocks(seen, 1, priors, options).moment(1, 150 * second);
  EXPECT(middle.low >= 150 * second + 149'989);
  EXPECT(middle.high <= 150 * second + 150'011);
  // Of one measurement it may be the largest drift that is believed.
  priors[1].measured.pop_back();
  const Moment wide = solve_clocks(seen, 1, priors, options).moment(1, 150 * second);
  EXPECT(wide.low <= 150 * second - 29'000'000 && wide.high >= 150 * second + 29'000'000);
  EXPECT(wide.low >= 150 * second - 31'000'000 && wide.high <= 150 * second + 31'000'000);
  // What no drift that is believed explains says nothing.
  priors[1].measured.push_back({300 * second, 900'000'000, 900'000'010});
  const Moment none = solve_clocks(seen, 1, priors, options).moment(1, 150 * second);
  EXPECT(none.low <= 150 * second - 40 * second);
}

void a_wrong_match_is_named() {
  ClockTruth truth(7, 6, 300, 20e6);
  truth.sightings[3][100].begin += 40'000'000;  // two collectives further
  truth.sightings[3][100].end += 40'000'000;
  Clocks found = solve_clocks(truth.sightings, 300, {}, ClockOptions());
  EXPECT(found.contradictions.size() == 1);
  EXPECT(found.contradictions[0].clock == 3 && found.contradictions[0].collective == 100);
  EXPECT(found.left_out.empty());
  truth.sightings[3][100].begin -= 40'000'000;
  truth.sightings[3][100].end -= 40'000'000;
  EXPECT(misses_of(truth, found).outside == 0);
  // Of the reference: the collective contradicts all of the others.
  truth.sightings[0][50].begin += 40'000'000;
  truth.sightings[0][50].end += 40'000'000;
  found = solve_clocks(truth.sightings, 300, {}, ClockOptions());
  EXPECT(found.left_out.size() == 1 && found.left_out[0] == 50);
  EXPECT(misses_of(truth, found).outside == 0);
}

void a_clock_that_was_set_has_two_pieces() {
  ClockTruth truth(11, 4, 400, 20e6);
  for (std::size_t k = 200; k < 400; ++k) {
    truth.sightings[2][k].begin += 500'000'000;
    truth.sightings[2][k].end += 500'000'000;
  }
  const Clocks found = solve_clocks(truth.sightings, 400, {}, ClockOptions());
  EXPECT(found.clocks[2].pieces.size() >= 2);
  const ClockMisses misses = misses_of(truth, found);
  EXPECT(misses.outside == 0 && misses.unknown * 100 <= misses.all);
}

void draws(std::size_t count, bool tell) {
  std::size_t bad = 0;
  ClockMisses sum;
  for (std::size_t seed = 0; seed < count; ++seed) {
    const ClockTruth truth(seed, 2 + seed % 7, 400, 100e6);
    const ClockMisses misses =
        misses_of(truth, solve_clocks(truth.sightings, 400, {}, ClockOptions()));
    if (misses.outside != 0 || misses.unknown != 0) ++bad;
    sum.outside += misses.outside;
    sum.all += misses.all;
    sum.sum += misses.sum;
    sum.widest = std::max(sum.widest, misses.widest);
  }
  if (tell) {
    std::printf(
        "%zu draws: %zu with a begin outside; %zu of %zu begins; half widths: mean %.2f us,"
        " largest %.2f us\n",
        count, bad, sum.outside, sum.all, sum.sum / static_cast<double>(sum.all) / 1e3,
        sum.widest / 1e3);
  }
  EXPECT(bad * 100 <= count);
  EXPECT(sum.widest < 200e3);
}

}  // namespace

int main(int argc, char** argv) {
  a_bound_passes_on_from_clock_to_clock();
  one_sided_collectives_bound_one_side();
  a_prior_narrows();
  measurements_tell_the_drift();
  a_wrong_match_is_named();
  a_clock_that_was_set_has_two_pieces();
  draws(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20, argc > 1);
  return nvspan_test::failures() == 0 ? 0 : 1;
}
