// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/chunks/file_check.hpp"

#include "reader/chunks/byte_source.hpp"
#include "record/file/checksum.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::reader {
namespace {

class Checker {
 public:
  Checker(const record::FileHeader& header, std::vector<std::uint64_t>& words, std::size_t bytes,
          const Reread& reread)
      : header_(header), words_(words), file_(words.data(), bytes), reread_(reread) {}

  FileCheck old_file();
  FileCheck file();

 private:
  // With the words behind its header, of so many bytes in all or as many as there are.
  template <typename Header>
  ReadChunk chunk_of(const Header& read, std::uint64_t offset, std::uint64_t bytes) const {
    ReadChunk chunk = {};
    chunk.begin = words_.data() + (offset + sizeof read) / word;
    const FileSpan body = file_.part(offset, bytes).part(sizeof read, bytes);
    chunk.end = chunk.begin + body.size() / word;
    chunk.type = static_cast<record::ChunkType>(read.type);
    chunk.thread = read.thread;
    chunk.tid = read.tid;
    chunk.offset = offset;
    chunk.sequence = read.sequence;
    chunk.base_ticks = read.base_ticks;
    chunk.end_ticks = read.end_ticks;
    chunk.number = read.number;
    chunk.before = read.before;
    return chunk;
  }
  ChunkState state_of(std::uint64_t offset, const record::ChunkHeader& read, bool& sealed) const;
  void look_again(std::uint64_t offset, record::ChunkHeader& read, ChunkState& state, bool& sealed);
  void add(std::uint64_t offset, record::ChunkHeader read);
  void gap(std::uint64_t from, std::uint64_t to);
  void count_places();

  const record::FileHeader& header_;
  std::vector<std::uint64_t>& words_;
  const FileSpan file_;  // the same
  const Reread& reread_;
  FileCheck check_;
  std::vector<std::uint64_t> places_;  // sequences
  std::vector<std::uint64_t> again_;   // a chunk's words at another look
};

FileCheck Checker::old_file() {
  std::uint64_t offset = record::file_header_bytes;
  record::OldChunkHeader read = {};
  while (file_.read(offset, &read, sizeof read)) {
    if (read.magic != record::old_chunk_magic || read.type < 1 || read.type > 3 ||
        read.size < sizeof read || read.size % record::chunk_alignment != 0) {
      if (read.magic == record::old_chunk_magic) check_.damaged_bytes += record::chunk_alignment;
      offset += record::chunk_alignment;
      continue;
    }
    const ReadChunk chunk = chunk_of(read, offset, read.size);
    if (chunk.type != record::ChunkType::events || chunk.thread != record::no_thread) {
      check_.chunks.push_back(chunk);
    }
    offset += read.size;
  }
  return std::move(check_);
}

ChunkState Checker::state_of(std::uint64_t offset, const record::ChunkHeader& read,
                             bool& sealed) const {
  const bool cut = !file_.has(offset, read.size);
  sealed = false;
  if (read.used == 0 && read.seal_sum == 0) return cut ? ChunkState::cut : ChunkState::open;
  const std::uint32_t used = read.used & ~record::seal_flags;
  sealed = read.seal_sum == record::crc32c(&read, record::seal_sum_offset) && used >= sizeof read &&
           used <= read.size;
  if (sealed && file_.has(offset, used)) {
    const FileSpan body = file_.part(offset + sizeof read, used - sizeof read);
    const bool whole = record::crc32c(body.data(), body.size()) == read.body_sum;
    return whole ? ChunkState::whole : ChunkState::damaged;
  }
  return sealed && cut ? ChunkState::cut : ChunkState::damaged;
}

// The process may have written while this was read: a chunk may have parts of two moments, or of
// two uses. What a second look finds unchanged up to some word was there in the first.
void Checker::look_again(std::uint64_t offset, record::ChunkHeader& read, ChunkState& state,
                         bool& sealed) {
  constexpr int most_looks = 32;
  const auto in_doubt = [&] {
    return state == ChunkState::damaged ||
           (state == ChunkState::open &&
            read.type != static_cast<std::uint32_t>(record::ChunkType::stats));
  };
  for (int looks = 0; in_doubt() && looks < most_looks; ++looks) {
    const std::size_t size = file_.part(offset, read.size).size();
    again_.assign(size / word + 1, 0);
    // Another process may have cut the file or put something else there: the first look counts.
    record::ChunkHeader header = {};
    if (!reread_(offset, again_.data(), size) ||
        !FileSpan(again_.data(), size).read(0, &header, sizeof header) ||
        !is_chunk_header(header, offset) || header.size > read.size) {
      return;
    }
    std::uint64_t* begin = words_.data() + offset / word;
    std::uint64_t* end = begin + size / word;
    std::uint64_t* changed = std::mismatch(begin, end, again_.begin()).first;
    if (changed == end) return;
    if (state == ChunkState::open && std::memcmp(&header, &read, sizeof header) == 0) {
      std::fill(changed, end, 0);  // newer than the first look, or torn
      return;
    }
    std::memcpy(begin, again_.data(), size);
    read = header;
    state = state_of(offset, read, sealed);
  }
}

void Checker::add(std::uint64_t offset, record::ChunkHeader read) {
  bool sealed = false;
  ChunkState state = state_of(offset, read, sealed);
  if (!check_.closed && reread_) look_again(offset, read, state, sealed);
  places_.push_back(read.sequence);
  if (read.type == static_cast<std::uint32_t>(record::ChunkType::events) &&
      read.thread == record::no_thread) {
    return;
  }
  if (state == ChunkState::open) {
    // Whoever ends a file in order seals all that is in it.
    if (check_.closed && header_.in_hand != offset)
      state = ChunkState::damaged;
    else
      ++check_.open_chunks;
  }
  std::uint64_t used = sealed ? read.used & ~record::seal_flags : read.size;
  // Its rest is on its way to another thread.
  if (!sealed && header_.in_hand > offset && header_.in_hand - offset < used) {
    used = (header_.in_hand - offset) & ~(record::chunk_alignment - 1);
  }
  ReadChunk chunk = chunk_of(read, offset, used);
  chunk.state = state;
  chunk.sealed = sealed;
  chunk.last = sealed && (read.used & record::last_of_thread) != 0;
  chunk.last_ticks = sealed ? read.last_ticks : 0;
  constexpr std::uint32_t or_more = 0xFFFFFFFF;
  chunk.events = sealed && read.events != or_more ? read.events : 0;
  check_.chunks.push_back(chunk);
}

// Where no chunk was found.
void Checker::gap(std::uint64_t from, std::uint64_t to) {
  if (from >= to) return;
  const auto* begin = reinterpret_cast<const char*>(words_.data());
  const bool zero = std::all_of(begin + from, begin + to, [](char byte) { return byte == 0; });
  if (zero && to - from == record::chunk_alignment) return;  // too little for a chunk
  if (check_.closed && from >= check_.expected) {
    if (!zero) check_.surplus_bytes += to - from;
    return;
  }
  if (!check_.closed) {
    const bool at_end = !file_.has(to, record::chunk_alignment);
    if (header_.in_hand == from || (zero && at_end && from >= check_.expected)) return;
  }
  check_.damaged_bytes += to - from;
}

void Checker::count_places() {
  std::sort(places_.begin(), places_.end());
  places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
  const std::uint64_t allowed = header_.in_hand != 0 ? 1 : 0;
  const std::uint64_t found = places_.size();
  if (header_.chunks > found + allowed) check_.missing_chunks = header_.chunks - found;
  // Of a file in progress the header was read before them.
  if (check_.closed && !places_.empty() && places_.back() > header_.chunks) {
    check_.header_damaged = true;
  }
}

FileCheck Checker::file() {
  check_.closed = header_.file_bytes != 0 && header_.closing_sum == record::closing_sum(header_);
  check_.header_damaged = header_.fixed_sum != record::fixed_sum(header_) ||
                          (!check_.closed && header_.closing_sum != 0);
  if (header_.last_sample != 0) {
    const std::size_t slot = header_.last_sample % 2;
    check_.header_damaged |=
        header_.last_sums[slot] != record::sample_sum(header_.last[slot], header_.last_sample);
  }
  check_.expected = check_.closed ? header_.file_bytes : header_.allocated;
  std::uint64_t offset = record::file_header_bytes;
  std::uint64_t from = offset;
  record::ChunkHeader read = {};
  while (file_.read(offset, &read, sizeof read)) {
    if (!is_chunk_header(read, offset)) {
      offset += record::chunk_alignment;
      continue;
    }
    gap(from, offset);
    add(offset, read);
    from = offset += file_.part(offset, read.size).size();
  }
  gap(from, file_.size());
  count_places();
  check_.missing_bytes = check_.expected - std::min(check_.expected, file_.size());
  // A file that goes on after its end has something open.
  const bool ended =
      (header_.flags & (record::file_closed | record::file_cut)) == record::file_closed;
  if (!check_.closed && ended && header_.in_hand == 0 && check_.open_chunks == 0 &&
      check_.missing_bytes == 0) {
    check_.header_damaged = true;
  }
  return std::move(check_);
}

}  // namespace

bool FileCheck::is_whole() const {
  if (header_damaged || missing_bytes + damaged_bytes + surplus_bytes + missing_chunks != 0) {
    return false;
  }
  return std::none_of(chunks.begin(), chunks.end(), [](const ReadChunk& chunk) {
    return chunk.state == ChunkState::damaged || chunk.state == ChunkState::cut;
  });
}

void FileCheck::leave_out_unchecked() {
  for (ReadChunk& chunk : chunks) {
    if (chunk.state == ChunkState::open || chunk.state == ChunkState::cut) {
      chunk.state = ChunkState::damaged;
    }
  }
}

FileCheck check_file(std::vector<std::uint64_t>& words, std::size_t bytes, const Reread& reread) {
  words.resize(std::max<std::size_t>(words.size(), record::file_header_bytes / word + 1));
  record::FileHeader header = {};
  std::memcpy(static_cast<void*>(&header), words.data(), sizeof header);
  if (bytes < record::file_header_bytes || header.magic != record::file_magic) return FileCheck{};
  Checker checker(header, words, bytes, reread);
  return header.version == record::version_without_checksums ? checker.old_file() : checker.file();
}

}  // namespace nvspan::reader
