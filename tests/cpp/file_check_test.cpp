// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A file that is read while its process writes it: what the reader makes of a chunk that had parts
// of two moments, and when a second look settles it.

#include "reader/chunks/file_check.hpp"
#include "expect.hpp"
#include "record/file/checksum.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

using nvspan::reader::ChunkState;
using nvspan::reader::FileCheck;
using nvspan::record::ChunkHeader;
using nvspan::record::ChunkType;
using nvspan::record::FileHeader;

namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::size_t chunk_bytes = 512;
constexpr std::size_t first_word = (nvspan::record::file_header_bytes + sizeof(ChunkHeader)) / word;
constexpr std::size_t body_words = (chunk_bytes - sizeof(ChunkHeader)) / word;

ChunkHeader header_of(ChunkType type, std::uint64_t number) {
  ChunkHeader header = {};
  header.magic = nvspan::record::chunk_magic;
  header.type = static_cast<std::uint32_t>(type);
  header.place = nvspan::record::file_header_bytes / nvspan::record::chunk_alignment;
  header.sequence = 1;
  header.number = number;
  header.size = chunk_bytes;
  header.header_sum = nvspan::record::crc32c(&header, nvspan::record::header_sum_offset);
  return header;
}

Words file_with(const ChunkHeader& chunk, const std::vector<std::uint64_t>& body) {
  FileHeader header = {};
  header.magic = nvspan::record::file_magic;
  header.version = nvspan::record::format_version;
  header.header_bytes = nvspan::record::file_header_bytes;
  header.chunks = 1;
  header.allocated = nvspan::record::file_header_bytes + chunk_bytes;
  header.fixed_sum = nvspan::record::fixed_sum(header);
  Words words(header.allocated / word + 1);
  std::memcpy(words.data(), &header, sizeof header);
  std::memcpy(words.data() + nvspan::record::file_header_bytes / word, &chunk, sizeof chunk);
  std::copy(body.begin(), body.end(), words.begin() + first_word);
  return words;
}

Words open_file(const std::vector<std::uint64_t>& body, std::uint64_t number = 1,
                ChunkType type = ChunkType::events) {
  return file_with(header_of(type, number), body);
}

Words sealed_file(const std::vector<std::uint64_t>& body) {
  ChunkHeader header = header_of(ChunkType::events, 1);
  header.events = static_cast<std::uint32_t>(body.size());
  header.body_sum = nvspan::record::crc32c(body.data(), body.size() * word);
  header.used = static_cast<std::uint32_t>(sizeof header + body.size() * word);
  header.seal_sum = nvspan::record::crc32c(&header, nvspan::record::seal_sum_offset);
  return file_with(header, body);
}

struct Seen {
  ChunkState state;
  std::uint64_t number;
  std::vector<std::uint64_t> body;  // without the zeros at its end
  std::size_t looks;
};

// The first of `looks` is the file as it was read; the others are what is there later.
Seen see(const std::vector<Words>& looks) {
  Words words = looks.front();
  std::size_t count = 1;
  const auto reread = [&](std::uint64_t offset, void* to, std::size_t bytes) {
    const Words& now = looks[std::min(count, looks.size() - 1)];
    ++count;
    std::memcpy(to, reinterpret_cast<const char*>(now.data()) + offset, bytes);
    return true;
  };
  const FileCheck check = nvspan::reader::check_file(words, (words.size() - 1) * word, reread);
  EXPECT(check.chunks.size() == 1);
  const nvspan::reader::ReadChunk& chunk = check.chunks.front();
  Seen seen{chunk.state, chunk.number, {chunk.begin, chunk.end}, count};
  while (!seen.body.empty() && seen.body.back() == 0) seen.body.pop_back();
  return seen;
}

void what_is_newer_than_the_first_look_is_left_out() {
  // Word 2 was not there when it was looked at, words 3 to 5 were when they were.
  const Seen seen = see({open_file({1, 2, 0, 4, 5, 6}), open_file({1, 2, 3, 4, 5, 6, 7, 8})});
  EXPECT(seen.state == ChunkState::open);
  EXPECT((seen.body == std::vector<std::uint64_t>{1, 2}));
}

void what_stays_a_hole_is_kept_for_the_reader_to_report() {
  const Seen still = see({open_file({1, 2, 0, 4, 5, 6})});
  EXPECT((still.body == std::vector<std::uint64_t>{1, 2, 0, 4, 5, 6}));
  EXPECT(still.looks == 2);
  const Seen grown = see({open_file({1, 2, 0, 4, 5}), open_file({1, 2, 0, 4, 5, 6, 7})});
  EXPECT((grown.body == std::vector<std::uint64_t>{1, 2, 0, 4, 5}));
}

void a_chunk_that_is_used_again_is_looked_at_until_it_is_of_one_use() {
  const Seen seen = see({open_file({1, 2, 13, 14}), open_file({11, 12, 23, 24}, 2),
                         open_file({21, 22, 23, 24}, 3), open_file({21, 22, 23, 24, 25}, 3)});
  EXPECT(seen.state == ChunkState::open);
  EXPECT(seen.number == 3);
  EXPECT((seen.body == std::vector<std::uint64_t>{21, 22, 23, 24}));
  EXPECT(seen.looks == 4);
}

void a_chunk_that_was_sealed_since_is_read_whole() {
  std::vector<std::uint64_t> body(body_words, 7);
  const Seen seen = see({open_file({7, 7, 0, 7}), sealed_file(body)});
  EXPECT(seen.state == ChunkState::whole);
  EXPECT(seen.body == body);
}

void damage_that_stays_is_damage_after_one_more_look() {
  Words damaged = sealed_file({1, 2, 3});
  damaged[first_word] ^= 8;
  const Seen seen = see({damaged});
  EXPECT(seen.state == ChunkState::damaged);
  EXPECT(seen.looks == 2);
}

// Their cells change in place.
void statistics_are_taken_as_they_are() {
  const Seen seen = see({open_file({1, 2, 3}, 1, ChunkType::stats), open_file({1, 9, 3})});
  EXPECT((seen.body == std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT(seen.looks == 1);
}

}  // namespace

int main() {
  what_is_newer_than_the_first_look_is_left_out();
  what_stays_a_hole_is_kept_for_the_reader_to_report();
  a_chunk_that_is_used_again_is_looked_at_until_it_is_of_one_use();
  a_chunk_that_was_sealed_since_is_read_whole();
  damage_that_stays_is_damage_after_one_more_look();
  statistics_are_taken_as_they_are();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
