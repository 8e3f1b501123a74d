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
#include <cstring>
#include <string_view>

namespace nvspan::reader {
namespace {

using record::ChunkHeader;
using record::word;

constexpr std::size_t most_words = 4096;  // at a time
constexpr std::size_t most_open = 4096;   // of a thread
constexpr std::uint64_t no_names = ~std::uint64_t{0};
constexpr std::size_t most_live_chunks = 4096;  // of live blocks
// A full ring's places are looked at so seldom that it takes a five thousandth of the time, and
// never twice in a second: each lies in memory that nobody has touched lately.
constexpr std::uint64_t look_again = 1'000'000'000;  // ns
constexpr std::uint64_t look_share = 5000;
constexpr std::size_t most_nearby = 8;  // places in which a thread's next chunk is looked for

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
  if (!file_.open(path.c_str())) return false;
  refresh();
  return header_.magic == record::file_magic && header_.version == record::format_version &&
         header_.estimated_frequency > 0 &&
         live_word(offsetof(record::LiveSection, magic)) == record::live_magic;
}

void RecordingTail::refresh() noexcept {
  if (!file_.read(0, page_, sizeof page_)) return;
  std::memcpy(static_cast<void*>(&header_), page_, sizeof header_);
}

std::uint64_t RecordingTail::live_word(std::size_t field) const noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, page_ + record::live_offset + field, sizeof value);
  return value;
}

std::uint64_t RecordingTail::ticks_now() const noexcept {
  const bool tsc = header_.clock == static_cast<std::uint32_t>(record::ClockType::tsc);
  return tsc ? core::time_stamp() : core::monotonic_ns();
}

std::uint64_t RecordingTail::progress(std::uint64_t& open) const {
  open = 0;
  std::uint64_t sum = 0;
  std::uint64_t offset = live_word(offsetof(record::LiveSection, blocks));
  for (std::size_t chunks = 0; offset != 0 && chunks < most_live_chunks; ++chunks) {
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
  refresh();  // the newest names may lie in a chunk that has just begun
  std::uint64_t offset = live_word(offsetof(record::LiveSection, definitions));
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

// Also one that was armed, and was told to be a ring.
bool RecordingTail::is_ring() const noexcept {
  return header_.mode == static_cast<std::uint32_t>(record::RecordMode::ring) ||
         live_word(offsetof(record::LiveSection, was_ring)) != 0;
}

// A full ring's places are used again, which nothing in the header tells.
bool RecordingTail::must_find_all(bool all) const noexcept {
  if (!is_ring()) return false;
  const std::uint64_t since = core::monotonic_ns() - looked_at_;
  return all || wants_chunks_ || since >= std::max(look_again, look_took_ * look_share);
}

// Notes where chunks are: those behind the ones it has seen, or all of a ring.
void RecordingTail::find_chunks(bool all) {
  const std::uint64_t begin = core::monotonic_ns();
  const bool ring = is_ring();
  std::uint64_t offset = all ? record::file_header_bytes : looked_to_;
  allocated_ = header_.allocated;
  if (all || !ring) places_.clear();
  while (offset + sizeof(ChunkHeader) <= allocated_) {
    ChunkHeader header = {};
    if (!file_.chunk_at(offset, header)) {
      if (!ring) {
        allocated_ = 0;  // it is being written
        break;
      }
      offset += record::chunk_alignment;  // one is being used again: its neighbours are there
      continue;
    }
    if (header.type == static_cast<std::uint32_t>(record::ChunkType::events)) {
      if (header.thread != record::no_thread) {
        add_place(offset, header);
      } else if (!ring) {
        leftovers_.push_back(Leftover{offset, header.size});
      }
    }
    offset += header.size;
  }
  looked_to_ = offset;
  if (!all) return;
  wants_chunks_ = false;
  looked_at_ = core::monotonic_ns();
  look_took_ = looked_at_ - begin;
}

void RecordingTail::add_place(std::uint64_t offset, const ChunkHeader& header) {
  places_.push_back(Place{offset, header.size, header.number, header.base_ticks, header.thread});
  const auto is_it = [&](const Thread& thread) { return thread.thread == header.thread; };
  auto found = std::find_if(threads_.begin(), threads_.end(), is_it);
  if (found == threads_.end()) {
    found = threads_.emplace(found);
    found->thread = header.thread;
  } else if (!found->ended || header.number <= found->number) {
    return;
  }
  found->ended = false;  // a thread's last events may come after its end
  found->open.resize(most_open);
}

// What ended threads left of their chunks is given to others, behind which they do not come. One
// that has ended by now as well left a part of it again.
void RecordingTail::look_at_leftovers() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < leftovers_.size(); ++i) {
    Leftover left = leftovers_[i];
    ChunkHeader header = {};
    while (left.size >= sizeof header && file_.chunk_at(left.offset, header) &&
           header.thread != record::no_thread) {
      add_place(left.offset, header);
      left.offset += header.size;
      left.size -= std::min<std::uint64_t>(left.size, header.size);
    }
    if (left.size >= sizeof header) leftovers_[kept++] = left;
  }
  leftovers_.resize(kept);
}

// Its chunk was cut before it was sealed.
void RecordingTail::end_thread(Thread& thread) {
  ChunkHeader header = {};
  if (!is_ring() && file_.chunk_at(thread.offset, header) && header.size < thread.size) {
    leftovers_.push_back(Leftover{thread.offset + header.size, thread.size - header.size});
  }
  thread.ended = true;
  thread.depth = 0;
  thread.open = {};
}

void RecordingTail::go_to(Thread& thread, const Place& place) {
  thread.resumed = place.number != thread.number + 1;
  if (thread.resumed) thread.depth = 0;
  thread.offset = place.offset;
  thread.size = place.size;
  thread.number = place.number;
  thread.read = sizeof(ChunkHeader);
  thread.base = place.base;
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
  go_to(thread, *next);
  return true;
}

// A ring's places are used in the order in which they were filled: mostly that of the file.
bool RecordingTail::advance_nearby(Thread& thread) {
  if (!is_ring() || thread.offset == 0) return false;
  ChunkHeader header = {};
  std::uint64_t offset = thread.offset;
  if (!file_.chunk_at(offset, header)) return false;
  for (std::size_t i = 0; i < most_nearby; ++i) {
    offset += header.size;
    if (offset + sizeof header > header_.allocated) offset = record::file_header_bytes;
    if (!file_.chunk_at(offset, header)) return false;
    if (header.thread == thread.thread && header.number == thread.number + 1 &&
        header.type == static_cast<std::uint32_t>(record::ChunkType::events)) {
      go_to(thread, Place{offset, header.size, header.number, header.base_ticks, header.thread});
      return true;
    }
  }
  return false;
}

std::uint64_t RecordingTail::find_names(std::uint32_t site) {
  const record::SiteDefinition* found = site_of(site);
  if (found == nullptr) return no_names << 32 | site;
  if (site >= sites_.size()) sites_.resize(std::size_t{site} + 1, no_names);
  return sites_[site] = std::uint64_t{found->domain} << 32 | site;
}

inline std::uint64_t RecordingTail::names_of(std::uint32_t site) {
  if (__builtin_expect(site < sites_.size() && sites_[site] != no_names, 1)) return sites_[site];
  return find_names(site);
}

inline void RecordingTail::push(Thread& thread, std::uint32_t site, std::uint64_t ticks) {
  if (__builtin_expect(thread.depth == most_open, 0)) thread.depth = 0;
  TailRange& range = thread.open[thread.depth++];
  range.names = names_of(site);
  range.ticks = ticks;
}

inline void RecordingTail::pop(Thread& thread, std::uint32_t domain, std::uint64_t ticks,
                               std::vector<TailRange>& closed) {
  TailRange* const open = thread.open.data();
  for (std::size_t i = thread.depth; i-- > 0;) {
    const TailRange range = open[i];
    if (__builtin_expect(range.domain() != domain, 0)) continue;
    std::copy(open + i + 1, open + thread.depth, open + i);
    --thread.depth;
    closed.push_back(TailRange{range.names, ticks > range.ticks ? ticks - range.ticks : 0});
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
  // The kind and that there is no payload, in one comparison.
  constexpr std::uint64_t kind_bits = record::entry_payload_bit | std::uint64_t{15}
                                                                      << record::entry_kind_shift;
  constexpr std::uint64_t a_pop = record::make_entry(record::EntryKind::pop, 0, 0);
  constexpr std::uint64_t a_push = record::make_entry(record::EntryKind::push, 0, 0);
  const bool all_stay = header_.min_duration == 0;
  const std::uint64_t* const begin = words_.data();
  const std::uint64_t* const end = begin + words;
  const std::uint64_t* at = begin;
  for (;;) {
    const std::uint64_t* const entry_at = at;
    // Nearly all are a push or a pop of one word.
    if (at < end && subject_of(*at) != record::entry_wide_subject) {
      const std::uint64_t first = *at;
      const std::uint64_t ticks = thread.base + (first & record::entry_ticks_mask);
      if ((first & kind_bits) == a_pop) {
        pop(thread, subject_of(first), ticks, closed);
        ++at;
        continue;
      }
      if ((first & kind_bits) == a_push && all_stay) {
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

RecordingTail::Reached RecordingTail::read_thread(Thread& thread, std::vector<TailRange>& closed) {
  if (words_.empty()) words_.resize(most_words);
  ChunkHeader header = {};
  if (!file_.chunk_at(thread.offset, header)) return Reached::end;
  for (;;) {
    if (header.number != thread.number || header.thread != thread.thread) {
      return Reached::end;  // used again: what was left is lost to us
    }
    // Sealed before its entries are read: then they are all there.
    const bool sealed = header.used != 0;
    const std::size_t used = sealed ? header.used & ~std::size_t{record::seal_flags} : header.size;
    if (thread.read >= used) {
      if (!sealed) return Reached::now;
      return (header.used & record::last_of_thread) != 0 ? Reached::end_of_thread : Reached::end;
    }
    const std::size_t words = std::min((used - thread.read) / word, most_words);
    const std::size_t have =
        file_.read_some(thread.offset + thread.read, words_.data(), words * word) / word;
    // Still the same: what was read is its own.
    if (!file_.chunk_at(thread.offset, header) || header.number != thread.number) {
      return Reached::end;
    }
    const std::size_t taken = take_entries(thread, have, closed);
    thread.read += taken * word;
    took_ = took_ || taken != 0;
    const bool more = taken != 0 && taken + record::entry_most_words >= words;
    if (!more && (!sealed || taken == 0)) return sealed ? Reached::end : Reached::now;
  }
}

bool RecordingTail::read_ranges(std::vector<TailRange>& closed, bool all) {
  const bool find_all = must_find_all(all);
  if (find_all || header_.allocated != allocated_) find_chunks(find_all);
  look_at_leftovers();
  took_ = false;
  for (Thread& thread : threads_) {
    for (;;) {
      if (thread.ended) break;
      const Reached reached = thread.offset == 0 ? Reached::end : read_thread(thread, closed);
      if (reached == Reached::now) break;
      if (reached == Reached::end && advance_nearby(thread)) continue;
      if (advance(thread)) continue;
      if (reached == Reached::end_of_thread) end_thread(thread);
      wants_chunks_ = wants_chunks_ || reached == Reached::end;
      break;
    }
  }
  return took_;
}

}  // namespace nvspan::reader
