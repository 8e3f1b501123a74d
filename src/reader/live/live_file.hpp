// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/chunks/open_file.hpp"
#include "reader/live/live_block.hpp"
#include "reader/live/live_lines.hpp"
#include "reader/live/live_names.hpp"
#include "record/file/live_format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::reader {

struct LiveDeviceRange {
  std::string domain;
  std::string name;
  record::LiveDeviceState state;
  std::uint64_t device;
  std::uint64_t stream;
  std::uint32_t tid;
  std::uint32_t number;  // of NCCL's operation
  std::uint32_t rank;
  std::uint32_t ranks;  // 0: it is none
  std::uint64_t since;  // ticks; 0: not known
};

struct LiveSample {
  std::uint64_t mode = 0;     // RecordMode
  std::uint64_t sampler = 0;  // LiveSampler
  bool closed = false;        // its process ended the recording
  std::uint64_t obeyed = 0;
  std::uint64_t lost = 0;  // events that no thread's chunks speak of
  std::vector<LiveSnapshot> threads;
  std::vector<LiveDeviceRange> devices;
};

// The blocks of all threads, in the order in which the file got them, so that each keeps its index.
// They lie in the mapping that the file had then.
struct LiveBlockList {
  std::vector<const record::LiveBlock*> blocks;
  std::uint64_t mapping = 0;  // its number
  std::uint64_t newest = 0;
};

// A recording that may be being written. Its pages stay mapped, so that a sample costs no system
// call but the look at the file's length: another process may have cut it.
class LiveFile : private ByteSource {
 public:
  // False: problem() says why.
  bool open(const std::string& path);
  bool sample(LiveSample& out);
  bool read_names();
  // As of LineFinder::find.
  bool find_lines(const std::vector<bool>& hidden, LiveLines& out);
  bool find_blocks(LiveBlockList& list);
  // Another process may have cut it.
  bool check_length();
  const std::string& problem() const noexcept { return problem_; }

  const record::FileHeader& header() const noexcept { return header_; }
  const LiveNames& names() const noexcept { return names_; }
  // How long ago a moment of its clock was, in ns; -1: it is not known, or of another boot.
  std::int64_t age(std::uint64_t ticks) const noexcept;
  // From one moment of its clock to a later one, in ns.
  std::int64_t between(std::uint64_t from, std::uint64_t to) const noexcept;

 private:
  // Of its clock: as it was last known, where that is all.
  record::ClockSample now() const noexcept;
  bool map_again();
  bool fail(const char* why);
  std::uint64_t size() const noexcept override { return file_.mapped().size(); }
  // Maps the file again where it has grown. False: it ends before.
  bool reaches(std::uint64_t offset, std::uint64_t bytes);
  FileSpan bytes(std::uint64_t offset, std::uint64_t most) override;
  bool read(std::uint64_t offset, void* to, std::size_t bytes) override;
  // Of the header, which is always mapped.
  template <typename T>
  const T& part(std::size_t offset) const noexcept {
    return *file_.mapped().at<T>(offset);
  }
  const record::LiveSection& live() const noexcept {
    return part<record::LiveSection>(record::live_offset);
  }

  std::string path_;
  std::string problem_;
  OpenFile file_;
  std::uint64_t mappings_ = 0;  // how often it was mapped
  record::FileHeader header_ = {};
  bool is_here_ = false;  // of this boot
  LiveNames names_;
};

}  // namespace nvspan::reader
