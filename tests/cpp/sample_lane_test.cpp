// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// How much of a ring samples take from events, and what is counted of samples that newer ones
// replaced.

#include "record/writer/sample_lane.hpp"

#include "lines/record_bytes.hpp"
#include "reader/scan/thread_scan.hpp"
#include "record/file/ticks.hpp"

#include <cstdint>
#include <fstream>

#include "expect.hpp"
#include "writer_fixture.hpp"

namespace {

namespace record = nvspan::record;

using nvspan::reader::Recording;
using nvspan_test::event_of;

constexpr std::uint64_t ring_bytes = std::uint64_t{1} << 20;
constexpr std::size_t chunk_bytes = 16 * 1024;

struct Marks : nvspan::reader::ThreadVisitor {
  std::uint64_t kept = 0;
  std::uint64_t overwritten = 0;

  void mark(std::uint32_t, std::uint64_t, const nvspan::reader::EntryPayload&) { ++kept; }
  void gap(std::uint64_t, std::uint64_t, std::uint64_t count) { overwritten += count; }
};

struct Kept {
  Marks marks;
  std::uint64_t sample_bytes = 0;
  std::uint64_t samples_overwritten = 0;
  std::uint64_t samples = 0;
  std::uint64_t file_bytes = 0;
};

// Between two marks `samples` are written.
Kept record_both(const record::RecordOptions& options, std::uint64_t marks, std::uint64_t samples) {
  nvspan_test::Writer writer(options);
  record::SampleLane& lane = writer.recorder.samples();
  record::ThreadWriter* thread = nullptr;
  nvspan::lines::RecordBytes records;
  nvspan::lines::Said said;
  std::uint64_t chunk = 0;
  EXPECT(lane.define(record::SampledThreadDefinition{1, 101, record::ticks_now()}));
  EXPECT(lane.define(record::FrameDefinition{1, 0, 1, 1, 0, 1, 0}));
  EXPECT(lane.define(record::StackDefinition{1, 0, 1, 0}));
  for (std::uint64_t i = 0; i < marks; ++i) {
    thread = writer.recorder.ready(thread, 101);
    writer.recorder.mark(*thread, 0, event_of(nvspan::trace::EventKind::mark, "mark"), nullptr);
    for (std::uint64_t j = 0; j < samples; ++j) {
      const record::SampleLane::Room room = lane.make_room(records.most_of_sample);
      EXPECT(room.found);
      if (room.is_new) ++chunk;
      records.begin(chunk, room.base_ticks, room.is_new);
      const auto state = j % 2 == 0 ? record::SampleState::running : record::SampleState::waiting;
      records.sample({record::ticks_now(), 1, 1, state, 0, 0, 0}, said);
      lane.append(records.bytes(), 1);
    }
  }
  writer.recorder.close(thread);
  Recording recording;
  EXPECT(recording.add(writer.folder.path()));
  for (const std::string& problem : recording.problems()) EXPECT_EQUAL(problem, "");
  Kept kept;
  for (const auto& one : recording.threads()) scan_thread(recording, one, kept.marks);
  const auto& tables = recording.processes()[0].samples;
  for (const auto& one : tables.chunks) {
    kept.samples += nvspan::reader::sample_contents(one).samples;
    kept.sample_bytes += chunk_bytes;
  }
  kept.samples_overwritten = tables.overwritten;
  EXPECT(tables.missing == 0 && !tables.has_gap);
  std::ifstream file(writer.folder.path(), std::ios::binary | std::ios::ate);
  kept.file_bytes = static_cast<std::uint64_t>(file.tellg());
  return kept;
}

record::RecordOptions ring() {
  record::RecordOptions options;
  options.mode = record::RecordMode::ring;
  options.ring_bytes = ring_bytes;
  return options;
}

// Marks take 8 bytes: these fill two thirds of the ring, the samples it several times.
void samples_take_no_rare_event() {
  constexpr std::uint64_t marks = 2 * ring_bytes / 3 / 8;
  constexpr std::uint64_t samples_per_mark = 20;
  const Kept alone = record_both(ring(), marks, 0);
  const Kept both = record_both(ring(), marks, samples_per_mark);
  EXPECT(alone.marks.kept == marks && both.marks.kept == marks);
  EXPECT(alone.marks.overwritten == 0 && both.marks.overwritten == 0);
  EXPECT(both.sample_bytes == ring_bytes / 4);
  EXPECT(both.samples > ring_bytes / 16);
  EXPECT(both.samples + both.samples_overwritten == marks * samples_per_mark);
  EXPECT(both.samples_overwritten > both.samples);
}

// Where there are more events than fit, three quarters of those that a ring alone keeps are there.
void samples_take_a_quarter_of_a_full_ring() {
  constexpr std::uint64_t marks = 4 * ring_bytes / 8;
  constexpr std::uint64_t samples_per_mark = 4;
  const Kept alone = record_both(ring(), marks, 0);
  const Kept both = record_both(ring(), marks, samples_per_mark);
  EXPECT(both.marks.kept > alone.marks.kept * 72 / 100);
  EXPECT(both.marks.kept + both.marks.overwritten == marks);
  EXPECT(both.samples + both.samples_overwritten == marks * samples_per_mark);
  EXPECT(both.file_bytes < alone.file_bytes + 2 * chunk_bytes);
}

void modes_without_events_keep_a_megabyte() {
  for (const record::RecordMode mode : {record::RecordMode::stats, record::RecordMode::armed}) {
    record::RecordOptions options;
    options.mode = mode;
    constexpr std::uint64_t samples = 2'000'000;
    const Kept kept = record_both(options, 1, samples);
    EXPECT(kept.samples_overwritten > 0);
    EXPECT(kept.samples + kept.samples_overwritten == samples);
    EXPECT(kept.samples > 400'000);
  }
}

}  // namespace

int main() {
  samples_take_no_rare_event();
  samples_take_a_quarter_of_a_full_ring();
  modes_without_events_keep_a_megabyte();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
