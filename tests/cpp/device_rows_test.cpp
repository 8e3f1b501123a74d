// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges of devices laid out in rows: what nests and follows shares a row, what overlaps does not,
// and what overlaps by less than its times are sure is moved.

#include "reader/scan/device_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "expect.hpp"

using nvspan::core::LargeVector;
using nvspan::reader::arrange_in_rows;
using nvspan::reader::DeviceRow;
using nvspan::reader::DeviceStep;
using nvspan::reader::LanePlace;

namespace {

LanePlace place(std::int64_t start, std::int64_t end, std::uint32_t uncertainty = 0,
                std::uint64_t launch = 0, std::uint32_t lane = 0) {
  LanePlace made;
  made.start = start;
  made.end = end;
  made.took = end - start;
  made.uncertainty = uncertainty;
  made.launch = launch;
  made.lane = lane;
  return made;
}

// "lane+first level: [0 10 ]0 20 ", where 0 is the place of the range among those given.
std::string text_of(const std::vector<DeviceRow>& rows) {
  std::string text;
  for (const DeviceRow& row : rows) {
    text += std::to_string(row.lane) + '+' + std::to_string(row.first_level) + ": ";
    for (const DeviceStep& step : row.steps) {
      text += (step.is_begin ? '[' : ']') + std::to_string(step.span) + ' ' +
              std::to_string(step.time) + ' ';
    }
  }
  return text;
}

std::string arranged(LargeVector<LanePlace> places, std::size_t most = 100) {
  return text_of(arrange_in_rows(places, most));
}

void what_nests_and_follows_shares_a_row() {
  LargeVector<LanePlace> places = {place(30, 40), place(0, 100), place(10, 20), place(100, 110)};
  EXPECT_EQUAL(text_of(arrange_in_rows(places)),
               "0+0: [1 0 [2 10 ]2 20 [0 30 ]0 40 ]1 100 [3 100 ]3 110 ");
  EXPECT(places[0].depth == 1 && places[1].depth == 0 && places[3].depth == 0);
  EXPECT_EQUAL(arranged({}), "");
}

void what_overlaps_has_a_row_of_its_own() {
  // The second row begins below the levels of the first, which has two.
  EXPECT_EQUAL(arranged({place(0, 100), place(10, 20), place(50, 150), place(160, 170)}),
               "0+0: [0 0 [1 10 ]1 20 ]0 100 [3 160 ]3 170 0+2: [2 50 ]2 150 ");
  EXPECT_EQUAL(arranged({place(0, 100), place(50, 150), place(60, 160)}, 2),
               "0+0: [0 0 ]0 100 0+1: [1 50 ]1 150 ");
}

void streams_have_lanes_of_their_own() {
  EXPECT_EQUAL(arranged({place(0, 100, 0, 0, 1), place(50, 150, 0, 0, 0), place(40, 60, 0, 0, 1)}),
               "0+0: [1 50 ]1 150 1+0: [0 0 [2 40 ]2 60 ]0 100 ");
}

void an_overlap_that_is_less_than_times_are_sure_is_moved() {
  // It would end 3 after the one that it is in, or begin 3 before the end of the one before it.
  LargeVector<LanePlace> ends = {place(0, 100, 2), place(10, 103, 2)};
  EXPECT_EQUAL(text_of(arrange_in_rows(ends)), "0+0: [0 0 [1 10 ]1 100 ]0 100 ");
  EXPECT(ends[1].end == 100 && ends[1].took == 93);
  EXPECT_EQUAL(arranged({place(0, 100, 2), place(97, 150, 2)}), "0+0: [0 0 ]0 100 [1 100 ]1 150 ");
  // By 5 it is not.
  EXPECT_EQUAL(arranged({place(0, 100, 2), place(95, 150, 2)}),
               "0+0: [0 0 ]0 100 0+1: [1 95 ]1 150 ");
  // However unsure the times are, not by more than 10 us.
  EXPECT_EQUAL(arranged({place(0, 100'000, 50'000), place(80'000, 150'000, 50'000)}),
               "0+0: [0 0 ]0 100000 0+1: [1 80000 ]1 150000 ");
}

void what_was_moved_stays_in_order() {
  // The second is moved to 100, so the third, which began at 98, is too.
  EXPECT_EQUAL(arranged({place(0, 100, 2), place(97, 150, 2), place(98, 120, 2)}),
               "0+0: [0 0 ]0 100 [1 100 [2 100 ]2 120 ]1 150 ");
  EXPECT_EQUAL(arranged({place(0, 100, 2), place(97, 150, 2), place(98, 99, 2)}),
               "0+0: [0 0 ]0 100 [1 100 [2 100 ]2 100 ]1 150 ");
  // What does not fit into a row ends nothing there: the third is within the second.
  EXPECT_EQUAL(arranged({place(0, 150, 2), place(10, 100, 2), place(98, 300, 2), place(99, 100)}),
               "0+0: [0 0 [1 10 [3 99 ]3 100 ]1 100 ]0 150 0+3: [2 98 ]2 300 ");
}

void what_was_launched_first_is_around() {
  // The inner one's beginning was measured 3 too early.
  EXPECT_EQUAL(arranged({place(7, 50, 2, 2), place(10, 100, 2, 1)}),
               "0+0: [1 10 [0 10 ]0 50 ]1 100 ");
  // It ends after the other one, so it is not within it.
  EXPECT_EQUAL(arranged({place(7, 120, 2, 2), place(10, 100, 2, 1)}),
               "0+0: [0 7 [1 10 ]1 100 ]0 120 ");
}

// Each row nests, whatever is given, and has each range that is not left out once.
void rows_nest() {
  std::uint64_t random = 1;
  const auto next = [&](std::uint64_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((random >> 33) % below);
  };
  for (int trial = 0; trial < 200; ++trial) {
    LargeVector<LanePlace> places;
    for (int i = 0; i < 60; ++i) {
      const std::int64_t start = next(1000);
      const std::int64_t end = start + next(200);
      places.push_back(place(start, end, static_cast<std::uint32_t>(next(20)),
                             static_cast<std::uint64_t>(next(60)),
                             static_cast<std::uint32_t>(next(3))));
    }
    std::vector<int> seen(places.size());
    for (const DeviceRow& row : arrange_in_rows(places)) {
      std::vector<std::size_t> open;
      std::int64_t time = row.steps.front().time;
      for (const DeviceStep& step : row.steps) {
        EXPECT(step.time >= time && places[step.span].lane == row.lane);
        time = step.time;
        if (step.is_begin) {
          ++seen[step.span];
          EXPECT(places[step.span].depth == open.size());
          open.push_back(step.span);
        } else {
          EXPECT(!open.empty() && open.back() == step.span);
          open.pop_back();
        }
      }
      EXPECT(open.empty());
    }
    EXPECT(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
  }
}

}  // namespace

int main() {
  what_nests_and_follows_shares_a_row();
  what_overlaps_has_a_row_of_its_own();
  streams_have_lanes_of_their_own();
  an_overlap_that_is_less_than_times_are_sure_is_moved();
  what_was_moved_stays_in_order();
  what_was_launched_first_is_around();
  rows_nest();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
