// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/tail/recording_tail.hpp"

#include "core/os/clock.hpp"

#include <algorithm>

namespace nvspan::reader {
namespace {

using record::ChunkHeader;
using record::word;

constexpr std::uint64_t most_bytes = 32768;          // at a time
constexpr std::uint64_t most_entry_bytes = 1 << 24;  // of one entry
constexpr std::size_t most_open = 4096;              // of a thread
constexpr std::size_t most_live_chunks = 4096;       // of live blocks
// A full ring's places are looked at so seldom that it takes a five thousandth of the time, and
// never twice in a second: each lies in memory that nobody has touched lately.
constexpr std::uint64_t look_again = 1'000'000'000;  // ns
constexpr std::uint64_t look_share = 5000;
constexpr std::size_t most_nearby = 8;  // places in which a thread's next chunk is looked for

}  // namespace

bool RecordingTail::open(const std::string& path) {
  std::string problem;
  if (!file_.open(path, problem)) return false;
  refresh();
  return header().magic == record::file_magic && header().version == record::format_version &&
         header().estimated_frequency > 0 && page_.live.magic.load() == record::live_magic;
}

std::uint64_t RecordingTail::progress(std::uint64_t& open) {
  open = 0;
  std::uint64_t sum = 0;
  std::size_t chunks = 0;
  file_.each_chunk(page_.live.blocks.load(), [&](std::uint64_t offset, const ChunkHeader& header) {
    offset += record::live_blocks_start + offsetof(record::LiveBlock, state);
    for (std::size_t i = 0; i < record::live_blocks_in(header); ++i) {
      std::uint64_t state = 0;
      file_.read(offset + i * sizeof(record::LiveBlock), &state, sizeof state);
      sum += state >> record::live_count_shift;
      open += state & record::live_depth_mask;
    }
    return ++chunks < most_live_chunks;
  });
  return sum;
}

void RecordingTail::read_names() {
  refresh();  // the newest names may lie in a chunk that has just begun
  names_.read(page_.live.definitions.load(), file_);
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
  return header().mode == static_cast<std::uint32_t>(record::RecordMode::ring) ||
         page_.live.was_ring.load() != 0;
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
  allocated_ = header().allocated;
  const std::uint64_t end = std::min(allocated_, file_.size());
  if (all || !ring) places_.clear();
  while (offset + sizeof(ChunkHeader) <= end) {
    ChunkHeader header = {};
    if (!file_.chunk_at(offset, header)) {
      if (!ring) {
        allocated_ = 0;  // it is being written
        break;
      }
      // One is being used again: its neighbours are there.
      offset = file_.next_data(offset + record::chunk_alignment);
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
  thread.open = {};
}

void RecordingTail::go_to(Thread& thread, const Place& place) {
  thread.resumed = place.number != thread.number + 1;
  if (thread.resumed) thread.open.clear();
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
    if (offset + sizeof header > page_.header.allocated) offset = record::file_header_bytes;
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

EntryStep RecordingTail::take_entries(Thread& thread, FileSpan entries, bool sealed,
                                      std::vector<TailRange>& closed) {
  struct Sites {
    RecordingTail& tail;
    static std::uint32_t site(std::uint32_t number) { return number; }
    int payload_type(std::uint32_t site) const {
      const record::SiteDefinition* const found = tail.site_of(site);
      return found == nullptr ? -1 : static_cast<int>(found->payload_type);
    }
  };
  const std::uint64_t* const begin = entries.at<std::uint64_t>(0);
  if (begin == nullptr) return EntryStep::end;
  const std::uint64_t* const end = begin + entries.size() / word;
  const std::uint64_t* at = begin;
  const bool all_stay = sealed || header().min_duration == 0;
  const auto take = [&](const Entry& entry, std::uint64_t ticks) {
    switch (entry.kind) {
      case record::EntryKind::push:
      case record::EntryKind::open: {
        const bool again = entry.kind == record::EntryKind::open;
        if (again && !thread.resumed) break;
        // One that nothing follows may be taken back.
        if (!again && !all_stay && (at == end || *at == 0)) return false;
        if (__builtin_expect(thread.open.size() == most_open, 0)) thread.open.clear();
        const std::uint64_t names = names_of(entry.site);
        thread.open.push(static_cast<std::uint32_t>(names >> 32), [&](const TailRange*) {
          return TailRange{names, again ? *entry.value : ticks};
        });
        break;
      }
      case record::EntryKind::pop:
        thread.open.pop(entry.subject, [&](const TailRange& range) {
          closed.push_back(TailRange{range.names, ticks > range.ticks ? ticks - range.ticks : 0});
        });
        break;
      default:
        break;
    }
    return true;
  };
  std::uint64_t base = thread.base;
  const EntryStep step = each_entry(at, end, base, Sites{*this}, take);
  thread.base = base;
  thread.read += static_cast<std::uint64_t>(at - begin) * word;
  took_ = took_ || at != begin;
  return step;
}

RecordingTail::Reached RecordingTail::read_thread(Thread& thread, std::vector<TailRange>& closed) {
  ChunkHeader header = {};
  if (!file_.chunk_at(thread.offset, header)) return Reached::end;
  std::uint64_t most = most_bytes;
  for (;;) {
    if (header.number != thread.number || header.thread != thread.thread) {
      return Reached::end;  // used again: what was left is lost to us
    }
    // Sealed before its entries are read: then they are all there.
    const bool sealed = header.used != 0;
    const std::uint64_t used =
        sealed ? std::min(header.size, header.used & ~record::seal_flags) : header.size;
    if (thread.read >= used) {
      if (!sealed) return Reached::now;
      return (header.used & record::last_of_thread) != 0 ? Reached::end_of_thread : Reached::end;
    }
    const std::uint64_t from = thread.read;
    const std::uint64_t left = used - from;
    words_.resize(std::max<std::size_t>(words_.size(), most / word));
    const FileSpan entries(
        words_.data(), file_.read_some(thread.offset + from, words_.data(), std::min(left, most)));
    // Still the same: what was read is its own.
    if (!file_.chunk_at(thread.offset, header) || header.number != thread.number) {
      return Reached::end;
    }
    const EntryStep step = take_entries(thread, entries, sealed, closed);
    // A payload may be longer than what is read at a time.
    if (step == EntryStep::incomplete && entries.size() == most && most < most_entry_bytes) {
      if (thread.read == from) most *= 2;
      continue;
    }
    constexpr std::uint64_t entry_bytes = record::entry_most_words * word;
    const bool more = thread.read != from && thread.read + entry_bytes >= from + entries.size();
    if (!more && (!sealed || thread.read == from)) return sealed ? Reached::end : Reached::now;
  }
}

// False: the thread has ended.
bool RecordingTail::read_chunks(Thread& thread, std::vector<TailRange>& closed) {
  while (!thread.ended) {
    const Reached reached = thread.offset == 0 ? Reached::end : read_thread(thread, closed);
    if (reached == Reached::now) break;
    if (reached == Reached::end && advance_nearby(thread)) continue;
    if (advance(thread)) continue;
    if (reached == Reached::end_of_thread) end_thread(thread);
    wants_chunks_ = wants_chunks_ || reached == Reached::end;
    break;
  }
  return !thread.ended;
}

bool RecordingTail::read_ranges(std::vector<TailRange>& closed, bool all) {
  const bool find_all = must_find_all(all);
  if (find_all || header().allocated != allocated_) find_chunks(find_all);
  took_ = false;
  // What one that ends here leaves may have been taken, and left, by others already.
  for (bool left = true; left;) {
    look_at_leftovers();
    left = false;
    for (Thread& thread : threads_) {
      const bool had_ended = thread.ended;
      if (!read_chunks(thread, closed)) left = left || !had_ended;
    }
  }
  return took_;
}

}  // namespace nvspan::reader
