// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/live/live_names.hpp"
#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::reader {

// A file that is read where it is, never mapped: another process may shorten it at any time.
class OpenFile {
 public:
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  OpenFile(OpenFile&&) = delete;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  bool open(const char* path) noexcept;  // errno says why not
  bool read(std::uint64_t offset, void* to, std::size_t bytes) const noexcept;
  // As many as there are.
  std::size_t read_some(std::uint64_t offset, void* to, std::size_t bytes) const noexcept;
  std::uint64_t size() const noexcept;
  // The chunk's header, and whether it is one.
  bool chunk_at(std::uint64_t offset, record::ChunkHeader& header) const noexcept;

 private:
  int fd_ = -1;
};

struct TailRange {
  std::uint32_t site;
  std::uint32_t domain;
  std::uint64_t ticks;  // of a closed range: how long; of an open one: when it began
};

// Follows a recording while it is written: the ranges that its threads close. What it was too slow
// for, or had begun before it looked, is left out.
class RecordingTail {
 public:
  // False: it is no recording that can be followed.
  bool open(const std::string& path);
  // Appends the push/pop ranges that were closed since.
  void read_ranges(std::vector<TailRange>& closed);
  // Calls use(range) for each push range that is open.
  template <typename Use>
  void each_open(Use&& use) const {
    for (const Thread& thread : threads_) {
      for (const TailRange& range : thread.open) use(range);
    }
  }
  // How many events its threads have had, of whatever mode; a number to compare with an earlier
  // one.
  // `open`: how many ranges are open now.
  std::uint64_t progress(std::uint64_t& open) const;
  bool is_closed() const noexcept;  // its process ended it
  LiveNames::Name name_of(std::uint32_t site);

  const record::FileHeader& header() const noexcept { return header_; }
  std::uint64_t ticks_now() const noexcept;
  double ns_per_tick() const noexcept { return 1e9 / header_.estimated_frequency; }

 private:
  struct Thread {
    std::uint32_t thread = 0;
    std::uint64_t offset = 0;  // of its chunk
    std::uint64_t number = 0;
    std::size_t read = 0;  // bytes of the chunk
    std::uint64_t base = 0;
    bool resumed = false;  // chunks before this one were not read
    std::vector<TailRange> open;
  };

  struct Place {
    std::uint64_t offset;
    std::uint64_t number;
    std::uint64_t base;
    std::uint32_t thread;
  };
  struct NameChunk {
    std::uint64_t offset;
    std::size_t read;
  };

  void find_chunks();
  bool advance(Thread& thread);
  // False: the chunk has been read to its end, and the thread has another one.
  bool read_thread(Thread& thread, std::vector<TailRange>& closed);
  std::size_t take_entries(Thread& thread, std::size_t words, std::vector<TailRange>& closed);
  void push(Thread& thread, std::uint32_t site, std::uint64_t ticks);
  void pop(Thread& thread, std::uint32_t domain, std::uint64_t ticks,
           std::vector<TailRange>& closed);
  const record::SiteDefinition* site_of(std::uint32_t site);
  std::uint32_t domain_of(std::uint32_t site);
  void read_names();

  OpenFile file_;
  record::FileHeader header_ = {};
  LiveNames names_;
  std::vector<std::uint32_t> domains_;  // by site
  std::vector<NameChunk> name_chunks_;
  std::vector<Place> places_;
  std::vector<Thread> threads_;
  std::uint64_t looked_to_ = record::file_header_bytes;  // full mode: chunks follow from here
  std::uint64_t looked_at_ = 0;                          // when, in ns
  bool wants_chunks_ = true;
  std::vector<std::uint64_t> words_;
};

}  // namespace nvspan::reader
