// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// One pass over a thread's entries: what its visitor is called for, in which order and when; a ring
// that has used its chunks again, and a chunk that is missing.

#include "reader/scan/thread_scan.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "expect.hpp"
#include "recording_bytes.hpp"
#include "writer_fixture.hpp"

using nvspan::reader::EndReason;
using nvspan::reader::EntryPayload;
using nvspan::reader::PushRange;
using nvspan::reader::Recording;
using nvspan::reader::scan_thread;
using nvspan::reader::ThreadVisitor;
using nvspan::record::DefinitionType;
using nvspan::record::entry_payload_bit;
using nvspan::record::EntryKind;
using nvspan::record::make_entry;
using nvspan::trace::EventKind;
using nvspan_test::event_of;
using nvspan_test::RecordingBytes;

namespace {

namespace record = nvspan::record;

struct Log : ThreadVisitor {
  std::string text;
  std::uint64_t next_row = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t kept = 0;
  std::uint64_t orphans = 0;

  static std::string number(std::uint64_t value) {
    return value == no_row ? "-" : std::to_string(value);
  }
  void add(const std::string& line) { text += line + '\n'; }

  std::uint64_t open(const PushRange& range, std::uint64_t parent, const EntryPayload& payload) {
    add("open " + number(range.site) + " at " + number(range.start) + " in " + number(parent) +
        (payload.present ? " payload " + number(payload.bits) : ""));
    return next_row++;
  }
  void close(const PushRange& range, std::uint64_t ticks, const EntryPayload&) {
    add("close " + number(range.row) + " at " + number(ticks) + " self " + number(range.self) +
        " inside " + number(range.inside));
  }
  void unclosed(const PushRange& range, std::uint64_t ticks, EndReason reason) {
    add("unclosed " + number(range.row) + " at " + number(ticks) + " reason " +
        std::to_string(static_cast<int>(reason)));
  }
  void orphan(std::uint32_t domain, std::uint64_t ticks) {
    ++orphans;
    add("orphan of " + number(domain) + " at " + number(ticks));
  }
  void mark(std::uint32_t site, std::uint64_t ticks, const EntryPayload&) {
    add("mark " + number(site) + " at " + number(ticks));
  }
  void start(std::uint32_t site, std::uint64_t ticks, std::uint64_t id, const EntryPayload&) {
    add("start " + number(site) + " at " + number(ticks) + " id " + number(id));
  }
  void end(std::uint32_t domain, std::uint64_t ticks, std::uint64_t id, const EntryPayload&) {
    add("end of " + number(domain) + " at " + number(ticks) + " id " + number(id));
  }
  void counter(std::uint32_t counter, EntryKind, std::uint64_t ticks, std::uint64_t bits) {
    add("counter " + number(counter) + " at " + number(ticks) + " is " + number(bits));
  }
  void lost(const record::LossWindow& window, record::LossReason reason) {
    add("lost " + number(window.count) + " from " + number(window.from) + " to " +
        number(window.to) + " reason " + std::to_string(static_cast<int>(reason)));
  }
  void gap(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    lost_events += count;
    add("gap from " + number(from) + " to " + number(to) + " of " + number(count));
  }
  void damaged() { add("damaged"); }
  void scanned(std::uint64_t count) {
    kept = count;
    add("scanned " + number(count));
  }
};

// Sites 0 and 1 of the default domain and of domain 1; the latter has a number as payload.
RecordingBytes with_sites() {
  RecordingBytes bytes;
  bytes.start_definitions();
  bytes.string(0, "outer");
  bytes.string(1, "inner");
  bytes.define(DefinitionType::domain, record::DomainDefinition{0, record::no_string});
  bytes.define(DefinitionType::domain, record::DomainDefinition{1, 0});
  record::SiteDefinition site = {};
  site.message_type = 1;
  bytes.define(DefinitionType::site, site);
  site.id = site.domain = site.message = 1;
  site.payload_type = 1;
  bytes.define(DefinitionType::site, site);
  bytes.define(DefinitionType::thread, record::ThreadDefinition{0, 50, 2000});
  return bytes;
}

std::string log_of(RecordingBytes& bytes) {
  Recording recording;
  EXPECT(read(recording, bytes));
  EXPECT(recording.threads().size() == 1);
  Log log;
  scan_thread(recording, recording.threads()[0], log);
  return log.text;
}

void each_entry_is_one_call() {
  RecordingBytes bytes = with_sites();
  bytes.start_events(0, 50, 2000);
  bytes.add({make_entry(EntryKind::push, 0, 10),
             make_entry(EntryKind::push, 1, 20) | entry_payload_bit,
             7,
             make_entry(EntryKind::mark, 0, 30),
             make_entry(EntryKind::start, 1, 40),
             99,
             make_entry(EntryKind::end, 1, 50),
             99,
             make_entry(EntryKind::pop, 1, 60),
             make_entry(EntryKind::base, 0, 0),
             9000,
             make_entry(EntryKind::pop, 0, 1),
             make_entry(EntryKind::pop, 0, 2),
             make_entry(EntryKind::counter_i64, 3, 4),
             11,
             make_entry(EntryKind::lost, 2, 5),
             6,
             9003,
             9004,
             make_entry(EntryKind::mark, 77, 7),
             make_entry(EntryKind::push, 0, 8)});
  EXPECT_EQUAL(log_of(bytes),
               "open 1 at 2010 in -\n"
               "open 2 at 2020 in 0 payload 7\n"
               "mark 1 at 2030\n"
               "start 2 at 2040 id 99\n"
               "end of 1 at 2050 id 99\n"
               "close 1 at 2060 self 40 inside 3\n"
               "close 0 at 9001 self 6951 inside 5\n"
               "orphan of 0 at 9002\n"
               "counter 3 at 9004 is 11\n"
               "lost 6 from 9003 to 9004 reason 2\n"
               "damaged\n"
               "mark 0 at 9007\n"
               "open 1 at 9008 in -\n"
               "unclosed 2 at 9008 reason 3\n"
               "scanned 11\n");
}

// Ranges of a push that a hidden range encloses keep the shown one around that as their parent.
void hidden_ranges_are_passed_through() {
  RecordingBytes bytes = with_sites();
  bytes.start_events(0, 50, 2000);
  bytes.add({make_entry(EntryKind::push, 0, 10), make_entry(EntryKind::push, 1, 20),
             make_entry(EntryKind::push, 0, 30), make_entry(EntryKind::pop, 0, 40),
             make_entry(EntryKind::pop, 1, 50), make_entry(EntryKind::pop, 0, 60)});
  Recording recording;
  EXPECT(read(recording, bytes));
  Log log;
  scan_thread(recording, recording.threads()[0], log,
              [](std::uint32_t site, std::uint64_t) { return site == 1; });
  EXPECT_EQUAL(log.text,
               "open 1 at 2010 in -\n"
               "open 1 at 2030 in 0\n"
               "close 1 at 2040 self 10 inside 0\n"
               "close 0 at 2060 self 20 inside 4\n"
               "scanned 6\n");
}

void a_missing_chunk_ends_what_was_open() {
  RecordingBytes bytes = with_sites();
  bytes.start_events(0, 50, 2000);
  bytes.add({make_entry(EntryKind::push, 0, 10), make_entry(EntryKind::mark, 0, 20)});
  bytes.start_events(0, 50, 5000, 3, 12);
  bytes.add({make_entry(EntryKind::open, 0, 0), 2010, make_entry(EntryKind::pop, 0, 5)});
  EXPECT_EQUAL(log_of(bytes),
               "open 1 at 2010 in -\n"
               "mark 1 at 2020\n"
               "unclosed 0 at 2020 reason 4\n"
               "open 1 at 2010 in -\n"
               "close 1 at 5005 self 5 inside 0\n"
               "scanned 3\n");
}

// What is said again at the beginning of a chunk is said once where the one before it is there.
void an_open_range_is_told_once() {
  RecordingBytes bytes = with_sites();
  bytes.start_events(0, 50, 2000);
  bytes.add({make_entry(EntryKind::push, 0, 10)});
  bytes.start_events(0, 50, 5000, 2, 1);
  bytes.add({make_entry(EntryKind::open, 0, 0), 2010, make_entry(EntryKind::pop, 0, 5)});
  EXPECT_EQUAL(log_of(bytes),
               "open 1 at 2010 in -\nclose 0 at 5005 self 2995 inside 1\nscanned 2\n");
}

// The recorder's own file: a range that is open all the time, and more events than the ring holds.
void a_ring_has_its_open_ranges_and_its_gap() {
  record::RecordOptions options;
  options.mode = record::RecordMode::ring;
  options.ring_bytes = 64 * 1024;
  nvspan_test::Writer writer(options);
  record::ThreadWriter& thread = *writer.recorder.ready(nullptr, 101);
  constexpr std::uint64_t pairs = 20000;
  writer.recorder.push(thread, 0, event_of(EventKind::push, "outer"), nullptr);
  for (std::uint64_t i = 0; i < pairs; ++i) {
    writer.recorder.push(thread, 0, event_of(EventKind::push, "inner"), nullptr);
    writer.recorder.pop(thread, 0, event_of(EventKind::pop));
  }
  writer.recorder.pop(thread, 0, event_of(EventKind::pop));
  writer.recorder.retire(&thread);
  writer.recorder.close(nullptr);
  Recording recording;
  EXPECT(recording.add(writer.folder.path()));
  for (const std::string& problem : recording.problems()) EXPECT_EQUAL(problem, "");
  Log log;
  scan_thread(recording, recording.threads()[0], log);
  EXPECT(log.lost_events > 0 && log.kept > 1000);
  EXPECT(log.lost_events + log.kept == 2 * pairs + 2);
  EXPECT_EQUAL(log.text.substr(0, 4), "gap ");
  const std::string outer = log.text.substr(log.text.find('\n') + 1, 5);
  EXPECT_EQUAL(outer, "open ");
  // The pop that the first chunk may begin with ends the inner range, not the outer one.
  EXPECT(log.orphans == 0);
  EXPECT(log.text.find("\nclose 0 at ") > log.text.rfind("\nopen "));
  EXPECT(log.text.find("unclosed") == std::string::npos);
}

}  // namespace

int main() {
  each_entry_is_one_call();
  hidden_ranges_are_passed_through();
  a_missing_chunk_ends_what_was_open();
  an_open_range_is_told_once();
  a_ring_has_its_open_ranges_and_its_gap();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
