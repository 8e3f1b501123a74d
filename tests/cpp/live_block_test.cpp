// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A thread's block while it is written and read at once: no reader sees a stack, a name or an owner
// that never was. Made for ThreadSanitizer too.

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "expect.hpp"
#include "reader/live/live_block.hpp"
#include "record/live/live_stack.hpp"
#include "threads.hpp"

namespace {

namespace record = nvspan::record;
using nvspan::reader::LiveSnapshot;
using nvspan::reader::read_block;

constexpr std::uint64_t domains = 3;

// A range's name says which range is around it, so that a reader can tell whether a stack was ever
// there: name = 8 * (name of the range around it) + domain + 1, modulo 2^20.
std::uint32_t name_within(std::uint32_t outer, std::uint64_t domain) {
  return (8 * outer + static_cast<std::uint32_t>(domain) + 1) & 0xFFFFF;
}

std::uint64_t entry_of(std::uint32_t name, std::uint64_t domain) {
  return record::live_entry(record::LiveName::site, domain, name);
}

bool is_whole(const LiveSnapshot& seen) {
  std::uint32_t outer = 0;
  for (std::size_t i = 0; i < seen.open_count; ++i) {
    const std::uint64_t domain = seen.open[i] >> record::live_domain_shift & 0xFF;
    const auto name = static_cast<std::uint32_t>(seen.open[i]);
    if (name != name_within(outer, domain)) return false;
    outer = name;
  }
  return seen.changing || seen.depth == seen.open_count;
}

void push_and_pop(record::LiveBlock& block, unsigned seed, int count) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> open;
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const unsigned drawn = seed >> 16;
    if (open.empty() || (drawn % 3 != 0 && open.size() < 40)) {
      const std::uint64_t domain = drawn / 3 % domains;
      const std::uint32_t name = name_within(open.empty() ? 0 : open.back().first, domain);
      record::live_push(block, entry_of(name, domain));
      open.emplace_back(name, domain);
    } else {
      record::live_pop(block, open.back().second);
      open.pop_back();
    }
    if (drawn % 64 == 0) {
      const std::string name(1 + drawn % 47, static_cast<char>('a' + drawn % 26));
      record::live_set_name(block, name.data(), name.size());
    }
  }
  while (!open.empty()) {
    record::live_pop(block, open.back().second);
    open.pop_back();
  }
}

bool is_one_letter(const char* name) {
  return std::string(name).find_first_not_of(name[0]) == std::string::npos;
}

void stacks_are_whole_while_they_change(int rounds) {
  static record::LiveBlock block;
  record::live_take(block, 6, 77, 1000);
  std::atomic<bool> done{false};
  std::atomic<long> looks{0};
  const auto read = [&](int) {
    LiveSnapshot seen = {};
    while (!done.load()) {
      EXPECT(read_block(block, seen));
      EXPECT(seen.tid == 77 && seen.thread == 6);
      EXPECT(is_whole(seen));
      EXPECT(is_one_letter(seen.name));
      looks.fetch_add(1);
    }
  };
  nvspan_test::in_threads(2, read, [&] {
    push_and_pop(block, 1, rounds);
    while (looks.load() < 100) push_and_pop(block, 2, 1000);
    done = true;
  });
  LiveSnapshot seen = {};
  EXPECT(read_block(block, seen) && seen.depth == 0 && !seen.changing);
}

// Another domain's range is removed from below: its neighbours stay in their order.
void removal_keeps_the_order() {
  static record::LiveBlock block;
  record::live_take(block, 0, 1, 1);
  for (std::uint32_t i = 0; i < 5; ++i) record::live_push(block, entry_of(100 + i, i % 2));
  record::live_pop(block, 1);  // 103
  record::live_pop(block, 0);  // 104
  record::live_pop(block, 9);  // nobody's
  LiveSnapshot seen = {};
  EXPECT(read_block(block, seen) && seen.depth == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT(static_cast<std::uint32_t>(seen.open[i]) == 100 + i);
  }
}

// Ended in the middle of a removal, the outer ranges are shown, and that there were more.
void a_change_that_never_ended_shows_the_outer_ranges() {
  static record::LiveBlock block;
  record::live_take(block, 0, 1, 1);
  for (std::uint32_t i = 0; i < 5; ++i) record::live_push(block, entry_of(100 + i, 0));
  const std::uint64_t state = block.state.load();
  block.state.store(((state >> record::live_count_shift) << record::live_count_shift) |
                    record::live_changing | 2);
  block.open[2].store(block.open[3].load());
  LiveSnapshot seen = {};
  EXPECT(read_block(block, seen) && seen.changing && seen.open_count == 2);
  EXPECT(static_cast<std::uint32_t>(seen.open[1]) == 101);
}

// The stamps of ranges of one name differ, and nothing else of their entries.
void ranges_of_one_name_are_told_apart() {
  static record::LiveBlock block;
  record::live_take(block, 0, 1, 1);
  const std::uint64_t entry = record::live_entry(record::LiveName::registered, 0xFFFFF, 0xFFFFFFFF);
  LiveSnapshot seen = {};
  std::uint64_t before = 0;
  for (int i = 0; i < 2000; ++i) {
    record::live_push(block, entry);
    EXPECT(read_block(block, seen) && seen.open_count == 1);
    EXPECT((seen.open[0] & ~record::live_stamp_mask) == entry);
    EXPECT(i == 0 || seen.open[0] != before);
    before = seen.open[0];
    record::live_touch(block);
    EXPECT(read_block(block, seen) && seen.open[0] == before);
    record::live_pop(block, 0xFFFFF);
  }
}

void deeper_ranges_are_counted() {
  static record::LiveBlock block;
  record::live_take(block, 0, 1, 1);
  for (std::uint32_t i = 0; i < 1000; ++i) record::live_push(block, entry_of(i, 0));
  LiveSnapshot seen = {};
  EXPECT(read_block(block, seen) && seen.depth == 1000);
  EXPECT(seen.open_count == record::live_most_open);
  for (int i = 0; i < 990; ++i) record::live_pop(block, 0);
  EXPECT(read_block(block, seen) && seen.depth == 10 && seen.open_count == 10);
  EXPECT(static_cast<std::uint32_t>(seen.open[9]) == 9);
}

void starts_are_listed_until_any_thread_ends_them() {
  static record::LiveBlock block;
  record::live_take(block, 0, 1, 1);
  for (std::uint64_t id = 1; id <= 40; ++id) {
    record::live_start(block, id, entry_of(static_cast<std::uint32_t>(id), 0), 5 * id);
  }
  LiveSnapshot seen = {};
  EXPECT(read_block(block, seen) && seen.started_count == record::live_most_started);
  EXPECT(seen.started_beyond == 8 && seen.started[1].ticks == 10);
  std::thread([] {
    for (std::uint64_t id = 40; id > 1; --id) record::live_end(block, id);
  }).join();
  EXPECT(read_block(block, seen) && seen.started_count == 1 && seen.started_beyond == 0);
  EXPECT(seen.started[0].id == 1 && record::live_has_started(block));
  record::live_end(block, 1);
  EXPECT(!record::live_has_started(block));
}

void starts_lie_within_the_ranges_that_are_older() {
  static record::LiveBlock block;
  record::live_take(block, 0, 1, 1);
  record::live_start(block, 1, entry_of(1, 0), 0);
  for (int i = 0; i < 2000; ++i) record::live_touch(block);
  record::live_push(block, entry_of(7, 0));
  record::live_start(block, 2, entry_of(2, 0), 0);
  record::live_push(block, entry_of(8, 0));
  record::live_start(block, 3, entry_of(3, 0), 0);
  record::live_end(block, 1);
  record::live_start(block, 4, entry_of(4, 0), 0);  // where 1 was
  LiveSnapshot seen = {};
  EXPECT(read_block(block, seen) && seen.started_count == 3);
  EXPECT(seen.started[0].id == 2 && seen.started[0].within == 1);
  EXPECT(seen.started[1].id == 3 && seen.started[1].within == 2);
  EXPECT(seen.started[2].id == 4 && seen.started[2].within == 2);
  record::live_pop(block, 0);
  EXPECT(read_block(block, seen) && seen.started[0].within == 1 && seen.started[2].within == 1);
}

void long_names_end_with_a_whole_character() {
  static record::LiveBlock block;
  record::live_take(block, 0, 1, 1);
  std::string name(47, 'x');
  name += "\xC3\xA9";  // its second byte does not fit
  record::live_set_name(block, name.data(), name.size());
  LiveSnapshot seen = {};
  EXPECT(read_block(block, seen) && std::string(seen.name) == std::string(47, 'x'));
}

}  // namespace

int main() {
  removal_keeps_the_order();
  a_change_that_never_ended_shows_the_outer_ranges();
  ranges_of_one_name_are_told_apart();
  deeper_ranges_are_counted();
  starts_are_listed_until_any_thread_ends_them();
  starts_lie_within_the_ranges_that_are_older();
  long_names_end_with_a_whole_character();
  stacks_are_whole_while_they_change(200000);
  return nvspan_test::failures() == 0 ? 0 : 1;
}
