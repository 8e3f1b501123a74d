// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/chunks/chunk_pool.hpp"
#include "record/chunks/recording_file.hpp"
#include "record/definitions/definition_writer.hpp"
#include "record/live/live_blocks.hpp"
#include "record/thread/entry_writer.hpp"
#include "record/thread/stats_writer.hpp"
#include "record/thread/thread_list.hpp"
#include "record/thread/thread_sites.hpp"
#include "record/thread/thread_writer.hpp"
#include "record/writer/deferred_lane.hpp"
#include "record/writer/sample_lane.hpp"
#include "record/writer/work_lane.hpp"
#include "trace/event/event.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nvspan::record {

// Writes the recording of a process. Everything here is the slow path, taken when a thread meets
// something for the first time, or has filled its chunk; ThreadWriter is the rest. Callers hold the
// session's lock, with signals blocked.
class Recorder {
 public:
  Recorder(core::PagePool& pool, const trace::SchemaTable& schemas,
           const trace::PayloadNames& names);

  // False: it failed and wrote why to standard error.
  bool open(const RecordOptions& options);
  bool is_open() const noexcept { return file_.is_open(); }
  void close(const ThreadWriter* own) noexcept;  // waits for the writers; `own` is the caller's
  void at_process_exit(ThreadWriter* own) noexcept;

  // True in a forked child that has no file yet.
  bool is_orphan() const noexcept {
    return is_open() && live_page->epoch.load(std::memory_order_relaxed) == 0;
  }
  // What CUDA is in the process: at any event, and when the program is about to end.
  void follow_cuda() noexcept { file_.follow_cuda(); }
  void note_cuda() noexcept {
    if (is_open() && !is_orphan()) file_.note_cuda();
  }
  void note_annotations() noexcept {
    file_.note_annotations();
    if (is_open() && !is_orphan()) file_.write_annotate_cost();
  }
  bool open_in_child();
  std::uint32_t pid() const noexcept { return file_.first_header().pid; }
  void mark_forked() noexcept;  // in a forked child, where the kernel may not have

  // A writer for the calling thread, for `writer`'s place in its thread-local storage.
  ThreadWriter* ready(ThreadWriter* writer, std::uint32_t tid) {
    return threads_.ready(writer, tid);
  }
  void name_thread(std::uint32_t tid, std::string_view name) {
    definitions_.names.thread_name(tid, name);
  }
  void retire(ThreadWriter* writer) noexcept;

  // The decoded calls. `key` is remembered for the fast path when it is given. A hidden domain
  // is remembered as well, and nothing is written.
  int push(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
           const SiteKey* key);
  int pop(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event);
  void mark(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
            const SiteKey* key);
  std::uint64_t start(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
                      const SiteKey* key);
  void end(ThreadWriter& writer, std::uint64_t domain, std::uint64_t id, const trace::Event& event);
  void hide(ThreadWriter& writer, std::uint64_t domain, const SiteKey* key) {
    sites_.hide(writer, domain, key);
  }

  // Whether another process has asked for something, or the mode is no longer the writer's.
  bool is_asked(const ThreadWriter& writer) const noexcept { return writer.is_asked(); }
  // Carries it out, unless another thread has. True: the mode is now `armed`, and the handles that
  // the program has got need names.
  bool take_request();
  // What other processes ask of the sampler, which waits or `samples` now. Each request once; the
  // period is -1 where it is to stop.
  std::optional<std::int64_t> take_lines_request(bool samples);
  void follow_mode(ThreadWriter& writer);
  // Armed: what a handle of a string or domain stands for.
  void name_handle(std::uint64_t handle, std::string_view text);
  RecordMode mode() const noexcept { return file_.mode(); }
  LiveBlocks& blocks() noexcept { return blocks_; }

  // Any other event. A counter's sample goes to the thread that `set_current` named.
  void write(const trace::Event& event);
  void set_current(ThreadWriter* writer) noexcept { current_ = writer; }

  // Takes events that are submitted with their times.
  DeferredLane& deferred() noexcept { return deferred_; }
  // Takes what GPUs did.
  WorkLane& work() noexcept { return work_; }
  // Takes samples of Python's stacks.
  SampleLane& samples() noexcept { return samples_; }
  // Of the file that is open: another one has another number.
  std::uint64_t file_number() const noexcept { return threads_.epoch(); }

 private:
  bool create_file();
  void end_cut_file() noexcept;
  bool write_sample(ThreadWriter& writer, const trace::Event& event);

  struct Range {
    std::uint32_t site;
    std::uint32_t domain_id;
    DomainCell* domain;
  };
  Range range_of(ThreadWriter& writer, std::uint64_t entry);  // of LiveBlock
  bool takes_mode(std::uint64_t mode) const noexcept;
  void stop_ranges(ThreadWriter& writer, bool goes_on);
  void begin_ranges(ThreadWriter& writer, bool recorded);

  core::PagePool& pool_;
  const trace::PayloadNames& payload_names_;
  RecordingFile file_;
  ChunkPool chunks_;
  DefinitionWriter definitions_;
  EntryWriter entries_;
  StatsWriter stats_;
  ThreadSites sites_;
  LiveBlocks blocks_;
  ThreadList threads_;
  DeferredLane deferred_;
  WorkLane work_;
  SampleLane samples_;
  ThreadWriter* current_ = nullptr;
  std::uint64_t switched_ = 0;  // ticks when the mode last changed
};

}  // namespace nvspan::record
