// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Summaries: the same bytes for any order and grouping, exact sums, damage that is noticed.

#include "ranks/summary/summary.hpp"
#include "ranks/summary/packed.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "expect.hpp"

namespace {

using namespace nvspan::ranks;

std::unique_ptr<Summary> some_summary(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto summary = std::make_unique<Summary>();
  const auto name = [&] { return summary->intern("name " + std::to_string(random() % 5)); };
  for (int i = 0; i < 12; ++i) {
    RangeKey key;
    key.domain = random() % 3 == 0 ? no_text : summary->intern("domain");
    key.name = name();
    key.kind = static_cast<std::uint8_t>(random() % (kind_of_collectives + 1));
    key.group = static_cast<std::int64_t>(random() % 3);
    nvspan::core::LogHistogram durations;
    RangeFigures figures;
    for (int call = 0; call < 20; ++call) {
      const std::uint64_t took = random() >> (random() % 60 + 3);
      durations.add(took);
      ++figures.calls;
      figures.sum += took;
      figures.bytes += Wide{took} << 30;
      figures.total += took;
      figures.squares += static_cast<Wide>(took) * static_cast<Wide>(took >> 8);
      figures.shortest = std::min(figures.shortest, static_cast<std::int64_t>(took));
      figures.longest = std::max(figures.longest, static_cast<std::int64_t>(took));
    }
    figures.self = -figures.sum;
    figures.durations = packed_histogram(durations);
    summary->row(key).merge(figures);
  }
  SummaryTable& table = summary->table("steps", {{"step", false}, {"name", true}});
  for (int i = 0; i < 10; ++i) {
    const std::int64_t row[] = {static_cast<std::int64_t>(random()),
                                random() % 4 == 0 ? no_text : name()};
    table.add_row(row);
  }
  return summary;
}

void any_order_gives_the_same_bytes() {
  std::vector<std::unique_ptr<Summary>> parts;
  for (std::uint64_t seed = 0; seed < 9; ++seed) parts.push_back(some_summary(seed));
  Summary all;
  for (const auto& part : parts) all.merge(*part);
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(parts.begin(), parts.end(), random);
    // Groups of random sizes, some of them passed on as bytes.
    Summary whole;
    for (std::size_t at = 0; at < parts.size();) {
      Summary group;
      const std::size_t end = std::min(parts.size(), at + 1 + random() % 4);
      for (; at < end; ++at) group.merge(*parts[at]);
      if (random() % 2 == 0) {
        whole.merge(group);
      } else {
        whole.merge(*Summary::read(group.bytes()));
      }
    }
    EXPECT(whole.bytes() == all.bytes());
    whole.collapse();
    Summary collapsed;
    for (const auto& part : parts) {
      const auto copy = Summary::read(part->bytes());
      copy->collapse();
      collapsed.merge(*copy);
    }
    EXPECT(whole.bytes() == collapsed.bytes());
  }
}

void sums_are_wide() {
  Summary all;
  RangeFigures figures;
  figures.calls = 1;
  figures.squares = static_cast<Wide>(INT64_MAX) * INT64_MAX;
  figures.self = -static_cast<Wide>(INT64_MAX) * 4;
  Summary one;
  one.row(RangeKey{}).merge(figures);
  all.merge(one);
  all.merge(one);
  const auto read = Summary::read(all.bytes());
  const RangeFigures& found = read->rows().begin()->second;
  EXPECT(found.calls == 2);
  EXPECT(found.squares == figures.squares * 2);
  EXPECT(found.self == figures.self * 2);
  EXPECT(found.bytes == figures.bytes * 2);
  EXPECT(found.shortest == INT64_MAX);
}

void damage_is_noticed() {
  const std::string bytes = some_summary(1)->bytes();
  const auto is_refused = [](const std::string& given) {
    try {
      Summary::read(given);
    } catch (const SummaryError&) {
      return true;
    }
    return false;
  };
  EXPECT(!is_refused(bytes));
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 0x10);
    EXPECT(is_refused(other));
    EXPECT(is_refused(bytes.substr(0, i)));
  }
}

void tables_of_one_name_have_the_same_columns() {
  Summary summary;
  summary.table("steps", {{"step", false}});
  bool refused = false;
  try {
    summary.table("steps", {{"number", false}});
  } catch (const std::invalid_argument& error) {
    refused = true;
    EXPECT_EQUAL(error.what(), "two tables are called 'steps' and have different columns");
  }
  EXPECT(refused);
}

}  // namespace

int main() {
  any_order_gives_the_same_bytes();
  sums_are_wide();
  damage_is_noticed();
  tables_of_one_name_have_the_same_columns();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
