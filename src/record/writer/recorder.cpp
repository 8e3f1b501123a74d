// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/writer/recorder.hpp"

#include "core/os/error_line.hpp"
#include "record/file/checksum.hpp"
#include "record/file/file_name.hpp"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace nvspan::record {
namespace {

constexpr unsigned measured_ranges = 256;

LivePage nothing_live;

void read_file(const char* path, char* out, std::size_t size) noexcept {
  std::memset(out, 0, size);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  std::size_t have = 0;
  while (have + 1 < size) {
    const ssize_t count = ::read(fd, out + have, size - 1 - have);
    if (count <= 0) break;
    have += static_cast<std::size_t>(count);
  }
  ::close(fd);
}

// One word for every thread of the process; zero in a child that a fork makes.
bool make_live_page() noexcept {
  if (live_page != &nothing_live) return true;
  void* made = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return false;
#ifdef MADV_WIPEONFORK
  ::madvise(made, page, MADV_WIPEONFORK);
#endif
  live_page = new (made) LivePage{};
  return true;
}

}  // namespace

LivePage* live_page = &nothing_live;

Recorder::Recorder(core::PagePool& pool, const trace::SchemaTable& schemas,
                   const trace::PayloadNames& names)
    : pool_(pool),
      segment_(pool),
      template_(pool),
      line_(*this),
      events_(line_, pool),
      strings_(pool),
      domains_(pool),
      sites_(pool),
      rests_(pool),
      counters_(pool),
      device_schemas_(pool),
      described_(pool),
      cited_(pool),
      schemas_(schemas),
      names_(names),
      decoder_(schemas, pool),
      started_(pool),
      leftovers_(pool),
      sealed_(pool),
      stats_chunks_(pool) {}

bool Recorder::open(const RecordOptions& options) {
  template_.assign(options.path.data(), options.path.size());
  if (template_.empty()) template_ = "nvspan-{pid}.nvspan";
  if (template_[0] != '/') {
    char folder[page];
    if (::getcwd(folder, sizeof folder) != nullptr) {
      template_.insert(0, "/");
      template_.insert(0, folder);
    }
  }
  mode_ = options.mode;
  ring_bytes_ = options.ring_bytes;
  min_duration_ = options.min_duration;
  name_bytes_ = options.name_bytes;
  run_ = options.run;
  if (epoch_ == 0) choose_clock();
  return make_live_page() && create_file();
}

bool Recorder::create_file() {
  core::PoolString path(pool_);
  expand_file_name(template_, path);
  if (!segment_.create(path)) {
    core::write_error_line("cannot record into %s: %s", segment_.path(),
                           ::strerror(segment_.error()));
    return false;
  }
  forget_names();
  exhausted_ = false;
  cut_ = false;
  retired_events_ = retired_written_ = 0;
  sequence_ = 0;
  next_thread_ = 0;
  sealed_.clear();
  sealed_head_ = 0;
  leftovers_.clear();
  started_.clear();
  stats_chunks_.clear();
  stats_chunks_missing_ = false;
  paused_epoch_ = 0;
  constexpr std::size_t largest_ring_chunk = 256 * 1024;
  ring_chunk_ = std::clamp<std::size_t>(ring_bytes_ / 64 / page * page, smallest_ring_chunk,
                                        largest_ring_chunk);
  ring_left_ = std::max<std::size_t>(ring_bytes_ / ring_chunk_, 4);
  FileHeader& header = *segment_.header();
  fill_header(header);
  pid_ = header.pid;
  ++epoch_;
  live_page->epoch.store(epoch_, std::memory_order_release);
  measure_cost();
  header.allocated = file_header_bytes;
  header.fixed_sum = fixed_sum(header);
  first_header_ = header;
  first_header_.magic = file_magic;
  reinterpret_cast<std::atomic<std::uint64_t>&>(header.magic).store(file_magic);
  return true;
}

void Recorder::fill_header(FileHeader& header) const {
  header.version = format_version;
  header.header_bytes = file_header_bytes;
  header.pid = static_cast<std::uint32_t>(::getpid());
  header.parent_pid = static_cast<std::uint32_t>(::getppid());
  header.clock = static_cast<std::uint32_t>(ticks_are_tsc ? ClockType::tsc : ClockType::monotonic);
  header.mode = static_cast<std::uint32_t>(mode_);
  header.run = run_;
  header.ring_bytes = ring_bytes_;
  header.min_duration = min_duration_;
  header.first = sample_clocks();
  header.estimated_frequency = estimate_frequency(header.first);
  const RankOfProcess rank = rank_of_process();
  header.rank = rank.rank;
  header.local_rank = rank.local_rank;
  header.world_size = rank.world_size;
  host_name(header.host, sizeof header.host);
  read_file("/proc/sys/kernel/random/boot_id", header.boot_id, sizeof header.boot_id);
  const char* command = std::getenv("NVSPAN_RECORD_COMMAND");
  if (command == nullptr || std::strcmp(command, "0") != 0) {
    read_file("/proc/self/cmdline", header.command, sizeof header.command);
  }
  header.command_bytes = sizeof header.command;
  while (header.command_bytes != 0 && header.command[header.command_bytes - 1] == '\0') {
    --header.command_bytes;
  }
}

// Runs events through a writer of its own whose chunk is not in the file.
void Recorder::measure_cost() noexcept {
  FileHeader& header = *segment_.header();
  frequency_ = header.estimated_frequency;
  void* space = nullptr;
  ThreadWriter* writer = nullptr;
  constexpr std::size_t bytes = 4 * measured_ranges * sizeof(std::uint64_t);
  try {
    space = pool_.allocate(bytes);
    writer = static_cast<ThreadWriter*>(pool_.allocate(sizeof(ThreadWriter)));
  } catch (...) {
    if (space != nullptr) pool_.deallocate(space, bytes);
    return;
  }
  std::memset(static_cast<void*>(writer), 0, sizeof *writer);
  writer->epoch = epoch_;
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
  const double thousandths = 1e12 / frequency_;
  header.event_cost =
      static_cast<std::uint32_t>(static_cast<double>(least) * thousandths / (2 * measured_ranges));
  header.inner_cost = static_cast<std::uint32_t>(static_cast<double>(least_inner) * thousandths);
  pool_.deallocate(space, bytes);
  pool_.deallocate(writer, sizeof *writer);
}

void Recorder::sample() noexcept {
  FileHeader& header = *segment_.header();
  const std::uint64_t number = header.last_sample + 1;
  header.last[number % 2] = sample_clocks();
  header.last_sums[number % 2] = sample_sum(header.last[number % 2], number);
  reinterpret_cast<std::atomic<std::uint64_t>&>(header.last_sample).store(number);
}

void Recorder::report(int error) noexcept {
  if (notice_cut() || exhausted_) return;
  exhausted_ = true;
  core::write_error_line("the recording %s is cut short: %s (what follows is counted, not kept)",
                         segment_.path(), ::strerror(error));
}

// After the epoch changed: a writer that is still busy began before, and is waited for.
void Recorder::quiesce(const ThreadWriter* own) noexcept {
  fence_threads();
  for (ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
    while (writer != own && writer->busy.load(std::memory_order_acquire) != 0) ::sched_yield();
  }
}

void Recorder::close(const ThreadWriter* own) noexcept {
  if (!is_open()) return;
  live_page->epoch.store(0, std::memory_order_seq_cst);
  quiesce(own);
  for (ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
    if (writer->epoch == epoch_ && writer->chunk != nullptr) {
      if (writer->dropped.count != 0) write_loss(*writer);
      give_back(*writer);
    }
  }
  seal_definitions();
  seal_stats();
  sample();
  close_header(true);
  segment_.check_size();
  if (notice_cut()) end_cut_file();
  segment_.close();
  forget_names();
  leftovers_.clear();
  sealed_.clear();
  started_.clear();
  stats_chunks_.clear();
}

// The process is about to end. Events of other threads and of what is destroyed later still come.
void Recorder::at_process_exit(ThreadWriter* own) noexcept {
  if (!is_open() || is_orphan()) return;
  segment_.check_size();
  if (notice_cut()) return end_cut_file();
  bool sealed = pause(own);
  if (own != nullptr && own->epoch == paused_epoch_ && own->busy.load() == 0) {
    if (own->dropped.count != 0) write_loss(*own);
    if (own->chunk != nullptr && mode_ == RecordMode::full) {
      const auto* after = reinterpret_cast<const char*>(own->cursor + 1 + entry_most_words);
      const auto* chunk_end = reinterpret_cast<const char*>(own->chunk) + own->chunk->size;
      const std::size_t bytes =
          (static_cast<std::size_t>(after - reinterpret_cast<const char*>(own->chunk)) +
           chunk_alignment - 1) /
          chunk_alignment * chunk_alignment;
      if (bytes < own->chunk->size && segment_.ends_at(chunk_end)) {
        set_size(own->chunk, bytes);
        own->chunk_end = reinterpret_cast<std::atomic<std::uint64_t>*>(
            reinterpret_cast<char*>(own->chunk) + bytes);
        own->end = own->chunk_end - ThreadWriter::reserved_words;
        segment_.shrink_last(reinterpret_cast<const char*>(own->chunk_end));
      }
    }
  }
  for (ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
    if (writer->epoch != paused_epoch_) continue;
    if (writer->busy.load(std::memory_order_acquire) != 0) {
      sealed = false;
      continue;
    }
    if (writer->dropped.count != 0) write_loss(*writer);
    if (writer->chunk != nullptr) seal(*writer, true);
  }
  seal_definitions();
  if (sealed) seal_stats();
  sample();
  close_header(sealed);
  segment_.trim();
  live_page->epoch.store(epoch_, std::memory_order_release);
}

void Recorder::mark_forked() noexcept {
  if (is_open() && segment_.header() != nullptr) live_page->epoch.store(0);
  forget_all_mappings();
}

bool Recorder::open_in_child() {
  segment_.forget();
  definition_chunk_ = nullptr;
  definitions_ = nullptr;
  definitions_left_ = 0;
  lane_ = nullptr;
  // The other threads did not come along.
  writers_ = nullptr;
  free_writers_ = nullptr;
  return create_file();
}

ThreadWriter* Recorder::ready(ThreadWriter* writer, std::uint32_t tid) {
  if (writer != nullptr && writer->is_live()) return writer;
  if (writer != nullptr && paused_epoch_ != 0 && writer->epoch == paused_epoch_) {
    resume(*writer);
    return writer;
  }
  if (writer == nullptr && free_writers_ != nullptr) {
    writer = free_writers_;
    free_writers_ = writer->next_free;
  }
  const bool fresh = writer == nullptr;
  if (fresh) {
    writer = static_cast<ThreadWriter*>(pool_.allocate(sizeof(ThreadWriter)));
    std::memset(static_cast<void*>(writer), 0, sizeof *writer);
  }
  bool listed = false;
  for (ThreadWriter* at = writers_; at != nullptr && !listed; at = at->next) listed = at == writer;
  if (!listed) {
    writer->next = writers_;
    writers_ = writer;
  }
  writer->next_free = nullptr;
  if (writer->epoch != epoch_) {
    std::memset(static_cast<void*>(writer->cache), 0, sizeof writer->cache);
    writer->domain_count = 0;
    if (writer->stats.slots != nullptr) {
      pool_.deallocate(writer->stats.slots, writer->stats.capacity * sizeof(StatsSlot));
    }
    writer->stats = StatsTable{};
    writer->chunk = nullptr;
    writer->epoch = epoch_;
  }
  constexpr std::uint32_t first_chunk_bytes = 4 * 1024;
  writer->plain = mode_ == RecordMode::full && min_duration_ == 0;
  writer->mode = static_cast<std::uint8_t>(mode_);
  writer->min_ticks =
      static_cast<std::uint64_t>(static_cast<double>(min_duration_) * frequency_ / 1e9);
  writer->next_range = ++next_range_block_ << 32 | 1;
  if (mode_ != RecordMode::stats) writer->chunk = nullptr;
  writer->thread = next_thread_++;
  writer->tid = tid;
  writer->next_chunk_bytes = first_chunk_bytes;
  writer->chunk_count = 0;
  writer->written = 0;
  writer->lost = 0;
  writer->dropped = LossWindow{};
  writer->loss_entry = nullptr;
  writer->open_count = 0;
  writer->open_beyond = 0;
  for (std::size_t i = 0; i < writer->domain_count; ++i) writer->domains[i].depth = 0;
  if (mode_ != RecordMode::stats || writer->chunk == nullptr) writer->cursor = nullptr;
  writer->end = nullptr;
  writer->base = ticks_now();
  const ThreadDefinition definition{writer->thread, tid, writer->base};
  define(DefinitionType::thread, &definition, sizeof definition);
  return writer;
}

void Recorder::retire(ThreadWriter* writer) noexcept {
  if (writer == nullptr) return;
  if (belongs(*writer)) {
    retired_events_ += writer->written + writer->lost;
    retired_written_ += writer->written;
  }
  if (is_open() && !is_orphan() && writer->epoch == epoch_ && writer->chunk != nullptr) {
    if (writer->dropped.count != 0) write_loss(*writer);
    writer->chunk->end_ticks = ticks_now();
    if (mode_ != RecordMode::stats) give_back(*writer);
  }
  writer->written = writer->lost = 0;
  writer->next_free = free_writers_;
  free_writers_ = writer;
}

}  // namespace nvspan::record
