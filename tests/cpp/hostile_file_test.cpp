// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Files whose offsets, sizes and counts lead outside, to themselves or round the end of the
// numbers, before all who read a recording while it is written: each of them comes to an end.

#include "expect.hpp"
#include "reader/chunks/file_span.hpp"
#include "reader/chunks/open_file.hpp"
#include "reader/file/recording.hpp"
#include "reader/live/live_file.hpp"
#include "reader/live/live_request.hpp"
#include "reader/live/live_watch.hpp"
#include "reader/tail/recording_tail.hpp"
#include "record/file/live_format.hpp"
#include "recording_bytes.hpp"
#include "writer_fixture.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

using nvspan::reader::FileSpan;
using nvspan::reader::LiveFile;
using nvspan::reader::OpenFile;
using nvspan::reader::RecordingTail;
using nvspan::reader::TailRange;
using nvspan_test::RecordingBytes;

namespace {

namespace record = nvspan::record;
using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t highest = ~std::uint64_t{0};
constexpr std::size_t live_word = record::live_offset / record::word;

constexpr std::size_t word_of(std::size_t field) { return live_word + field / record::word; }
constexpr std::size_t blocks_word = word_of(offsetof(record::LiveSection, blocks));
constexpr std::size_t definitions_word = word_of(offsetof(record::LiveSection, definitions));
constexpr std::size_t devices_word = word_of(offsetof(record::LiveSection, devices));
constexpr std::size_t samples_word = word_of(offsetof(record::LiveSection, samples));
constexpr std::size_t sample_chunks_word = word_of(offsetof(record::LiveSection, sample_chunks));

// Chunks of definitions, of a thread's entries and of blocks, one block of which is in "outer", and
// two of samples of thread 50, which is at line 7 of "outer" in both.
struct LiveRecording {
  Words words;
  std::vector<std::size_t> chunks;  // the first word of each

  explicit LiveRecording(record::RecordMode mode) {
    RecordingBytes bytes;
    bytes.header().mode = static_cast<std::uint32_t>(mode);
    bytes.start_definitions();
    bytes.string(0, "outer");
    bytes.define(record::DefinitionType::domain, record::DomainDefinition{0, record::no_string});
    bytes.define(record::DefinitionType::site, record::SiteDefinition{});
    bytes.define(record::DefinitionType::code, record::CodeDefinition{1, 0, 0, 1});
    bytes.define(record::DefinitionType::frame, record::FrameDefinition{1, 1, 7, 7, 0, 0, 0});
    bytes.define(record::DefinitionType::stack, record::StackDefinition{1, 0, 1, 0});
    bytes.define(record::DefinitionType::sampled_thread,
                 record::SampledThreadDefinition{1, 50, 2000});
    bytes.start_events(0, 50, 2000);
    bytes.add({record::make_entry(record::EntryKind::push, 0, 10),
               record::make_entry(record::EntryKind::pop, 0, 30),
               record::make_entry(record::EntryKind::push, 0, 40)});
    bytes.start_events(record::no_thread, 0, 0);
    constexpr std::size_t block_words = sizeof(record::LiveBlock) / record::word;
    Words block(block_words);
    block[offsetof(record::LiveBlock, state) / record::word] = record::live_one_event + 1;
    block[offsetof(record::LiveBlock, owner) / record::word] = std::uint64_t{1} << 32 | 50;
    block[offsetof(record::LiveBlock, open) / record::word] =
        record::live_entry(record::LiveName::site, 0, 0);
    bytes.add(Words((record::live_blocks_start - sizeof(record::ChunkHeader)) / record::word));
    bytes.add(block);
    bytes.add(Words(block_words));
    for (const std::uint64_t number : {1u, 2u}) {
      bytes.start_samples(number * 4096, number);
      // Units of 1,024 ticks; at once, another thread: 1; stack + 1, running; then a time of 2
      // units, the same.
      bytes.add({0x45'25'02'03'0B});
    }
    words = bytes.words();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == record::chunk_magic) chunks.push_back(i);
    }
    words[live_word] = record::live_magic;
    words[definitions_word] = chunks[0] * record::word;
    words[blocks_word] = chunks[2] * record::word;
    words[samples_word] = 2;
    words[sample_chunks_word + 1] = chunks[3] * record::word;
    words[sample_chunks_word + 2] = chunks[4] * record::word;
  }

  record::ChunkHeader& chunk(std::size_t number) {
    return *reinterpret_cast<record::ChunkHeader*>(words.data() + chunks[number]);
  }
  void sum_again() {
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      chunk(i).header_sum = record::crc32c(&chunk(i), record::header_sum_offset);
    }
  }
};

void write(const std::string& path, const Words& words) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(words.data()),
             static_cast<std::streamsize>(words.size() * record::word));
}

// All that reads a recording while it is written.
void look_at(const std::string& path) {
  LiveFile file;
  nvspan::reader::LiveSample sample;
  if (file.open(path)) {
    for (int i = 0; i < 2 && file.sample(sample); ++i) file.names().name(highest);
    nvspan::reader::LiveWatch watch(file);
    watch.look();
    nvspan::reader::LiveLines lines;
    file.find_lines({}, lines);
  }
  std::string problem;
  nvspan::reader::LiveRequest request;
  request.mode = 0;
  nvspan::reader::ask(path, request, 0, problem);
  nvspan::reader::ask_for_lines(path, 0, 0, problem);
  RecordingTail tail;
  if (tail.open(path)) {
    std::vector<TailRange> closed;
    std::uint64_t open = 0;
    tail.progress(open);
    for (int i = 0; i < 2; ++i) tail.read_ranges(closed, true);
    tail.name_of(0);
  }
  const std::string copy = path + ".copy";
  for (const std::uint64_t window : {std::uint64_t{0}, std::uint64_t{1000}}) {
    nvspan::reader::freeze_recording(path, copy, window, problem);
    ::unlink(copy.c_str());
  }
}

constexpr record::RecordMode modes[] = {record::RecordMode::full, record::RecordMode::ring};
// Round the end of the numbers with a chunk's header, with a block, with the smallest sum.
constexpr std::uint64_t far_away[] = {highest,
                                      highest - 63,
                                      highest - 95,
                                      highest - 127,
                                      highest - 2047,
                                      highest >> 1,
                                      1ull << 63,
                                      1ull << 40,
                                      1ull << 32,
                                      4097,
                                      1};

void an_offset_may_lead_anywhere() {
  const nvspan_test::Folder folder;
  constexpr std::size_t fields[] = {
      blocks_word,
      definitions_word,
      devices_word,
      samples_word,
      sample_chunks_word + 1,
      sample_chunks_word + 2,
      offsetof(record::FileHeader, allocated) / record::word,
      offsetof(record::FileHeader, in_hand) / record::word,
      offsetof(record::FileHeader, estimated_frequency) / record::word};
  for (const record::RecordMode mode : modes) {
    for (const std::size_t field : fields) {
      for (const std::uint64_t value : far_away) {
        LiveRecording recording(mode);
        recording.words[field] = value;
        write(folder.path(), recording.words);
        look_at(folder.path());
      }
    }
  }
}

void a_chunk_may_lead_anywhere_and_be_of_any_size() {
  const nvspan_test::Folder folder;
  for (std::size_t number = 0; number < 5; ++number) {
    LiveRecording whole(record::RecordMode::ring);
    const std::uint64_t own = whole.chunks[number] * record::word;
    std::vector<std::uint64_t> places(std::begin(far_away), std::end(far_away));
    places.push_back(own);  // to itself
    places.push_back(whole.chunks[2] * record::word);
    for (const std::uint64_t before : places) {
      LiveRecording recording(record::RecordMode::ring);
      recording.chunk(number).before = before;
      recording.sum_again();
      write(folder.path(), recording.words);
      look_at(folder.path());
    }
    for (const std::uint32_t size : {0u, 64u, 128u, 192u, 1u << 20, 0x10000000u}) {
      LiveRecording recording(record::RecordMode::full);
      recording.chunk(number).size = size;
      recording.chunk(number).used = highest >> 32;
      recording.sum_again();
      write(folder.path(), recording.words);
      look_at(folder.path());
    }
  }
}

// Each seems to be open, and to have one of its thread behind it. The copy waits for 0.1 s in all.
void a_copy_of_chunks_that_nobody_finishes_ends() {
  const nvspan_test::Folder folder;
  constexpr std::uint64_t count = 20'000;
  RecordingBytes bytes;
  for (std::uint64_t number = 1; number <= count; ++number) {
    bytes.start_events(0, 50, 2000, number);
    bytes.add({record::make_entry(record::EntryKind::mark, 0, 10)});
  }
  Words words = bytes.words();
  words[live_word] = record::live_magic;
  write(folder.path(), words);
  const std::string copy = std::string(folder.path()) + ".copy";
  std::string problem;
  EXPECT(nvspan::reader::freeze_recording(folder.path(), copy, 0, problem) == 0);
  EXPECT_EQUAL(problem, "");
  RecordingTail tail;
  EXPECT(tail.open(copy));
  ::unlink(copy.c_str());
}

void a_chunk_of_names_may_shrink_between_two_looks() {
  const nvspan_test::Folder folder;
  LiveRecording recording(record::RecordMode::full);
  write(folder.path(), recording.words);
  RecordingTail tail;
  EXPECT(tail.open(folder.path()));
  EXPECT_EQUAL(std::string(tail.name_of(0).text), "outer");
  recording.chunk(0).size = 128;
  recording.sum_again();
  write(folder.path(), recording.words);
  EXPECT_EQUAL(std::string(tail.name_of(7).text), "<unknown>");
}

// A number takes memory in proportion to itself: the file must be large enough for it.
void a_number_is_no_larger_than_its_file() {
  const nvspan_test::Folder folder;
  RecordingBytes bytes;
  bytes.start_definitions();
  bytes.string((1u << 28) - 1, "far");
  record::SiteDefinition site = {};
  site.id = site.message = (1u << 28) - 1;
  bytes.define(record::DefinitionType::site, site);
  bytes.define(record::DefinitionType::code, record::CodeDefinition{(1u << 28) - 1, 0, 0, 1});
  bytes.define(record::DefinitionType::stack, record::StackDefinition{(1u << 28) - 1, 0, 1, 0});
  bytes.string(0, "near");
  bytes.define(record::DefinitionType::site, record::SiteDefinition{});
  Words words = bytes.words();
  words[live_word] = record::live_magic;
  words[definitions_word] = record::file_header_bytes;
  write(folder.path(), words);
  RecordingTail tail;
  EXPECT(tail.open(folder.path()));
  EXPECT_EQUAL(std::string(tail.name_of((1u << 28) - 1).text), "<unknown>");
  LiveFile file;
  nvspan::reader::LiveLines lines;
  EXPECT(file.open(folder.path()) && file.find_lines({}, lines));
  EXPECT(file.names().code().codes() == 0 && file.names().code().stacks() == 0);
  EXPECT_EQUAL(std::string(tail.name_of(0).text), "near");
}

void the_file_that_is_not_hostile_is_read() {
  const nvspan_test::Folder folder;
  for (const record::RecordMode mode : modes) {
    write(folder.path(), LiveRecording(mode).words);
    LiveFile file;
    nvspan::reader::LiveSample sample;
    EXPECT(file.open(folder.path()) && file.sample(sample));
    EXPECT(sample.threads.size() == 1 && sample.threads[0].open_count == 1);
    EXPECT_EQUAL(std::string(file.names().name(sample.threads[0].open[0]).text), "outer");
    nvspan::reader::LiveLines lines;
    EXPECT(file.find_lines({}, lines) && lines.threads.size() == 1);
    EXPECT(lines.looked == 2 * 4096 + 2 * 1024);
    const nvspan::reader::LiveLine& line = lines.threads[0];
    EXPECT(line.tid == 50 && line.stack == 1 && line.shown == 1 && line.at_least);
    EXPECT(line.since == 4096 && line.state == record::SampleState::running);
    const nvspan::reader::SampledCode& code = file.names().code();
    EXPECT(code.frame(line.stack).line == 7 && code.file(code.frame(line.stack).code) == 0);
    RecordingTail tail;
    std::vector<TailRange> closed;
    std::uint64_t open = 0;
    EXPECT(tail.open(folder.path()) && tail.read_ranges(closed, true));
    EXPECT(closed.size() == 1 && closed[0].ticks == 20 && closed[0].site() == 0);
    EXPECT(tail.progress(open) == 1 && open == 1);
    tail.each_open([&](const TailRange& range) { open += range.ticks; });
    EXPECT(open == 2041);
  }
}

// What one thread left was taken, and left again, before anybody looked: all of it is read at once.
void threads_that_follow_one_another_in_a_chunk_are_read_in_one_look() {
  const nvspan_test::Folder folder;
  RecordingBytes bytes;
  bytes.start_definitions();
  bytes.define(record::DefinitionType::site, record::SiteDefinition{});
  constexpr std::uint32_t threads = 4;
  for (std::uint32_t i = 0; i < threads; ++i) {
    bytes.start_events(i, 50 + i, 2000);
    bytes.add({record::make_entry(record::EntryKind::push, 0, 10),
               record::make_entry(record::EntryKind::pop, 0, 11 + i)});
  }
  Words words = bytes.words();
  words[live_word] = record::live_magic;
  words[definitions_word] = record::file_header_bytes;
  std::vector<record::ChunkHeader*> chunks;
  for (std::uint64_t& first : words) {
    if (first == record::chunk_magic) {
      chunks.push_back(reinterpret_cast<record::ChunkHeader*>(&first));
    }
  }
  const auto sum = [](record::ChunkHeader& chunk) {
    chunk.header_sum = record::crc32c(&chunk, record::header_sum_offset);
  };
  // At first one thread has it all and has not ended; the others are not there yet.
  Words first = words;
  const auto at = [&](std::uint32_t i) {
    return reinterpret_cast<char*>(chunks[1 + i]) - reinterpret_cast<char*>(words.data());
  };
  auto& all =
      *reinterpret_cast<record::ChunkHeader*>(reinterpret_cast<char*>(first.data()) + at(0));
  all.size =
      static_cast<std::uint32_t>(words.size() * record::word) - static_cast<std::uint32_t>(at(0));
  sum(all);
  std::fill(reinterpret_cast<char*>(first.data()) + at(1),
            reinterpret_cast<char*>(first.data() + first.size()), '\0');
  write(folder.path(), first);
  RecordingTail tail;
  std::vector<TailRange> closed;
  EXPECT(tail.open(folder.path()) && tail.read_ranges(closed, true));
  EXPECT(closed.size() == 1);
  // Each has ended and left the rest to the next.
  for (std::uint32_t i = 0; i < threads; ++i) {
    record::ChunkHeader& chunk = *chunks[1 + i];
    chunk.used = sizeof chunk + 2 * record::word + record::last_of_thread;
  }
  write(folder.path(), words);
  tail.refresh();
  closed.clear();
  tail.read_ranges(closed, true);
  EXPECT(closed.size() == threads - 1);
  for (std::size_t i = 0; i < closed.size(); ++i) EXPECT(closed[i].ticks == i + 2);
}

// A payload is longer than what the tail reads at a time.
void a_long_payload_is_passed_over() {
  const nvspan_test::Folder folder;
  RecordingBytes bytes;
  bytes.start_definitions();
  record::SiteDefinition site = {};
  site.payload_type = 7;  // extended
  bytes.define(record::DefinitionType::site, site);
  bytes.start_events(0, 50, 2000);
  constexpr std::uint64_t payload = 100'000;
  bytes.add({record::make_entry(record::EntryKind::push, 0, 10),
             record::make_entry(record::EntryKind::mark, 0, 12) | record::entry_payload_bit,
             payload});
  bytes.add(Words(payload / record::word, 5));
  bytes.add({record::make_entry(record::EntryKind::pop, 0, 30)});
  Words words = bytes.words();
  words[live_word] = record::live_magic;
  words[definitions_word] = record::file_header_bytes;
  write(folder.path(), words);
  RecordingTail tail;
  std::vector<TailRange> closed;
  EXPECT(tail.open(folder.path()) && tail.read_ranges(closed, true));
  EXPECT(closed.size() == 1 && closed[0].ticks == 20);
}

void a_span_has_what_lies_within_it() {
  const Words words = {1, 2, 3, 4};
  const FileSpan span(words.data(), 32);
  EXPECT(span.has(0, 32) && span.has(32, 0) && !span.has(33, 0) && !span.has(0, 33));
  EXPECT(!span.has(highest, 2) && !span.has(2, highest) && !span.has(highest - 7, 8));
  EXPECT(span.part(8, highest).size() == 24 && span.part(32, 8).size() == 0);
  EXPECT(span.part(highest, highest).size() == 0);
  EXPECT(span.at<std::uint64_t>(24) == &words[3] && span.at<std::uint64_t>(25) == nullptr);
  EXPECT(span.at<std::uint64_t>(4) == nullptr);  // not aligned
  EXPECT(span.at<std::uint64_t>(8, 3) != nullptr && span.at<std::uint64_t>(8, 4) == nullptr);
  EXPECT(span.at<std::uint64_t>(0, highest / 8 + 2) == nullptr);
  std::uint64_t value = 0;
  EXPECT(span.read(16, &value, 8) && value == 3 && !span.read(highest - 3, &value, 8));
  EXPECT(FileSpan().size() == 0 && FileSpan().part(0, 1).size() == 0);
}

void only_a_file_is_opened_and_nothing_is_waited_for() {
  const nvspan_test::Folder folder;
  std::string problem;
  EXPECT(::mkfifo(folder.path().c_str(), 0600) == 0);
  for (const bool writable : {false, true}) {
    nvspan::reader::FileTerms terms;
    terms.writable = writable;
    EXPECT(!OpenFile().open(folder.path(), problem, terms));
    EXPECT_EQUAL(problem, "it is not a recording of nvspan");
  }
  look_at(folder.path());
  nvspan::reader::Recording recording;
  EXPECT(!recording.add(folder.path()));
  record::FileHeader header = {};
  EXPECT(!nvspan::reader::read_file_header(folder.path(), header));
  EXPECT(!OpenFile().open("/tmp", problem) && problem == "Is a directory");
  EXPECT(!OpenFile().open("/dev/null", problem));
  ::unlink(folder.path().c_str());
  EXPECT(!OpenFile().open(folder.path(), problem) && problem == "No such file or directory");
  write(folder.path(), Words(10));
  nvspan::reader::FileTerms terms;
  terms.least = 81;
  OpenFile file;
  EXPECT(!file.open(folder.path(), problem, terms));
  terms.least = 80;
  EXPECT(file.open(folder.path(), problem, terms) && file.size() == 80);
  std::uint64_t value = 0;
  EXPECT(file.read(72, &value, 8) && !file.read(73, &value, 8) && !file.read(highest, &value, 8));
  EXPECT(file.bytes(8, highest).size() == 72 && file.bytes(highest, highest).size() == 0);
}

}  // namespace

int main() {
  ::alarm(120);  // what never ends fails
  a_span_has_what_lies_within_it();
  only_a_file_is_opened_and_nothing_is_waited_for();
  the_file_that_is_not_hostile_is_read();
  an_offset_may_lead_anywhere();
  a_chunk_may_lead_anywhere_and_be_of_any_size();
  a_copy_of_chunks_that_nobody_finishes_ends();
  a_chunk_of_names_may_shrink_between_two_looks();
  a_number_is_no_larger_than_its_file();
  threads_that_follow_one_another_in_a_chunk_are_read_in_one_look();
  a_long_payload_is_passed_over();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
