// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The entries of an event chunk: every kind with what it carries, wide subjects, payloads, and what
// is no entry.

#include "reader/chunks/entries.hpp"
#include "expect.hpp"

#include <string>
#include <vector>

using nvspan::reader::Entry;
using nvspan::reader::EntryStep;
using nvspan::reader::next_entry;
using nvspan::record::entry_payload_bit;
using nvspan::record::entry_wide_subject;
using nvspan::record::EntryKind;
using nvspan::record::make_entry;

namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::uint32_t site_with_bytes = 7;  // its payload is extended
constexpr std::uint32_t undefined_site = 8;

// The file's site 3 is the recording's 103, and so on.
std::string entries_of(const Words& words) {
  struct Sites {
    static std::uint32_t site(std::uint32_t number) { return number + 100; }
    static int payload_type(std::uint32_t site) {
      return site == undefined_site + 100 ? -1 : site == site_with_bytes + 100 ? 7 : 1;
    }
  };
  const std::uint64_t* at = words.data();
  const std::uint64_t* const end = at + words.size();
  std::string text;
  Entry entry;
  for (;;) {
    const EntryStep step = next_entry(at, end, Sites(), entry);
    if (step == EntryStep::damaged) return text + "damaged";
    if (step == EntryStep::incomplete) return text + "incomplete";
    if (step == EntryStep::end) return text + "end " + std::to_string(end - at);
    text += std::to_string(static_cast<int>(entry.kind)) + ":" + std::to_string(entry.subject) +
            "/" + std::to_string(entry.site) + "+" + std::to_string(entry.delta);
    if (entry.kind == EntryKind::end || entry.kind == EntryKind::lost) {
      text += " value " + std::to_string(*entry.value);
    }
    if (entry.payload.present) text += " payload " + std::to_string(entry.payload.bits);
    if (entry.payload.bytes != nullptr) text += " word " + std::to_string(*entry.payload.bytes);
    text += entry.is_counted() ? "; " : entry.is_event() ? " (again); " : " (no event); ";
  }
}

// Work of a GPU has a payload of one word, whatever its site says of a device range's.
void work_and_calls_have_their_words() {
  const std::uint64_t work = make_entry(EntryKind::work, site_with_bytes, 2);
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::call, 3, 1), 77, work, 1, 2}),
               "13:3/103+1; 14:7/107+2; end 0");
  EXPECT_EQUAL(entries_of({work | entry_payload_bit, 1, 2, 99}), "14:7/107+2 payload 99; end 0");
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::call, 3, 1)}), "incomplete");
  EXPECT_EQUAL(entries_of({work, 1}), "incomplete");
  EXPECT_EQUAL(entries_of({work | entry_payload_bit, 1, 2}), "incomplete");
}

void every_kind_has_its_words() {
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::push, 3, 5), make_entry(EntryKind::pop, 2, 9)}),
               "1:3/103+5; 2:2/0+9; end 0");
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::start, 3, 1), 77, make_entry(EntryKind::end, 4, 2),
                           77, make_entry(EntryKind::mark, 5, 3)}),
               "3:3/103+1; 4:4/0+2 value 77; 5:5/105+3; end 0");
  EXPECT_EQUAL(
      entries_of({make_entry(EntryKind::base, 0, 0), 1000, make_entry(EntryKind::lost, 2, 6), 9, 1,
                  2, make_entry(EntryKind::open, 3, 0), 44}),
      "6:0/0+0 (no event); 7:2/0+6 value 9 (no event); 11:3/103+0 (again); end 0");
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::counter_i64, 1, 1), 5,
                           make_entry(EntryKind::counter_f64, 1, 2), 5,
                           make_entry(EntryKind::counter_none, 1, 3), 5}),
               "8:1/0+1; 9:1/0+2; 10:1/0+3; end 0");
}

void payloads_follow_their_entry() {
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::push, 3, 5) | entry_payload_bit, 99,
                           make_entry(EntryKind::pop, 0, 6)}),
               "1:3/103+5 payload 99; 2:0/0+6; end 0");
  // Nine bytes lie in two words.
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::mark, site_with_bytes, 5) | entry_payload_bit, 9,
                           11, 12, make_entry(EntryKind::pop, 0, 6)}),
               "5:7/107+5 payload 9 word 11; 2:0/0+6; end 0");
  // That of a pop is always of bytes.
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::pop, 1, 5) | entry_payload_bit, 8, 33}),
               "2:1/0+5 payload 8 word 33; end 0");
}

void a_subject_may_have_a_word_of_its_own() {
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::push, entry_wide_subject, 5), 600000}),
               "1:600000/600100+5; end 0");
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::push, entry_wide_subject, 5)}), "incomplete");
}

void an_entry_is_whole_or_none() {
  EXPECT_EQUAL(entries_of({}), "end 0");
  EXPECT_EQUAL(entries_of({0, make_entry(EntryKind::push, 3, 5)}), "end 2");
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::push, 3, 5), make_entry(EntryKind::end, 4, 2)}),
               "1:3/103+5; incomplete");
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::lost, 4, 2), 1, 2}), "incomplete");
  EXPECT_EQUAL(entries_of({make_entry(static_cast<EntryKind>(15), 0, 0)}), "damaged");
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::push, 3, 5) | entry_payload_bit}), "incomplete");
  EXPECT_EQUAL(
      entries_of({make_entry(EntryKind::mark, site_with_bytes, 5) | entry_payload_bit, 9, 11}),
      "incomplete");
  // So many bytes that the number of their words would wrap round.
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::pop, 0, 5) | entry_payload_bit, ~0ull, 11}),
               "incomplete");
  EXPECT_EQUAL(entries_of({make_entry(EntryKind::mark, undefined_site, 5) | entry_payload_bit, 1}),
               "damaged");
}

}  // namespace

int main() {
  every_kind_has_its_words();
  work_and_calls_have_their_words();
  payloads_follow_their_entry();
  a_subject_may_have_a_word_of_its_own();
  an_entry_is_whole_or_none();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
