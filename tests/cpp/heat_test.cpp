// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranks by steps in bins: each bin has its largest cell, whatever it is divided by.

#include "ranks/heat/heat.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "expect.hpp"

using nvspan::ranks::Heat;

namespace {

unsigned word(const std::string& bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]) |
         static_cast<unsigned>(static_cast<unsigned char>(bytes[at + 1])) << 8;
}

double value_of(unsigned code) { return code == 0 ? 0 : std::exp2((code - 1) / 1024.0) - 1; }

float value_at(std::size_t rank, std::size_t step) {
  return static_cast<float>((rank * 7919 + step * 104729) % 1000003 + 1);
}

void each_bin_has_its_largest_cell(std::size_t ranks, std::size_t steps, std::size_t rows,
                                   std::size_t columns) {
  Heat heat(ranks, steps, rows, columns);
  EXPECT(heat.rows() <= rows && heat.columns() <= columns);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::vector<float> late, durations;
    for (std::size_t step = 0; step < steps; ++step) {
      late.push_back(value_at(rank, step));
      durations.push_back(value_at(step, rank));
    }
    heat.add(rank, late, durations);
  }
  std::vector<float> latest(heat.rows() * heat.columns()), longest(latest.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t bin =
          rank * heat.rows() / ranks * heat.columns() + step * heat.columns() / steps;
      latest[bin] = std::fmax(latest[bin], value_at(rank, step));
      longest[bin] = std::fmax(longest[bin], value_at(step, rank));
    }
  }
  const std::string bytes = heat.bytes();
  EXPECT(bytes.size() == 8 * latest.size());
  for (std::size_t bin = 0; bin < latest.size(); ++bin) {
    const double late = value_of(word(bytes, 8 * bin));
    const double duration = value_of(word(bytes, 8 * bin + 4));
    EXPECT(std::fabs(late / latest[bin] - 1) < 5e-4);
    EXPECT(std::fabs(duration / longest[bin] - 1) < 5e-4);
  }
}

template <typename Call>
bool refuses(Call call) {
  try {
    call();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

void what_is_no_value_shows_nothing() {
  Heat heat(1, 4, 10, 10);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  heat.add(0, {nan, -1, 0, 1}, {0, -std::numeric_limits<float>::infinity(), nan, 2});
  const std::string bytes = heat.bytes();
  for (std::size_t step = 0; step < 3; ++step) {
    EXPECT(word(bytes, 8 * step) == 0 && word(bytes, 8 * step + 4) == 0);
  }
  EXPECT(word(bytes, 24) == 1025);
}

void what_it_does_not_take() {
  EXPECT(refuses([] { Heat(0, 1, 1, 1); }));
  EXPECT(refuses([] { Heat(1, 0, 1, 1); }));
  EXPECT(refuses([] { Heat(1, 1, 0, 1); }));
  EXPECT(refuses([] { Heat(257, 256, 1, 1); }));
  Heat heat(256, 256, 1, 1);
  EXPECT(refuses([&] { heat.add(256, std::vector<float>(256), std::vector<float>(256)); }));
  EXPECT(refuses([&] { heat.add(0, std::vector<float>(255), std::vector<float>(256)); }));
}

}  // namespace

int main() {
  each_bin_has_its_largest_cell(5, 7, 2, 3);
  each_bin_has_its_largest_cell(300, 7, 64, 640);
  each_bin_has_its_largest_cell(3, 1001, 320, 100);
  what_is_no_value_shows_nothing();
  what_it_does_not_take();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
