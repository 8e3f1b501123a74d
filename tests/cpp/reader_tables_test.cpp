// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What the recorder writes, as its readers see it: ranges paired, tables, columns and statistics.

#include "reader/file/recording.hpp"
#include "reader/scan/range_scan.hpp"
#include "reader/stats/aggregate.hpp"
#include "reader/tables/columns.hpp"
#include "reader/tables/tables.hpp"

#include <memory>
#include <string>

#include "expect.hpp"
#include "writer_fixture.hpp"

namespace {

using nvspan::reader::Aggregate;
using nvspan::reader::aggregate;
using nvspan::reader::AggregateOptions;
using nvspan::reader::Columns;
using nvspan::reader::GroupBy;
using nvspan::reader::make_tables;
using nvspan::reader::RangeScan;
using nvspan::reader::RangeTable;
using nvspan::reader::Recording;
using nvspan::reader::ScannedRange;
using nvspan::reader::Selection;
using nvspan::reader::Tables;
using nvspan::record::Recorder;
using nvspan::record::ThreadWriter;
using nvspan::trace::Event;
using nvspan::trace::EventKind;
using nvspan::trace::PayloadType;
using nvspan_test::event_of;

// Two threads: nested ranges with a mark, a lone end, a range that ends on the other thread, and
// one that never ends, of a name that the other thread has closed.
void write_recording(Recorder& recorder) {
  ThreadWriter& first = *recorder.ready(nullptr, 101);
  ThreadWriter& second = *recorder.ready(nullptr, 102);
  Event inner = event_of(EventKind::push, "inner");
  inner.payload_type = PayloadType::i32;
  inner.payload_bits = 0xFFFFFFF9;  // -7
  EXPECT(recorder.push(first, 0, event_of(EventKind::push, "outer"), nullptr) == 0);
  EXPECT(recorder.push(first, 0, inner, nullptr) == 1);
  recorder.mark(first, 0, event_of(EventKind::mark, "mark"), nullptr);
  EXPECT(recorder.pop(first, 0, event_of(EventKind::pop)) == 1);
  EXPECT(recorder.pop(first, 0, event_of(EventKind::pop)) == 0);
  EXPECT(recorder.pop(first, 0, event_of(EventKind::pop)) == -2);
  const auto span = event_of(EventKind::start, "span");
  const std::uint64_t crossing = recorder.start(first, 0, span, nullptr);
  recorder.start(first, 0, span, nullptr);
  const std::uint64_t own = recorder.start(second, 0, span, nullptr);
  recorder.end(second, 0, own, event_of(EventKind::end));
  recorder.end(second, 0, crossing, event_of(EventKind::end));
  recorder.push(second, 0, event_of(EventKind::push, "left open"), nullptr);
  recorder.retire(&second);
  recorder.close(nullptr);
}

std::string name_of(const Recording& recording, std::int32_t name) {
  return name < 0 ? "-" : std::string(recording.text(name));
}

class RangeList : public RangeScan<RangeList> {
 public:
  explicit RangeList(const Recording& recording, const Selection& selection = Selection::whole())
      : RangeScan(recording, selection) {}

  void ended(const ScannedRange& range) {
    const auto& threads = recording_.threads();
    text += name_of(recording_, recording_.sites()[range.site].name) + ' ' +
            std::to_string(static_cast<int>(range.kind)) + ' ' +
            std::to_string(static_cast<int>(range.reason)) + ' ' + std::to_string(range.level) +
            ' ' + std::to_string(range.inside) + ' ' + std::to_string(threads[range.thread].tid) +
            ' ' + std::to_string(threads[range.end_thread].tid) + "\n";
    EXPECT(range.start <= range.end);
    EXPECT(range.self <= range.end - range.start);
  }
  void orphan(std::uint32_t, std::uint64_t) { text += "lone pop\n"; }

  std::string text;
};

void ranges_are_paired(const Recording& recording) {
  RangeList list(recording);
  list.run();
  // name, kind, reason, level, events inside, thread, thread of the end
  EXPECT_EQUAL(list.text,
               "inner 0 0 1 1 101 101\n"
               "outer 0 0 0 3 101 101\n"
               "lone pop\n"
               "span 1 0 0 0 102 102\n"
               "span 1 0 0 0 101 102\n"
               "left open 0 2 0 0 102 102\n"
               "span 1 1 0 0 101 101\n");
  Selection some;
  some.sites.resize(recording.sites().size(), false);
  for (std::size_t i = 0; i < some.sites.size(); ++i) {
    some.sites[i] = name_of(recording, recording.sites()[i].name) == "inner";
  }
  RangeList selected(recording, some);
  selected.run();
  EXPECT_EQUAL(selected.text, "inner 0 0 0 1 101 101\nlone pop\n");
}

void tables_have_all(Recording& recording) {
  const Tables tables = make_tables(recording);
  const RangeTable& ranges = tables.ranges;
  std::string text;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    text += name_of(recording, recording.sites()[ranges.site[i]].name) + ' ' +
            std::to_string(ranges.parent[i]) + ' ' + std::to_string(ranges.depth[i]) + ' ' +
            std::to_string(ranges.end_reason[i]) + ' ' + std::to_string(ranges.end_thread[i]) +
            "\n";
  }
  // name, parent, depth, reason, thread of the end
  EXPECT_EQUAL(text,
               "outer -1 0 0 0\n"
               "inner 0 1 0 0\n"
               "span -1 0 0 1\n"
               "span -1 0 1 0\n"
               "span -1 0 0 1\n"
               "left open -1 0 2 1\n");
  EXPECT(tables.orphan_ends == 1);
  EXPECT(tables.marks.time.size() == 1);
  EXPECT(tables.losses.empty());
}

void columns_have_values(const std::shared_ptr<Recording>& recording) {
  Columns columns(recording);
  const auto payload = columns.column("ranges", "payload_value");
  EXPECT(payload->type == 'g' && payload->length == 6 && payload->null_count == 5);
  EXPECT(static_cast<const double*>(payload->data)[1] == -7);
  EXPECT((*payload->validity)[0] == 1 << 1);
  const auto end = columns.column("ranges", "end");
  EXPECT(end->null_count == 2);
  const auto name = columns.column("marks", "name");
  EXPECT(name->dictionary != nullptr);
  const auto index = static_cast<std::size_t>(static_cast<const std::int32_t*>(name->data)[0]);
  const auto begin = static_cast<std::size_t>(name->dictionary->offsets[index]);
  EXPECT_EQUAL(std::string(name->dictionary->bytes.data() + begin, 4), "mark");
  EXPECT(columns.column("ranges", "no such column") == nullptr);
  EXPECT(columns.names("no such table").empty());
}

std::string rows_by(const Recording& recording, GroupBy by) {
  AggregateOptions options;
  options.by = by;
  const Aggregate made = aggregate(recording, options);
  std::string text;
  for (const auto& row : made.rows) {
    text += name_of(recording, row->name) + ' ' + std::to_string(row->thread) + ' ' +
            std::to_string(row->calls) + ' ' + std::to_string(row->unclosed) + "\n";
    EXPECT(row->calls == 0 || row->durations.percentile(1, row->calls) >= 0);
  }
  EXPECT(made.orphans == 1);
  return text;
}

void statistics_count_all(const Recording& recording) {
  // name, thread, calls, unclosed
  EXPECT_EQUAL(rows_by(recording, GroupBy::name),
               "outer -1 1 0\ninner -1 1 0\nspan -1 2 1\nleft open -1 0 1\n");
  // A range that never ends is counted for the thread that began it.
  EXPECT_EQUAL(rows_by(recording, GroupBy::thread),
               "outer 0 1 0\ninner 0 1 0\nspan 1 1 0\nspan 0 1 1\nleft open 1 0 1\n");
}

}  // namespace

int main() {
  nvspan_test::Writer writer{{}};
  write_recording(writer.recorder);
  const auto recording = std::make_shared<Recording>();
  EXPECT(recording->add(writer.folder.path()));
  for (const std::string& problem : recording->problems()) EXPECT_EQUAL(problem, "");
  ranges_are_paired(*recording);
  tables_have_all(*recording);
  columns_have_values(recording);
  statistics_count_all(*recording);
  return nvspan_test::failures() == 0 ? 0 : 1;
}
