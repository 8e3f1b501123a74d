// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/tail/recording_tail.hpp"

#include "core/os/clock.hpp"
#include "reader/chunks/entries.hpp"
#include "record/file/checksum.hpp"
#include "record/file/live_format.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace nvspan::reader {
namespace {

using record::ChunkHeader;
using record::word;

constexpr std::size_t most_words = 8192;  // at a time
constexpr std::size_t most_open = 4096;   // of a thread
constexpr std::uint32_t no_domain = 0xFFFFFFFF;
constexpr std::size_t most_block_chunks = 4096;    // of live blocks
constexpr std::uint64_t look_again = 250'000'000;  // ns

std::uint64_t live_word(const OpenFile& file, std::size_t field) {
  std::uint64_t value = 0;
  file.read(record::live_offset + field, &value, sizeof value);
  return value;
}

}  // namespace

OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool OpenFile::open(const char* path) noexcept {
  fd_ = ::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  return fd_ >= 0;
}

std::size_t OpenFile::read_some(std::uint64_t offset, void* to, std::size_t bytes) const noexcept {
  std::size_t have = 0;
  while (have < bytes) {
    const ssize_t count = ::pread(fd_, static_cast<char*>(to) + have, bytes - have,
                                  static_cast<off_t>(offset + have));
    if (count <= 0) break;
    have += static_cast<std::size_t>(count);
  }
  return have;
}

bool OpenFile::read(std::uint64_t offset, void* to, std::size_t bytes) const noexcept {
  return read_some(offset, to, bytes) == bytes;
}

std::uint64_t OpenFile::size() const noexcept {
  struct stat status = {};
  return ::fstat(fd_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool OpenFile::chunk_at(std::uint64_t offset, ChunkHeader& header) const noexcept {
  return read(offset, &header, sizeof header) && header.magic == record::chunk_magic &&
         header.size >= sizeof header && header.size % record::chunk_alignment == 0 &&
         header.place == static_cast<std::uint32_t>(offset / record::chunk_alignment) &&
         header.header_sum == record::crc32c(&header, record::header_sum_offset);
}

bool RecordingTail::open(const std::string& path) {
  return file_.open(path.c_str()) && file_.read(0, static_cast<void*>(&header_), sizeof header_) &&
         header_.magic == record::file_magic && header_.version == record::format_version &&
         header_.estimated_frequency > 0 &&
         live_word(file_, offsetof(record::LiveSection, magic)) == record::live_magic;
}

bool RecordingTail::is_closed() const noexcept {
  std::uint64_t flags = record::file_closed;
  file_.read(offsetof(record::FileHeader, flags), &flags, sizeof flags);
  return (flags & record::file_closed) != 0;
}

std::uint64_t RecordingTail::ticks_now() const noexcept {
  const bool tsc = header_.clock == static_cast<std::uint32_t>(record::ClockType::tsc);
  return tsc ? core::time_stamp() : core::monotonic_ns();
}

std::uint64_t RecordingTail::progress(std::uint64_t& open) const {
  open = 0;
  std::uint64_t sum = 0;
  std::uint64_t offset = live_word(file_, offsetof(record::LiveSection, blocks));
  for (std::size_t chunks = 0; offset != 0 && chunks < most_block_chunks; ++chunks) {
    ChunkHeader header = {};
    if (!file_.chunk_at(offset, header) || header.before >= offset) break;
    for (std::size_t at = record::live_blocks_start; at + sizeof(record::LiveBlock) <= header.size;
         at += sizeof(record::LiveBlock)) {
      std::uint64_t state = 0;
      file_.read(offset + at + offsetof(record::LiveBlock, state), &state, sizeof state);
      sum += state >> record::live_count_shift;
      open += state & record::live_depth_mask;
    }
    offset = header.before;
  }
  return sum;
}

void RecordingTail::read_names() {
  std::vector<NameChunk> found;
  std::uint64_t offset = live_word(file_, offsetof(record::LiveSection, definitions));
  ChunkHeader header = {};
  while (offset != 0 && (name_chunks_.empty() || name_chunks_.back().offset != offset) &&
         file_.chunk_at(offset, header)) {
    found.push_back(NameChunk{offset, sizeof header});
    if (header.before >= offset) break;
    offset = header.before;
  }
  std::size_t first = name_chunks_.empty() ? 0 : name_chunks_.size() - 1;
  name_chunks_.insert(name_chunks_.end(), found.rbegin(), found.rend());
  std::vector<std::uint64_t> body;
  for (; first < name_chunks_.size(); ++first) {
    NameChunk& chunk = name_chunks_[first];
    if (!file_.chunk_at(chunk.offset, header)) return;
    body.assign((header.size - chunk.read) / word, 0);
    file_.read_some(chunk.offset + chunk.read, body.data(), body.size() * word);
    for (std::size_t at = 0; at < body.size() && body[at] != 0;) {
      const auto size = static_cast<std::size_t>(body[at] >> 32);
      const std::size_t words = (size + word - 1) / word;
      if (words >= body.size() - at) break;
      const auto type = static_cast<record::DefinitionType>(body[at] & 0xFF);
      const std::string_view text(reinterpret_cast<const char*>(&body[at] + 1), size);
      if (body[at] ==
          record::definition_word(type, size, header.sequence, chunk.read, &body[at] + 1, words)) {
        names_.add(type, text);
      }
      at += 1 + words;
      chunk.read += (1 + words) * word;
    }
  }
}

const record::SiteDefinition* RecordingTail::site_of(std::uint32_t site) {
  const record::SiteDefinition* found = names_.site(site);
  if (found != nullptr) return found;
  read_names();
  return names_.site(site);
}

LiveNames::Name RecordingTail::name_of(std::uint32_t site) {
  site_of(site);
  return names_.name(record::live_entry(record::LiveName::site, 0, site));
}

// Notes where chunks are: of a full recording those that follow the ones it has seen.
void RecordingTail::find_chunks() {
  const bool ring = header_.mode == static_cast<std::uint32_t>(record::RecordMode::ring);
  std::uint64_t offset = ring ? record::file_header_bytes : looked_to_;
  std::uint64_t end = 0;
  file_.read(offsetof(record::FileHeader, allocated), &end, sizeof end);
  places_.clear();
  while (offset + sizeof(ChunkHeader) <= end) {
    ChunkHeader header = {};
    if (!file_.chunk_at(offset, header)) {
      if (!ring) break;
      offset += record::chunk_alignment;  // one is being used again: its neighbours are there
      continue;
    }
    if (header.type == static_cast<std::uint32_t>(record::ChunkType::events) &&
        header.thread != record::no_thread) {
      places_.push_back(Place{offset, header.number, header.base_ticks, header.thread});
      const auto is_it = [&](const Thread& thread) { return thread.thread == header.thread; };
      if (std::none_of(threads_.begin(), threads_.end(), is_it)) {
        threads_.emplace_back();
        threads_.back().thread = header.thread;
      }
    }
    offset += header.size;
  }
  looked_to_ = offset;
}

// To the thread's next chunk, or, where that is gone or the thread is new here, to its newest.
bool RecordingTail::advance(Thread& thread) {
  const Place* next = nullptr;
  for (const Place& place : places_) {
    if (place.thread != thread.thread || place.number <= thread.number) continue;
    if (next != nullptr && next->number == thread.number + 1) break;
    if (next == nullptr || place.number > next->number || place.number == thread.number + 1) {
      next = &place;
    }
  }
  if (next == nullptr) return false;
  thread.resumed = next->number != thread.number + 1;
  if (thread.resumed) thread.open.clear();
  thread.offset = next->offset;
  thread.number = next->number;
  thread.read = sizeof(ChunkHeader);
  thread.base = next->base;
  return true;
}

std::uint32_t RecordingTail::domain_of(std::uint32_t site) {
  if (site < domains_.size() && domains_[site] != no_domain) return domains_[site];
  const record::SiteDefinition* found = site_of(site);
  if (found == nullptr) return no_domain;
  if (site >= domains_.size()) domains_.resize(std::size_t{site} + 1, no_domain);
  return domains_[site] = found->domain;
}

inline void RecordingTail::push(Thread& thread, std::uint32_t site, std::uint64_t ticks) {
  if (thread.open.size() == most_open) thread.open.clear();
  thread.open.push_back(TailRange{site, domain_of(site), ticks});
}

inline void RecordingTail::pop(Thread& thread, std::uint32_t domain, std::uint64_t ticks,
                               std::vector<TailRange>& closed) {
  for (std::size_t i = thread.open.size(); i-- > 0;) {
    const TailRange range = thread.open[i];
    if (range.domain != domain) continue;
    thread.open.erase(thread.open.begin() + static_cast<std::ptrdiff_t>(i));
    closed.push_back(
        TailRange{range.site, range.domain, ticks > range.ticks ? ticks - range.ticks : 0});
    return;
  }
}

std::size_t RecordingTail::take_entries(Thread& thread, std::size_t words,
                                        std::vector<TailRange>& closed) {
  const auto number_of = [](std::uint32_t site) { return site; };
  const auto payload_of = [&](std::uint32_t site) {
    const record::SiteDefinition* found = site_of(site);
    return found == nullptr ? -1 : static_cast<int>(found->payload_type);
  };
  const auto subject_of = [](std::uint64_t first) {
    return static_cast<std::uint32_t>(first >> record::entry_subject_shift);
  };
  const std::uint64_t* const begin = words_.data();
  const std::uint64_t* const end = begin + words;
  const std::uint64_t* at = begin;
  for (;;) {
    const std::uint64_t* const entry_at = at;
    // Nearly all are a push or a pop of one word.
    if (at < end && (*at & record::entry_payload_bit) == 0 &&
        subject_of(*at) != record::entry_wide_subject) {
      const std::uint64_t first = *at;
      const auto kind = static_cast<record::EntryKind>(first >> record::entry_kind_shift & 15);
      const std::uint64_t ticks = thread.base + (first & record::entry_ticks_mask);
      if (kind == record::EntryKind::pop) {
        pop(thread, subject_of(first), ticks, closed);
        ++at;
        continue;
      }
      if (kind == record::EntryKind::push && header_.min_duration == 0) {
        push(thread, subject_of(first), ticks);
        ++at;
        continue;
      }
    }
    Entry entry;
    if (next_entry(at, end, number_of, payload_of, entry) != EntryStep::entry) {
      return static_cast<std::size_t>(entry_at - begin);
    }
    const std::uint64_t ticks = thread.base + entry.delta;
    if (entry.kind == record::EntryKind::base) {
      thread.base = *entry.value;
    } else if (entry.kind == record::EntryKind::push) {
      // One that nothing follows may be taken back.
      if (header_.min_duration != 0 && (at == end || *at == 0)) {
        return static_cast<std::size_t>(entry_at - begin);
      }
      push(thread, entry.site, ticks);
    } else if (entry.kind == record::EntryKind::open && thread.resumed) {
      push(thread, entry.site, *entry.value);
    } else if (entry.kind == record::EntryKind::pop) {
      pop(thread, entry.subject, ticks, closed);
    }
  }
}

bool RecordingTail::read_thread(Thread& thread, std::vector<TailRange>& closed) {
  for (;;) {
    ChunkHeader header = {};
    // Sealed before its entries are read: then they are all there.
    if (!file_.chunk_at(thread.offset, header) || header.number != thread.number ||
        header.thread != thread.thread) {
      return false;  // used again: what was left is lost to us
    }
    const std::size_t used =
        header.used == 0 ? header.size : header.used & ~std::size_t{record::seal_flags};
    if (thread.read >= used) return false;
    const std::size_t words = std::min((used - thread.read) / word, most_words);
    words_.resize(words);
    const std::size_t have =
        file_.read_some(thread.offset + thread.read, words_.data(), words * word) / word;
    ChunkHeader after = {};
    if (!file_.chunk_at(thread.offset, after) || after.number != thread.number) return false;
    const std::size_t taken = take_entries(thread, have, closed);
    thread.read += taken * word;
    if (taken + record::entry_most_words < words) return header.used == 0;
    if (taken == 0) return header.used == 0;
  }
}

void RecordingTail::read_ranges(std::vector<TailRange>& closed) {
  const std::uint64_t now = core::monotonic_ns();
  if (wants_chunks_ || now - looked_at_ >= look_again) {
    find_chunks();
    looked_at_ = now;
    wants_chunks_ = false;
  }
  for (Thread& thread : threads_) {
    while (thread.offset == 0 || !read_thread(thread, closed)) {
      if (advance(thread)) continue;
      wants_chunks_ = true;
      break;
    }
  }
}

}  // namespace nvspan::reader
