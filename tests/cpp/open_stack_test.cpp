// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A thread's open ranges: a stack for each domain, depths, levels, and the time in which a range is
// the innermost one.

#include "reader/scan/open_stack.hpp"
#include "expect.hpp"

#include <string>

#include "reader/scan/selection.hpp"

using nvspan::reader::DomainStacks;
using nvspan::reader::OpenStack;
using nvspan::reader::PushRange;
using nvspan::reader::Selection;
using nvspan::reader::unknown_site;

namespace {

std::string text_of(const PushRange& range) {
  return std::to_string(range.site) + '@' + std::to_string(range.start) +
         " depth=" + std::to_string(range.depth) + " level=" + std::to_string(range.level) +
         " self=" + std::to_string(range.self);
}

std::string popped(OpenStack& stack, std::uint32_t domain) {
  std::string text = "nothing";
  stack.pop(domain, [&](const PushRange& range) { text = text_of(range); });
  return text;
}

void domains_have_stacks_of_their_own() {
  OpenStack stack;
  stack.advance(100);
  stack.push(1, 0, 100, true);
  stack.advance(110);
  stack.push(2, 7, 110, true);
  stack.advance(130);
  stack.push(3, 0, 130, true);
  stack.advance(160);
  // It closes 2 although 3 was opened later: that one is of another domain.
  EXPECT_EQUAL(popped(stack, 7), "2@110 depth=0 level=1 self=20");
  stack.advance(165);
  EXPECT_EQUAL(popped(stack, 7), "nothing");
  EXPECT_EQUAL(popped(stack, 0), "3@130 depth=1 level=2 self=35");
  stack.advance(175);
  EXPECT_EQUAL(popped(stack, 0), "1@100 depth=0 level=0 self=20");
  EXPECT_EQUAL(popped(stack, 0), "nothing");
}

void hidden_ranges_count_in_no_depth() {
  OpenStack stack;
  stack.push(1, 0, 1, true);
  stack.push(2, 0, 2, false);
  stack.push(3, 0, 3, true);
  EXPECT_EQUAL(popped(stack, 0), "3@3 depth=1 level=1 self=0");
  EXPECT_EQUAL(popped(stack, 0), "2@2 depth=1 level=1 self=0");
  stack.push(4, 0, 4, true);
  EXPECT_EQUAL(popped(stack, 0), "4@4 depth=1 level=1 self=0");
}

// Nobody knows the domain of a site that is not defined: the next pop is taken to be its own.
void a_range_of_no_known_site_is_closed_by_any_domain() {
  OpenStack stack;
  stack.push(1, 0, 1, true);
  stack.push(unknown_site, 0, 2, true);
  EXPECT_EQUAL(popped(stack, 5), std::to_string(unknown_site) + "@2 depth=0 level=1 self=0");
  EXPECT_EQUAL(popped(stack, 5), "nothing");
  EXPECT_EQUAL(popped(stack, 0), "1@1 depth=0 level=0 self=0");
}

// Each range is closed while one of the other domain is open that began later.
void ranges_may_overlap_for_ever() {
  DomainStacks<std::uint32_t> stacks;
  const auto push = [&](std::uint32_t number) {
    stacks.push(number % 2, [=](const std::uint32_t*) { return number; });
  };
  push(9998);
  for (std::uint32_t i = 10000; i < 20000; ++i) {
    push(i - 1);
    std::uint32_t closed = 0;
    EXPECT(stacks.pop(i % 2, [&](std::uint32_t number) { closed = number; }));
    EXPECT(closed == i - 2 && stacks.size() == 1 && *stacks.top() == i - 1);
  }
  std::uint32_t open = 0;
  stacks.each_from_outside([&](std::uint32_t number) { open += number; });
  EXPECT(open == 19998 && !stacks.pop(1, [](std::uint32_t) {}));
}

void rows_are_of_the_innermost() {
  OpenStack stack;
  EXPECT(stack.top_row() == OpenStack::no_row);
  stack.push(1, 0, 1, true).row = 10;
  stack.push(2, 3, 2, true).row = 11;
  EXPECT(stack.top_row() == 11);
  const auto is_row = [](std::uint64_t row) {
    return [row](const PushRange& range) { EXPECT(range.row == row); };
  };
  EXPECT(stack.pop(0, is_row(10)));
  EXPECT(stack.top_row() == 11);
  EXPECT(stack.pop(3, is_row(11)));
  EXPECT(stack.top_row() == OpenStack::no_row);
}

void what_is_left_drains_from_the_inside() {
  OpenStack stack;
  for (std::uint32_t site = 1; site <= 4; ++site) stack.push(site, site % 2, site, true);
  EXPECT_EQUAL(popped(stack, 1), "3@3 depth=1 level=2 self=0");
  std::string left;
  stack.drain([&](const PushRange& range) { left += text_of(range) + '\n'; });
  EXPECT_EQUAL(left,
               "4@4 depth=1 level=3 self=0\n"
               "2@2 depth=0 level=1 self=0\n"
               "1@1 depth=0 level=0 self=0\n");
  EXPECT_EQUAL(popped(stack, 0), "nothing");
  stack.push(9, 0, 9, true);
  EXPECT_EQUAL(popped(stack, 0), "9@9 depth=0 level=0 self=0");
}

void two_selections_take_what_both_take() {
  Selection one;
  one.sites = {true, true, false};
  one.from = 10;
  Selection two;
  two.sites = {false, true};
  two.to = 20;
  two.shortest = 5;
  const Selection both = one & two;
  EXPECT(!both.takes_site(0) && both.takes_site(1) && !both.takes_site(2) && !both.takes_site(3));
  EXPECT(both.takes_thread(1000) && both.takes_counter(1000));
  EXPECT(!both.takes_time(9) && both.takes_time(10) && both.takes_time(19) && !both.takes_time(20));
  EXPECT(!both.takes_duration(4) && both.takes_duration(5));
  EXPECT(!both.is_whole() && Selection::whole().is_whole());
  EXPECT((Selection::whole() & two).sites == two.sites);
}

}  // namespace

int main() {
  domains_have_stacks_of_their_own();
  hidden_ranges_count_in_no_depth();
  a_range_of_no_known_site_is_closed_by_any_domain();
  ranges_may_overlap_for_ever();
  rows_are_of_the_innermost();
  what_is_left_drains_from_the_inside();
  two_selections_take_what_both_take();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
