// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/chunks/domain_stacks.hpp"
#include "reader/chunks/entries.hpp"
#include "reader/chunks/open_file.hpp"
#include "reader/live/live_names.hpp"
#include "record/file/live_format.hpp"
#include "record/file/ticks.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::reader {

// The site and its domain are one word: written as two and read as one, a moment later, they would
// make the processor wait.
struct TailRange {
  std::uint64_t names;
  std::uint64_t ticks;  // of a closed range: how long; of an open one: when it began

  std::uint32_t site() const noexcept { return static_cast<std::uint32_t>(names); }
  std::uint32_t domain() const noexcept { return static_cast<std::uint32_t>(names >> 32); }
};

// Follows a recording while it is written: the ranges that its threads close. What it was too slow
// for, or had begun before it looked, is left out.
class RecordingTail {
 public:
  // False: it is no recording that can be followed.
  bool open(const std::string& path);
  // What the file's header says now; until the next call nothing below looks at it again.
  void refresh() noexcept { file_.read(0, &page_, sizeof page_); }
  // Appends the push/pop ranges that were closed since. False: there were no entries at all.
  // `all`: threads are looked for that may have come a moment ago.
  bool read_ranges(std::vector<TailRange>& closed, bool all);
  // Calls use(range) for each push range that is open, a thread's outermost first.
  template <typename Use>
  void each_open(Use&& use) const {
    for (const Thread& thread : threads_) thread.open.each_from_outside(use);
  }
  // How many events its threads have had, of whatever mode; a number to compare with an earlier
  // one. `open`: how many ranges are open now.
  std::uint64_t progress(std::uint64_t& open);
  bool is_closed() const noexcept { return (header().flags & record::file_closed) != 0; }
  LiveNames::Name name_of(std::uint32_t site);

  const record::FileHeader& header() const noexcept { return page_.header; }
  std::uint64_t ticks_now() const noexcept { return record::ticks_now(header()); }
  double ns_per_tick() const noexcept { return 1e9 / header().estimated_frequency; }

 private:
  struct Thread {
    std::uint32_t thread = 0;
    std::uint64_t offset = 0;  // of its chunk
    std::uint64_t size = 0;
    std::uint64_t number = 0;
    std::uint64_t read = 0;  // bytes of the chunk
    std::uint64_t base = 0;
    bool resumed = false;  // chunks before this one were not read
    bool ended = false;
    DomainStacks<TailRange> open;
  };
  enum class Reached : std::uint8_t { now, end, end_of_thread };

  struct Place {
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t number;
    std::uint64_t base;
    std::uint32_t thread;
  };
  struct Leftover {
    std::uint64_t offset;
    std::uint64_t size;
  };

  bool is_ring() const noexcept;
  bool must_find_all(bool all) const noexcept;
  void find_chunks(bool all);
  void add_place(std::uint64_t offset, const record::ChunkHeader& header);
  void look_at_leftovers();
  void end_thread(Thread& thread);
  bool advance(Thread& thread);
  bool advance_nearby(Thread& thread);
  void go_to(Thread& thread, const Place& place);
  Reached read_thread(Thread& thread, std::vector<TailRange>& closed);
  bool read_chunks(Thread& thread, std::vector<TailRange>& closed);
  EntryStep take_entries(Thread& thread, FileSpan entries, bool sealed,
                         std::vector<TailRange>& closed);
  const record::SiteDefinition* site_of(std::uint32_t site);
  std::uint64_t names_of(std::uint32_t site) {
    if (__builtin_expect(site < sites_.size() && sites_[site] != no_names, 1)) return sites_[site];
    return find_names(site);
  }
  std::uint64_t find_names(std::uint32_t site);
  void read_names();

  static constexpr std::uint64_t no_names = ~std::uint64_t{0};

  OpenFile file_;
  record::FirstPage page_;
  LiveNames names_;
  std::vector<std::uint64_t> sites_;  // TailRange::names by site; 0xFF...: not known
  std::vector<Place> places_;
  std::vector<Thread> threads_;
  std::vector<Leftover> leftovers_;  // of ended threads, which others have not taken yet
  std::uint64_t looked_to_ =
      record::file_header_bytes;  // chunks that are not known follow from here
  std::uint64_t looked_at_ = 0;   // when all places were, in ns
  std::uint64_t look_took_ = 0;   // ns
  std::uint64_t allocated_ = 0;   // what the header said then
  bool wants_chunks_ = true;
  bool took_ = false;                 // entries, in this reading
  std::vector<std::uint64_t> words_;  // of entries
};

// Copies what the recording `from` holds of its last `window` ns into the new file `to`, which only
// its owner may read; 0: all of it. The process may write meanwhile, be stopped or be dead; it
// notices nothing. Chunks that it used again during the copy are left out, as a ring leaves out
// what is old. The copy becomes visible under its name when it is whole.
//
// 0, or an errno; then `problem` says why.
int freeze_recording(const std::string& from, const std::string& to, std::uint64_t window,
                     std::string& problem);

}  // namespace nvspan::reader
