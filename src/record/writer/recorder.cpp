// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/writer/recorder.hpp"

#include "record/file/fault_guard.hpp"
#include "record/file/ticks.hpp"
#include "record/thread/thread_writer.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace nvspan::record {
namespace {

// Measures FileHeader::event_cost and inner_cost: events run through a separate writer whose
// chunk is not in the file. `epoch` is the current one.
void measure_event_cost(core::PagePool& pool, std::uint64_t epoch, FileHeader& header) noexcept {
  constexpr unsigned measured_ranges = 256;
  void* space = nullptr;
  ThreadWriter* writer = nullptr;
  constexpr std::size_t bytes = 4 * measured_ranges * sizeof(std::uint64_t);
  try {
    space = pool.allocate(bytes);
    writer = static_cast<ThreadWriter*>(pool.allocate(sizeof(ThreadWriter)));
  } catch (...) {
    if (space != nullptr) pool.deallocate(space, bytes);
    return;
  }
  std::memset(static_cast<void*>(writer), 0, sizeof *writer);
  writer->epoch = epoch;
  writer->live = &writer->unseen;
  SiteKey key;
  key.message = 1;
  writer->remember(key, nullptr, nullptr, 1);
  std::uint64_t least = static_cast<std::uint64_t>(-1);
  std::uint64_t least_inner = least;
  for (int round = 0; round < 4; ++round) {
    writer->cursor = static_cast<std::atomic<std::uint64_t>*>(space);
    writer->end = writer->cursor + 4 * measured_ranges;
    writer->base = ticks_now();
    const std::uint64_t begin = ticks_now();
    for (unsigned i = 0; i < measured_ranges; ++i) {
      writer->enter();
      const CachedSite* site = writer->is_live() ? writer->find(key, false) : nullptr;
      if (site != nullptr) {
        writer->put(EntryKind::push, site->site, ticks_now(), 0, nullptr, 0);
      }
      writer->leave();
      writer->enter();
      const std::uint64_t at = ticks_now();
      if (writer->is_live()) writer->put(EntryKind::pop, 0, at, 0, nullptr, 0);
      writer->leave();
    }
    least = std::min(least, ticks_now() - begin);
    const auto* words = static_cast<const std::uint64_t*>(space);
    for (unsigned i = 0; i < measured_ranges; ++i) {
      const std::uint64_t inner =
          (words[2 * i + 1] & entry_ticks_mask) - (words[2 * i] & entry_ticks_mask);
      least_inner = std::min(least_inner, inner);
    }
  }
  const double thousandths = 1e12 / header.estimated_frequency;
  header.event_cost =
      static_cast<std::uint32_t>(static_cast<double>(least) * thousandths / (2 * measured_ranges));
  header.inner_cost = static_cast<std::uint32_t>(static_cast<double>(least_inner) * thousandths);
  pool.deallocate(space, bytes);
  pool.deallocate(writer, sizeof *writer);
}

}  // namespace

Recorder::Recorder(core::PagePool& pool, const trace::SchemaTable& schemas,
                   const trace::PayloadNames& names)
    : pool_(pool),
      payload_names_(names),
      file_(pool),
      chunks_(pool, file_),
      definitions_(pool, file_, chunks_, schemas, names),
      entries_(file_, chunks_, definitions_.payloads),
      stats_(pool, file_, chunks_, definitions_.names, entries_),
      sites_(pool, file_, definitions_),
      blocks_(pool, file_, chunks_),
      threads_(pool, file_, chunks_, definitions_.names, entries_, stats_, blocks_),
      deferred_(file_, definitions_, sites_, entries_, stats_, threads_),
      work_(file_, definitions_, entries_, deferred_),
      samples_(pool, file_, chunks_, definitions_) {}

bool Recorder::open(const RecordOptions& options) {
  file_.set_options(options);
  if (threads_.epoch() == 0) choose_clock();
  return threads_.prepare() && create_file();
}

bool Recorder::create_file() {
  if (!file_.create()) return false;
  chunks_.restart();
  definitions_.forget();
  stats_.clear();
  blocks_.restart();
  samples_.forget();
  work_.forget();
  threads_.begin_epoch();
  measure_event_cost(pool_, threads_.epoch(), file_.header());
  file_.announce();
  return true;
}

void Recorder::close(const ThreadWriter* own) noexcept {
  if (!is_open()) return;
  note_cuda();
  threads_.stop(own);
  threads_.give_back_chunks();
  samples_.seal();
  definitions_.chunk.seal();
  stats_.seal();
  file_.sample();
  const RecordingFile::Totals totals = threads_.totals();
  file_.close_header(stats_.is_complete() ? &totals : nullptr);
  file_.segment().check_size();
  if (file_.notice_cut()) end_cut_file();
  file_.close();
  definitions_.forget();
  chunks_.clear();
  stats_.clear();
}

// The process is about to end. Other threads and later destructors may still send events.
void Recorder::at_process_exit(ThreadWriter* own) noexcept {
  if (!is_open() || is_orphan()) return;
  file_.segment().check_size();
  if (file_.notice_cut()) return end_cut_file();
  const bool paused = threads_.pause(own);
  if (own != nullptr && threads_.is_paused(*own) && own->busy.load() == 0) {
    entries_.write_losses(*own);
    entries_.shorten(*own);
  }
  const bool sealed = threads_.seal_paused() && paused;
  samples_.seal();
  definitions_.chunk.seal();
  if (sealed) stats_.seal();
  file_.sample();
  const RecordingFile::Totals totals = threads_.totals();
  file_.close_header(sealed && stats_.is_complete() ? &totals : nullptr);
  file_.segment().trim();
  if (file_.notice_cut()) end_cut_file();
  threads_.go_on();
}

void Recorder::end_cut_file() noexcept {
  file_.end_cut(file_.mode() == RecordMode::stats ? 0 : threads_.events_made());
}

void Recorder::mark_forked() noexcept {
  if (is_open()) live_page->epoch.store(0);
  forget_all_mappings();
}

bool Recorder::open_in_child() {
  file_.segment().forget();
  definitions_.chunk.forget();
  deferred_.forget();
  threads_.forget();
  return create_file();
}

void Recorder::retire(ThreadWriter* writer) noexcept {
  if (writer != nullptr) threads_.retire(writer, is_open() && !is_orphan());
}

}  // namespace nvspan::record
