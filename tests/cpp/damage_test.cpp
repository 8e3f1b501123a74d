// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The recorder's own file, damaged in one way at a time: what its reader says of it, and that the
// events it has and those that it misses are all that were recorded.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "expect.hpp"
#include "reader/file/recording.hpp"
#include "reader/scan/thread_scan.hpp"
#include "writer_fixture.hpp"

using nvspan::reader::Recording;
using nvspan::record::ChunkHeader;
using nvspan::record::ChunkType;
using nvspan::record::FileHeader;
using nvspan::trace::EventKind;
using nvspan_test::event_of;

namespace {

using Words = std::vector<std::uint64_t>;
constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::uint64_t threads = 2;
constexpr std::uint64_t pairs = 30000;  // of each thread: several chunks
constexpr std::uint64_t recorded = threads * 2 * pairs;

Words written(bool close) {
  nvspan_test::Writer writer(nvspan::record::RecordOptions{});
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    nvspan::record::ThreadWriter& to = *writer.recorder.ready(nullptr, 101 + thread);
    for (std::uint64_t i = 0; i < pairs; ++i) {
      writer.recorder.push(to, 0, event_of(EventKind::push, "work"), nullptr);
      writer.recorder.pop(to, 0, event_of(EventKind::pop));
    }
    if (close) writer.recorder.retire(&to);
  }
  if (close) writer.recorder.close(nullptr);
  return writer.words();
}

// The headers of its chunks of a type, in words.
std::vector<std::size_t> chunks_of(const Words& words, ChunkType type) {
  std::vector<std::size_t> found;
  std::size_t at = nvspan::record::file_header_bytes / word;
  while (at + sizeof(ChunkHeader) / word <= words.size()) {
    ChunkHeader header;
    std::memcpy(&header, &words[at], sizeof header);
    if (header.magic != nvspan::record::chunk_magic) break;
    if (header.type == static_cast<std::uint32_t>(type)) found.push_back(at);
    at += header.size / word;
  }
  return found;
}

ChunkHeader header_at(const Words& words, std::size_t at) {
  ChunkHeader header;
  std::memcpy(&header, &words[at], sizeof header);
  return header;
}

struct Kept : nvspan::reader::ThreadVisitor {
  std::uint64_t events = 0;
  void scanned(std::uint64_t count) { events += count; }
};

struct Found {
  std::string problems;  // without the file's name
  std::uint64_t kept = 0;
  std::uint64_t lost = 0;
  std::string reasons;
};

Found read(const Words& words, std::size_t bytes) {
  Recording recording;
  Found found;
  EXPECT(recording.add("f", words, bytes));
  for (const std::string& problem : recording.problems())
    found.problems += problem.substr(3) + '\n';
  for (const auto& loss : recording.losses()) {
    found.lost += loss.count;
    if (found.reasons.find(loss.reason) == std::string::npos) {
      found.reasons += std::string(loss.reason) + ';';
    }
  }
  for (const auto& thread : recording.threads()) {
    Kept kept;
    scan_thread(recording, thread, kept);
    found.kept += kept.events;
  }
  return found;
}
Found read(const Words& words) { return read(words, words.size() * word); }

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; text.insert(at -= 3, ",")) {
  }
  return text;
}

void a_whole_file_has_no_problem(const Words& words) {
  const Found found = read(words);
  EXPECT_EQUAL(found.problems, "");
  EXPECT(found.kept == recorded && found.lost == 0);
}

void what_is_cut_off_is_counted(const Words& words) {
  const std::size_t bytes = words.size() * word;
  for (const std::size_t part : {2, 3, 5}) {
    Words cut(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(words.size() / part));
    const std::size_t left = cut.size() * word;
    cut.resize(cut.size() + 1);
    const Found found = read(cut, left);
    EXPECT(found.problems.find("cut off: " + grouped(left) + " of " + grouped(bytes) +
                               " bytes are left\n") == 0);
    EXPECT(found.problems.find(grouped(found.lost) + " recorded events are missing\n") !=
           std::string::npos);
    EXPECT_EQUAL(found.reasons, "cut off;");
    EXPECT(found.kept > 0 && found.kept + found.lost == recorded);
  }
}

// A process that was killed says no total: the chunk's own seal says what it held.
void a_cut_chunk_of_a_killed_process_is_counted(const Words& words) {
  const std::vector<std::size_t> chunks = chunks_of(words, ChunkType::events);
  std::size_t last = 0;  // the first thread's last chunk that is full
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const ChunkHeader header = header_at(words, chunks[i]);
    if (header.thread == nvspan::record::no_thread) continue;
    if (header.thread != 0 || header.used == 0) break;
    events += header.events;
    last = i;
  }
  EXPECT(last > 0);
  const std::size_t left = chunks[last] + header_at(words, chunks[last]).size / word / 2;
  Words cut(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(left));
  cut.resize(left + 1);
  const Found found = read(cut, left * word);
  EXPECT(found.lost > 100 && found.kept + found.lost == events);
  EXPECT_EQUAL(found.reasons, "cut off;");
}

void a_chunk_that_does_not_match_is_left_out(Words words) {
  const std::vector<std::size_t> chunks = chunks_of(words, ChunkType::events);
  EXPECT(chunks.size() > 4);
  const std::uint64_t events = header_at(words, chunks[2]).events;
  words[chunks[2] + sizeof(ChunkHeader) / word + 5] ^= 1 << 20;
  const Found found = read(words);
  EXPECT_EQUAL(found.problems, "1 chunk does not match its checksum and is left out\n" +
                                   grouped(events) + " recorded events are missing\n");
  EXPECT_EQUAL(found.reasons, "damaged;");
  EXPECT(found.lost == events && found.kept == recorded - events);
}

void a_chunk_of_zeros_is_missing(Words words) {
  const std::vector<std::size_t> chunks = chunks_of(words, ChunkType::events);
  const ChunkHeader header = header_at(words, chunks[1]);
  std::fill_n(words.begin() + static_cast<std::ptrdiff_t>(chunks[1]), header.size / word, 0);
  const Found found = read(words);
  EXPECT(found.problems.find(grouped(header.size) +
                             " bytes are damaged and hold no readable chunk\n") == 0);
  EXPECT(found.lost == header.events && found.kept == recorded - header.events);
}

void definitions_that_are_damaged_leave_events_without_a_name(Words words) {
  const std::vector<std::size_t> chunks = chunks_of(words, ChunkType::definitions);
  EXPECT(!chunks.empty());
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(chunks[0]);
  std::uint64_t name = 0;
  std::memcpy(&name, "work", 4);
  const auto at = std::find(begin, words.end(), name);
  EXPECT(at != words.end());
  *at ^= 1;
  const Found found = read(words);
  EXPECT_EQUAL(found.problems, "24 bytes of definitions (names, domains, schemas) are damaged\n");
  EXPECT(found.kept == recorded && found.lost == 0);
}

void a_damaged_header_is_said(Words words) {
  words[offsetof(FileHeader, run) / word] ^= 1;
  const Found found = read(words);
  EXPECT_EQUAL(found.problems,
               "the header is damaged: times, clock, command and rank may be wrong\n");
  EXPECT(found.kept == recorded && found.lost == 0);
}

void what_follows_the_end_is_said(Words words) {
  words.resize(words.size() + 8, 7);
  const Found found = read(words);
  EXPECT_EQUAL(found.problems, "64 bytes follow the end of the recording\n");
  EXPECT(found.kept == recorded && found.lost == 0);
}

}  // namespace

int main() {
  const Words words = written(true);
  a_whole_file_has_no_problem(words);
  what_is_cut_off_is_counted(words);
  a_cut_chunk_of_a_killed_process_is_counted(written(false));
  a_chunk_that_does_not_match_is_left_out(words);
  a_chunk_of_zeros_is_missing(words);
  definitions_that_are_damaged_leave_events_without_a_name(words);
  a_damaged_header_is_said(words);
  what_follows_the_end_is_said(words);
  return nvspan_test::failures() == 0 ? 0 : 1;
}
