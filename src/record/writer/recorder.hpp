// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/segment.hpp"
#include "record/writer/name_budget.hpp"
#include "record/writer/thread_writer.hpp"
#include "trace/event/sink.hpp"
#include "trace/payload/domain_key.hpp"
#include "trace/payload/payload_decoder.hpp"
#include "trace/sinks/jsonl_sink.hpp"

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace nvspan::record {

struct RecordOptions {
  std::string_view path;  // {host}, {rank} and {pid} are replaced; empty: nvspan-{pid}.nvspan
  RecordMode mode = RecordMode::full;
  std::uint64_t ring_bytes = 0;
  std::uint64_t min_duration = 0;  // ns
  std::uint64_t name_bytes = 0;    // for names; 0: as much as the mode has
  std::uint64_t run = 0;
};

// Writes the recording of a process. Everything here is the slow path, taken when a thread meets
// something for the first time, or has filled its chunk; ThreadWriter is the rest. Callers hold the
// session's lock, with signals blocked.
class Recorder final : public trace::Sink {
 public:
  Recorder(core::PagePool& pool, const trace::SchemaTable& schemas,
           const trace::PayloadNames& names);

  // False: it cannot, and said so on standard error.
  bool open(const RecordOptions& options);
  bool is_open() const noexcept { return segment_.is_open(); }
  void close(const ThreadWriter* own) noexcept;  // waits for the writers; `own` is the caller's
  void at_process_exit(ThreadWriter* own) noexcept;

  // True when this is a forked child that has not got a file of its own.
  bool is_orphan() const noexcept {
    return is_open() && live_page->epoch.load(std::memory_order_relaxed) == 0;
  }
  bool open_in_child();
  std::uint32_t pid() const noexcept { return pid_; }
  void mark_forked() noexcept;  // in a forked child, where the kernel may not have

  // A writer for the calling thread, for `writer`'s place in its thread-local storage.
  ThreadWriter* ready(ThreadWriter* writer, std::uint32_t tid);
  void retire(ThreadWriter* writer) noexcept;

  // The calls, once read. `key` is remembered for the fast path when it is given. A hidden domain
  // is remembered as well, and nothing is written.
  int push(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
           const SiteKey* key);
  int pop(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event);
  void mark(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
            const SiteKey* key);
  std::uint64_t start(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
                      const SiteKey* key);
  void end(ThreadWriter& writer, std::uint64_t domain, std::uint64_t id, const trace::Event& event);
  void hide(ThreadWriter& writer, std::uint64_t domain, const SiteKey* key);

  // An event that was submitted with its times, in ticks; to_ticks() makes them of a stamp of one
  // of NVTX's types, unless it is of a clock that is not known.
  bool to_ticks(std::uint64_t type, std::int64_t stamp, std::uint64_t& ticks) const;
  void deferred(std::uint64_t domain, const trace::Event& event, std::uint64_t begin,
                std::uint64_t end, bool mark);
  void deferred_sample(std::uint64_t domain, std::string_view domain_name, std::uint64_t id,
                       std::string_view name, bool real, std::uint64_t bits, std::uint64_t ticks);

  void deferred_samples(const trace::Event& event, std::uint64_t id, std::string_view name,
                        std::uint64_t ticks);

  // Any other event. A counter's sample goes to the thread that `set_current` named.
  bool write(const trace::Event& event) override;
  void set_current(ThreadWriter* writer) noexcept { current_ = writer; }

  void name_thread(std::uint32_t tid, std::string_view name);
  void name_category(std::uint64_t domain, std::string_view domain_name, std::uint32_t category,
                     std::string_view name);

 private:
  struct Hash {
    std::size_t operator()(const SiteDefinition& site) const noexcept;
  };
  struct Same {
    bool operator()(const SiteDefinition& a, const SiteDefinition& b) const noexcept;
  };
  struct OpenStart {
    std::uint64_t ticks;
    std::uint32_t site;
  };
  struct Leftover {
    char* start;
    std::size_t bytes;
  };
  static constexpr std::size_t smallest_leftover = 2 * 1024;
  static constexpr std::size_t smallest_ring_chunk = 16 * 1024;
  struct Place {  // for a chunk of a ring
    ChunkHeader* chunk = nullptr;
    std::size_t bytes = 0;
    std::uint64_t sequence = 0;  // 0: nothing was there before
  };
  struct StatsChunk {
    ChunkHeader* chunk;
    const ThreadWriter* writer;
  };
  template <typename Key, typename Value, typename KeyHash = std::hash<Key>,
            typename Equal = std::equal_to<Key>>
  using Map = std::unordered_map<Key, Value, KeyHash, Equal,
                                 core::PoolAllocator<std::pair<const Key, Value>>>;
  struct Text {
    std::uint32_t id;
    const char* kept;
  };
  // Catches the line that JsonlSink makes.
  class EventLine final : public trace::Output {
   public:
    explicit EventLine(Recorder& owner) : owner_(owner) {}
    bool write(const char* data, std::size_t size) noexcept override;
    bool is_terminal() const noexcept override { return false; }

   private:
    Recorder& owner_;
  };

  bool create_file();
  void fill_header(FileHeader& header) const;
  void forget_names() noexcept;
  void sample() noexcept;
  void measure_cost() noexcept;
  void report(int error) noexcept;
  bool notice_cut() noexcept;
  void end_cut_file() noexcept;

  bool define(DefinitionType type, const void* data, std::size_t bytes, std::string_view text = {});
  Text string(std::string_view text, bool within_budget = false);
  std::uint32_t domain(std::uint64_t handle, std::string_view name);
  DomainCell* cell(ThreadWriter& writer, std::uint64_t handle, std::string_view name);
  std::uint32_t site(std::uint32_t domain, const trace::Event& event, std::uint32_t message);
  std::uint32_t add_site(SiteDefinition& definition);
  std::uint32_t other_site(const SiteRest& rest);
  std::uint32_t counted_site(ThreadWriter& writer, std::uint32_t site, EntryKind kind);
  bool keep_name(const trace::Event& event);
  bool make_own_texts(ThreadWriter& writer) noexcept;
  std::uint32_t counter(std::uint64_t domain, std::string_view domain_name, std::uint64_t id,
                        std::string_view name);
  struct Subject {
    std::uint32_t site;  // no_site: there was no space for its definition
    DomainCell* domain;
    std::uint32_t domain_id;
  };
  void lose(ThreadWriter& writer, LossReason reason) noexcept;
  void lose_call() noexcept;
  void add_loss(LossReason reason, const LossWindow& more) noexcept;
  void keep_device_schema(const trace::Event& event);
  void keep_device_name(const trace::Event& event);
  std::uint8_t device_site(const trace::Event& event) const;
  class CitedNames;
  static bool is_new(Map<trace::DomainKey, std::uint64_t, trace::DomainKeyHash>& map,
                     const trace::DomainKey& key, std::uint64_t version);
  void describe(const trace::Event& event);
  void cite(const trace::Event& event);
  void define_type(std::uint64_t domain, std::string_view domain_name, std::uint64_t id,
                   unsigned depth);
  void write_schema(std::uint32_t domain, const trace::PayloadSchema& schema);
  void write_enum(std::uint32_t domain, const trace::PayloadEnum& known);
  MeaningDefinition meaning_of(const trace::CounterUnit& unit);
  void describe_counter(std::uint64_t domain, std::string_view domain_name, std::uint64_t id,
                        std::uint32_t number);
  void keep_scope(const trace::Event& event, std::uint64_t id);
  void put_samples(ThreadWriter& writer, const trace::Event& event, std::uint32_t subject,
                   std::uint64_t ticks);
  Subject subject(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
                  const SiteKey* key);

  bool put(ThreadWriter& writer, EntryKind kind, std::uint32_t subject, std::uint64_t ticks,
           const std::uint64_t* words, std::size_t count, const trace::Event* payload);
  bool refill(ThreadWriter& writer, std::size_t words);
  struct ChunkKey {  // what a chunk's header says of its entries
    ChunkType type;
    std::uint32_t thread = 0;
    std::uint32_t tid = 0;
    std::uint64_t number = 0;
    std::uint64_t before = 0;
  };
  Leftover take_leftover(std::size_t bytes);
  ChunkHeader* take_sealed(std::size_t bytes);
  Place take_ring_place(const ThreadWriter& writer, std::size_t bytes);
  char* allocate(std::size_t bytes) noexcept;
  void write_chunk(ChunkHeader* chunk, const ChunkKey& key, std::size_t bytes,
                   std::uint64_t sequence) noexcept;
  void start_chunk(ChunkHeader* chunk, const ChunkKey& key, std::size_t bytes,
                   std::uint64_t sequence = 0) noexcept;
  static void set_size(ChunkHeader* chunk, std::size_t bytes) noexcept;
  void set_in_hand(std::uint64_t offset) noexcept;
  void give_back(ThreadWriter& writer) noexcept;
  static void seal(ChunkHeader* chunk, const void* end, std::uint64_t events, bool last) noexcept;
  void unseal(ChunkHeader* chunk) noexcept;
  void seal(const ThreadWriter& writer, bool last) noexcept;
  void seal_definitions() noexcept;
  void seal_stats() noexcept;
  void queue(ChunkHeader* chunk) noexcept;
  bool belongs(const ThreadWriter& writer) const noexcept {
    return writer.epoch == epoch_ || (paused_epoch_ != 0 && writer.epoch == paused_epoch_);
  }
  static void fence_threads() noexcept;
  bool pause(const ThreadWriter* own) noexcept;
  void resume(ThreadWriter& writer) noexcept;
  void close_header(bool sealed) noexcept;
  void sum_up(FileHeader& header) noexcept;
  void reopen() noexcept;
  void write_loss(ThreadWriter& writer) noexcept;
  void write_open(ThreadWriter& writer, std::size_t words) noexcept;
  void count(ThreadWriter& writer, std::uint32_t site, EntryKind kind, std::uint64_t ticks,
             std::uint64_t self);
  char* stats_space(ThreadWriter& writer, std::size_t bytes);
  ThreadWriter& lane();
  void place(ThreadWriter& writer, std::uint64_t ticks, std::size_t words);
  void quiesce(const ThreadWriter* own) noexcept;

  core::PagePool& pool_;
  Segment segment_;
  core::PoolString template_;
  RecordMode mode_ = RecordMode::full;
  std::uint64_t ring_bytes_ = 0;
  std::uint64_t min_duration_ = 0;
  std::uint64_t name_bytes_ = 0;
  NameBudget budget_;
  bool naming_ = false;   // the line that is written only names something
  bool refused_ = false;  // and was past the budget
  std::uint64_t run_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t paused_epoch_ = 0;  // of the writers that the process's exit has paused
  std::uint64_t sequence_ = 0;
  std::uint32_t next_thread_ = 0;
  std::uint64_t next_range_block_ = 0;
  double frequency_ = 1e9;
  std::uint32_t pid_ = 0;
  bool exhausted_ = false;
  bool undefined_ = false;  // a definition could not be written since this was set to false
  bool cut_ = false;
  FileHeader first_header_ = {};       // as it was when the recording began
  std::uint64_t retired_events_ = 0;   // of threads that are gone, kept or not
  std::uint64_t retired_written_ = 0;  // those of them that are kept

  EventLine line_;
  trace::JsonlSink events_;
  ThreadWriter* current_ = nullptr;
  ThreadWriter* lane_ = nullptr;  // of deferred events
  ThreadWriter* writers_ = nullptr;
  ThreadWriter* free_writers_ = nullptr;

  ChunkHeader* definition_chunk_ = nullptr;  // the one that takes them
  char* definitions_ = nullptr;
  std::size_t definitions_left_ = 0;
  Map<std::string_view, Text> strings_;
  Map<std::uint64_t, std::uint32_t> domains_;
  Map<SiteDefinition, std::uint32_t, Hash, Same> sites_;
  core::PoolVector<SiteRest> rests_;  // stats: of each site
  Map<trace::DomainKey, std::uint32_t, trace::DomainKeyHash> counters_;
  Map<trace::DomainKey, trace::PayloadType, trace::DomainKeyHash>
      device_schemas_;  // by domain and schema
  Map<trace::DomainKey, std::uint64_t, trace::DomainKeyHash>
      described_;  // schemas and enums in the file
  Map<trace::DomainKey, std::uint64_t, trace::DomainKeyHash>
      cited_;  // strings and categories in it
  const trace::SchemaTable& schemas_;
  const trace::PayloadNames& names_;
  trace::PayloadDecoder decoder_;
  Map<std::uint64_t, OpenStart> started_;  // stats
  core::PoolVector<Leftover> leftovers_;
  core::PoolVector<ChunkHeader*> sealed_;  // ring: the oldest first, from sealed_head_
  std::size_t sealed_head_ = 0;
  std::size_t forgotten_chunks_ = 0;  // of a ring: there was no memory to list them
  core::PoolVector<StatsChunk> stats_chunks_;
  bool stats_chunks_missing_ = false;  // there was no memory to list them
  std::size_t ring_left_ = 0;
  std::size_t ring_chunk_ = 0;
};

}  // namespace nvspan::record
