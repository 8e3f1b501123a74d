// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/file/format.hpp"
#include "record/file/live_format.hpp"
#include "record/file/segment.hpp"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace nvspan::record {

struct RecordOptions {
  std::string_view path;  // {host}, {rank} and {pid} are replaced; empty: nvspan-{pid}.nvspan
  RecordMode mode = RecordMode::full;
  std::uint64_t ring_bytes = 0;
  std::uint64_t min_duration = 0;  // ns
  std::uint64_t name_bytes = 0;    // for names; 0: the mode's default
  std::uint64_t run = 0;
  bool all_domains = true;          // none is hidden
  std::uint16_t annotate_cost = 0;  // ns, as the program's launcher measured it; 0: it did not
};

// A word of a mapped file, which readers may look at, and a kill may follow, at any moment.
inline std::atomic<std::uint64_t>& atomic_word(std::uint64_t& word) noexcept {
  return reinterpret_cast<std::atomic<std::uint64_t>&>(word);
}

// The file that a process records into: its header, and its early end when the disk is full or
// another process cuts the file. Events that were cut off and those that follow are lost and
// counted. Its owner's lock guards it.
class RecordingFile {
 public:
  explicit RecordingFile(core::PagePool& pool) : pool_(pool), segment_(pool), template_(pool) {}

  // Of this file, and of those that forked children create.
  void set_options(const RecordOptions& options);
  const RecordOptions& options() const noexcept { return options_; }  // without the path
  RecordMode mode() const noexcept { return options_.mode; }
  // While it is recorded; `ring_bytes` of 0 leaves them.
  void change_mode(RecordMode mode, std::uint64_t ring_bytes) noexcept;

  // False: it failed and wrote why to standard error. Readers can use the file after announce().
  bool create();
  void announce() noexcept;
  bool is_open() const noexcept { return segment_.is_open(); }
  void close() noexcept { segment_.close(); }

  Segment& segment() noexcept { return segment_; }
  FileHeader& header() noexcept { return *segment_.header(); }
  LiveSection& live() noexcept {
    return *reinterpret_cast<LiveSection*>(reinterpret_cast<char*>(segment_.header()) +
                                           live_offset);
  }
  // As the header was when the recording began.
  const FileHeader& first_header() const noexcept { return first_header_; }

  // Whether new space may be taken; checks whether the file was cut.
  bool takes_more() noexcept;
  // No new space: the file was cut or could not grow.
  bool is_exhausted() const noexcept { return exhausted_; }
  bool is_cut() const noexcept { return cut_; }
  // Whether the file was cut; the first time, writes an error line and marks the file.
  bool notice_cut() noexcept;
  // The file could not grow: writes one error line.
  void report_exhausted() noexcept;

  // The file changes after it was closed: a process that ends goes on for a while.
  void reopen() noexcept;
  // The chunk whose header is being written: where a process is killed, it may be unfinished.
  void set_in_hand(std::uint64_t offset) noexcept;
  void sample() noexcept;
  // Notes in the header what CUDA is in the process now; less never replaces more.
  void note_cuda() noexcept;
  // Likewise, in at most a hundredth of the time, and no more once a context was seen.
  void follow_cuda() noexcept;
  // nvspan's annotations are in the process, and in its forked children.
  void note_annotations() noexcept { annotates_ = true; }
  void write_annotate_cost() noexcept;  // where they are
  void add_loss(LossReason reason, const LossWindow& more) noexcept;
  void lose_call(LossReason reason) noexcept;  // now, of no thread

  // The totals of the whole recording, when nothing more is written.
  struct Totals {
    std::uint32_t threads = 0;
    std::uint64_t events = 0;
  };
  void close_header(const Totals* totals) noexcept;  // null: not known
  void end_cut(std::uint64_t events) noexcept;       // how many there were, kept or not

 private:
  void fill_header() noexcept;
  std::uint16_t annotate_cost() const noexcept {
    return annotates_ ? options_.annotate_cost : std::uint16_t{0};
  }
  FileHeader cut_header(std::uint64_t flags) const noexcept;

  core::PagePool& pool_;
  Segment segment_;
  core::PoolString template_;
  RecordOptions options_;
  FileHeader first_header_ = {};
  CudaUse cuda_ = CudaUse::unknown;
  bool annotates_ = false;
  std::uint64_t next_look_ = 0;  // ticks: of follow_cuda()
  bool exhausted_ = false;
  bool cut_ = false;
};

}  // namespace nvspan::record
