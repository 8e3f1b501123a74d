// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The layout of a recording, shared by its writer and its reader; docs/recording-format.md explains
// it. Little-endian. A writer may die at any instruction: whatever a reader may rely on is written
// before the word that announces it, and storage that nobody wrote is zero.

#pragma once

#include <cstddef>
#include <cstdint>

namespace nvspan::record {

constexpr std::uint64_t file_magic = 0x315241505356'4EFFu;  // FF "NVSPAR1"
constexpr std::uint32_t format_version = 2;
constexpr std::uint32_t version_without_checksums = 1;
constexpr std::uint64_t chunk_magic = 0x324E4843'53564EFEu;      // FE "NVSCHN2"
constexpr std::uint64_t old_chunk_magic = 0x4B4E4843'53564EFEu;  // FE "NVSCHNK", of version 1
constexpr std::size_t file_header_bytes = 4096;
constexpr std::size_t chunk_alignment = 64;
constexpr std::size_t word = sizeof(std::uint64_t);  // what entries and records are made of

enum class ClockType : std::uint32_t {
  tsc,
  monotonic,
  given,  // ns of a clock that whoever wrote the file chose
};
// `armed` keeps what is open now (live_format.hpp) and no events.
enum class RecordMode : std::uint32_t { full, ring, stats, armed };
constexpr bool keeps_events(RecordMode mode) {
  return mode == RecordMode::full || mode == RecordMode::ring;
}

// FileHeader::cuda: the most that CUDA was in the process when the recorder looked.
enum class CudaUse : std::uint32_t {
  unknown,  // the file's writer did not look
  none,     // libcuda was not loaded
  mapped,   // it was, without a context: a GPU was not used
  context,
};

// `ticks` of the recording's clock beside the system's clocks at the same moment, in ns.
struct ClockSample {
  std::uint64_t ticks;
  std::uint64_t monotonic;
  std::uint64_t realtime;
};

// How many events were lost, and the time between the first and the last of them.
struct LossWindow {
  std::uint64_t count;
  std::uint64_t from;  // ticks
  std::uint64_t to;
};

// FileHeader::flags
constexpr std::uint64_t file_closed = 1;  // its process closed it
constexpr std::uint64_t file_cut = 2;     // another process shortened it while it was written
constexpr std::uint64_t file_frozen = 4;  // a copy of the last seconds, made while it was written

enum class LossReason : std::uint32_t {
  reentered = 1,
  no_space = 2,
  no_memory = 3,
  too_deep = 4,      // more ranges were open than the recorder remembers
  name_budget = 5,   // calls that only name something, past the budget for names
  tool_dropped = 6,  // work of a GPU that CUPTI dropped
  no_times = 7,      // work of a GPU of which CUPTI does not know when it was
};
constexpr std::size_t loss_reasons = 8;

struct FileHeader {
  std::uint64_t magic;  // written last
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t flags;
  std::uint32_t pid;
  std::uint32_t parent_pid;
  std::uint32_t clock;  // ClockType
  std::uint32_t mode;   // RecordMode
  std::uint64_t run;    // the same in all files of one `nvspan record`
  std::uint64_t ring_bytes;
  std::uint64_t min_duration;  // ns
  // The recorder's own cost, in thousandths of a nanosecond.
  std::uint32_t event_cost;  // what one event costs the program
  std::uint32_t inner_cost;  // the recorder's part of the duration of an empty range
  ClockSample first;
  ClockSample last[2];         // the one that `last_sample` % 2 names is whole
  std::uint64_t last_sample;   // 0: there is none yet
  double estimated_frequency;  // ticks per second, measured when it began
  LossWindow loss;             // of version 0.1: see `losses`
  std::int32_t rank;           // -1: not known
  std::int32_t local_rank;
  std::int32_t world_size;
  std::uint32_t command_bytes;
  char host[64];
  char boot_id[40];
  char command[1024];          // arguments, each with a zero byte after it
  std::uint64_t total_events;  // of a file that was cut: how many events there were; 0: not known
  LossWindow losses[loss_reasons];  // by LossReason: losses that no event chunk of a thread holds
  // The fields from here on exist since version 2.
  std::uint32_t fixed_sum;      // CRC32C of the fields that never change: fixed_header()
  std::uint32_t last_sums[2];   // of each of `last`: sample_sum()
  std::uint32_t threads;        // at the end: how many there were
  std::uint64_t chunks;         // how many places for chunks were assigned
  std::uint64_t allocated;      // where the last of them ends
  std::uint64_t in_hand;        // offset of the chunk whose header is being written; 0: none
  std::uint64_t events;         // at the end: how many its threads wrote
  std::uint64_t file_bytes;     // at the end: the length of the file; 0: still open
  std::uint16_t cuda;           // CudaUse
  std::uint16_t annotate_cost;  // of one annotation, recorded, in ns; 0: not known
  std::uint32_t closing_sum;    // at the end, of this header: closing_sum(); 0: still open
};
static_assert(sizeof(FileHeader) <= file_header_bytes);

// The header with a zero where it changes while the program runs.
inline FileHeader fixed_header(const FileHeader& header) {
  FileHeader fixed = header;
  fixed.flags = fixed.last_sample = 0;
  fixed.last[0] = fixed.last[1] = ClockSample{};
  fixed.loss = LossWindow{};
  for (LossWindow& loss : fixed.losses) loss = LossWindow{};
  fixed.total_events = 0;
  fixed.fixed_sum = fixed.last_sums[0] = fixed.last_sums[1] = fixed.threads = 0;
  fixed.chunks = fixed.allocated = fixed.in_hand = fixed.events = fixed.file_bytes = 0;
  fixed.cuda = fixed.annotate_cost = 0;
  fixed.magic = fixed.closing_sum = 0;
  return fixed;
}

enum class ChunkType : std::uint32_t {
  events = 1,
  definitions = 2,
  stats = 3,
  samples = 4,  // sample_format.hpp
};
constexpr std::uint32_t last_chunk_type = 4;

constexpr std::uint32_t no_thread = 0xFFFFFFFF;  // of events: a place that no thread uses now

// A chunk is open until its thread has finished with it; then it is sealed.
struct ChunkHeader {
  std::uint64_t magic;   // written last
  std::uint32_t type;    // ChunkType
  std::uint32_t thread;  // events, stats: the index of the thread
  std::uint32_t tid;
  std::uint32_t place;       // its offset in the file, in units of 64 bytes
  std::uint64_t sequence;    // of its place: 1 for the file's first chunk, then one more
  std::uint64_t base_ticks;  // the time that its entries count from
  std::uint64_t number;      // events: 1 for the thread's first chunk, then one more
  std::uint64_t before;      // events: how many its thread sent before it, kept or not
  // One word, so that a chunk can be cut: its bytes, this header included, and the CRC32C of the
  // fields above and of the size.
  std::uint32_t size;
  std::uint32_t header_sum;
  // The seal.
  std::uint64_t end_ticks;   // when its thread ended; 0: not known
  std::uint64_t last_ticks;  // when it was sealed
  std::uint32_t events;      // how many events it holds; stats: calls; 0xFFFFFFFF: or more
  std::uint32_t body_sum;    // CRC32C of the used bytes after this header
  // One word, written last: how many bytes are used, and flags in its lowest bits; CRC32C of this
  // header up to here. Zero: open.
  std::uint32_t used;
  std::uint32_t seal_sum;
};
static_assert(sizeof(ChunkHeader) == 96);
constexpr std::size_t header_sum_offset = offsetof(ChunkHeader, header_sum);
constexpr std::size_t seal_sum_offset = offsetof(ChunkHeader, seal_sum);
constexpr std::size_t seal_offset = offsetof(ChunkHeader, used);
static_assert(header_sum_offset % 8 == 4 && seal_sum_offset % 8 == 4 && seal_offset % 8 == 0);
constexpr std::uint32_t last_of_thread = 1;  // ChunkHeader::used
constexpr std::uint32_t seal_flags = 7;

// Of version 1.
struct OldChunkHeader {
  std::uint64_t magic;
  std::uint32_t type;
  std::uint32_t size;
  std::uint32_t thread;
  std::uint32_t tid;
  std::uint64_t sequence;
  std::uint64_t base_ticks;
  std::uint64_t end_ticks;
  std::uint64_t number;
  std::uint64_t before;
};
static_assert(sizeof(OldChunkHeader) == 64);

// --- entries of an event chunk -----------------------------------------------------------------
//
// An entry is one or more 64-bit words, the first of them written last and never zero:
//   bits 0..39   ticks since the base
//   bits 40..43  EntryKind
//   bit  44      a payload follows
//   bits 45..63  subject; 0x7FFFF: a word with the subject follows
// then, in this order: the subject, the range id (start, end), the payload or the values.

enum class EntryKind : std::uint32_t {
  push = 1,         // subject: site
  pop = 2,          // subject: domain
  start = 3,        // subject: site; range id
  end = 4,          // subject: domain; range id
  mark = 5,         // subject: site
  base = 6,         // one word: ticks that later entries count from
  lost = 7,         // subject: LossReason; three words, a LossWindow
  counter_i64 = 8,  // subject: counter; one word
  counter_f64 = 9,
  counter_none = 10,   // one word: the reason
  open = 11,           // subject: site; one word: ticks of a push that an earlier chunk held
  counter_bytes = 12,  // subject: counter; an extended payload: samples, one after the other
  call = 13,           // subject: site; a call that launches work, at its end: work_format.hpp
  work = 14,           // subject: site; work of a GPU, at its beginning: likewise
};

constexpr unsigned entry_kind_shift = 40;
constexpr unsigned entry_subject_shift = 45;
constexpr std::uint64_t entry_payload_bit = std::uint64_t{1} << 44;
constexpr std::uint64_t entry_ticks_mask = (std::uint64_t{1} << 40) - 1;
constexpr std::uint32_t entry_wide_subject = 0x7FFFF;
constexpr std::size_t entry_most_words = 4;  // without an extended payload

constexpr std::uint64_t make_entry(EntryKind kind, std::uint32_t subject, std::uint64_t delta) {
  return delta | static_cast<std::uint64_t>(kind) << entry_kind_shift |
         static_cast<std::uint64_t>(subject) << entry_subject_shift;
}

// A payload is one word, or, of PayloadType::ext, a word with the number of bytes and those bytes,
// padded to words. The bytes are pieces: schema id, size as given, size kept (three words), bytes,
// padded to words.

// --- records of a definition chunk ---------------------------------------------------------------
//
// A word (type in bits 0..7, checksum in bits 8..31, number of bytes in bits 32..63), written last,
// then the bytes, padded to words. The checksum is the low 24 bits of the CRC32C of a word
// (sequence of the chunk in bits 32..63, offset of the record in the chunk), the word with a
// checksum of zero, and the padded bytes: definition_sum(). Version 1 has none.

enum class DefinitionType : std::uint8_t {
  string = 1,            // StringDefinition, its bytes
  domain = 2,            // DomainDefinition
  site = 3,              // SiteDefinition
  category = 4,          // CategoryDefinition
  thread = 5,            // ThreadDefinition
  thread_name = 6,       // ThreadName
  counter = 7,           // CounterDefinition
  event = 8,             // a JSON object: a call that is not a range, mark or counter sample
  device_layout = 9,     // DeviceLayoutDefinition
  device_name = 10,      // DeviceNameDefinition
  schema = 11,           // SchemaDefinition, a SchemaEntryDefinition for each entry
  enumeration = 12,      // EnumDefinition, an EnumValueDefinition for each value
  scope = 13,            // ScopeDefinition
  cited_string = 14,     // CitedString
  counter_meaning = 15,  // CounterMeaningDefinition
  code = 16,             // CodeDefinition, and the others of sample_format.hpp
  frame = 17,            // FrameDefinition
  stack = 18,            // StackDefinition
  sampled_thread = 19,   // SampledThreadDefinition
  launch_shape = 20,     // LaunchShapeDefinition of work_format.hpp
  work_gap = 21,         // WorkGapDefinition, likewise
  gpu_limits = 22,       // GpuLimitsDefinition, likewise
  graph_node = 23,       // GraphNodeDefinition, likewise
};

constexpr auto last_definition_type = DefinitionType::graph_node;

constexpr std::uint32_t no_string = 0xFFFFFFFF;
constexpr std::uint8_t message_of_others = 4;  // SiteDefinition::message_type: of all names that
                                               // are past the budget, without color and category
constexpr std::uint32_t no_site = 0xFFFFFFFF;  // used by writers only

struct StringDefinition {
  std::uint32_t id;
  std::uint32_t reserved;
};
struct DomainDefinition {
  std::uint32_t id;
  std::uint32_t name;  // no_string: the default domain
};
// All that events of one place in a program have in common.
struct SiteDefinition {
  std::uint32_t id;
  std::uint32_t domain;
  std::uint32_t message;  // no_string: none
  std::uint8_t message_type;
  std::uint8_t payload_type;
  std::uint8_t has_color;
  // 0: of the CPU. Else a range of a device, described by its extended payload, and one more than
  // the PayloadType of what the program itself gave as payload.
  std::uint8_t device;
  std::uint32_t color;
  std::uint32_t category;
};
static_assert(sizeof(SiteDefinition) == 24);
// For tables of sites by all that they have but their id.
struct SiteHash {
  std::size_t operator()(const SiteDefinition& site) const noexcept {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
    std::uint64_t hash = (std::uint64_t{site.domain} << 32 | site.message) * odd;
    const std::uint64_t flags = std::uint64_t{site.payload_type} | std::uint64_t{site.device} << 8 |
                                std::uint64_t{site.has_color} << 16 |
                                std::uint64_t{site.message_type} << 24;
    hash = (hash ^ hash >> 32 ^ (std::uint64_t{site.color} << 32 | site.category)) * odd;
    hash = (hash ^ hash >> 29 ^ flags) * odd;
    return static_cast<std::size_t>(hash ^ hash >> 32);
  }
};
struct SameSite {
  bool operator()(const SiteDefinition& a, const SiteDefinition& b) const noexcept {
    return a.domain == b.domain && a.message == b.message && a.message_type == b.message_type &&
           a.payload_type == b.payload_type && a.has_color == b.has_color && a.device == b.device &&
           a.color == b.color && a.category == b.category;
  }
};
struct CategoryDefinition {
  std::uint32_t domain;
  std::uint32_t category;
  std::uint32_t name;
  std::uint32_t reserved;
};
struct ThreadDefinition {
  std::uint32_t thread;
  std::uint32_t tid;
  std::uint64_t ticks;
};
struct ThreadName {
  std::uint32_t tid;
  std::uint32_t name;
  std::uint64_t ticks;
};
struct CounterDefinition {
  std::uint32_t id;
  std::uint32_t domain;
  std::uint64_t counter;  // as the program knows it
  std::uint32_t name;
  std::uint32_t reserved;
};

// The offsets of a device range's fields in its payload; the schema is one of that domain.
constexpr std::size_t device_fields = 8;  // DeviceField
struct DeviceLayoutDefinition {
  std::uint64_t schema;
  std::uint32_t domain;
  std::uint32_t offsets[device_fields];  // no_string: not there
  std::uint32_t reserved;
};
static_assert(sizeof(DeviceLayoutDefinition) == 48);
enum class DeviceNameKind : std::uint32_t { device, stream };
struct DeviceNameDefinition {
  std::uint64_t handle;  // or ordinal of a device
  std::uint64_t ticks;
  std::uint32_t kind;  // DeviceNameKind
  std::uint32_t name;
};
static_assert(sizeof(DeviceNameDefinition) == 24);

// The layout of a payload, as the program registered it; ids are those of the domain. The fields
// are NVTX's, and its headers define them.
struct MeaningDefinition {  // of a counter's values: nvtxSemanticsCounter_t
  std::uint32_t unit;
  std::uint32_t limit_type;
  std::uint64_t flags;
  std::uint64_t scale_numerator;
  std::uint64_t scale_denominator;
  std::uint64_t min_bits;
  std::uint64_t max_bits;
};
struct SchemaDefinition {
  std::uint64_t schema;
  std::uint64_t type;
  std::uint64_t flags;
  std::uint64_t size;  // 0: not fixed
  std::uint64_t pack;
  std::uint32_t domain;
  std::uint32_t name;
};
static_assert(sizeof(SchemaDefinition) == 48);
struct SchemaEntryDefinition {
  std::uint64_t flags;
  std::uint64_t type;
  std::uint64_t detail;  // arrayOrUnionDetail
  std::uint64_t offset;
  std::uint32_t name;
  std::uint32_t reserved;
  MeaningDefinition meaning;
};
static_assert(sizeof(SchemaEntryDefinition) == 88);
struct EnumDefinition {
  std::uint64_t schema;
  std::uint64_t size;
  std::uint32_t domain;
  std::uint32_t name;
};
struct EnumValueDefinition {
  std::uint64_t value;
  std::uint32_t name;
  std::uint32_t is_flag;
};
static_assert(sizeof(EnumValueDefinition) == 16);
struct ScopeDefinition {
  std::uint64_t scope;
  std::uint64_t parent;
  std::uint32_t domain;
  std::uint32_t path;
};
// A registered string whose handle a payload holds.
struct CitedString {
  std::uint64_t handle;
  std::uint32_t text;
  std::uint32_t reserved;
};
struct CounterMeaningDefinition {
  std::uint64_t schema;
  std::uint64_t scope;
  std::uint32_t counter;  // of CounterDefinition
  std::uint32_t description;
  std::uint32_t scope_path;
  std::uint32_t reserved;
  MeaningDefinition meaning;
};
static_assert(sizeof(CounterMeaningDefinition) == 80);

// --- records of a stats chunk --------------------------------------------------------------------
//
// A StatsCell for each site that the thread used, and a StatsBlock for each power of two that its
// durations reached; a StatsNested where its ranges lay within one another. Each starts with a word
// that is written last: 1 a cell, 2 a block, 3 a StatsNested.

constexpr unsigned stats_octaves = 48;
constexpr unsigned stats_buckets = 128;  // of one octave, as core/log_histogram.hpp lays them out

struct StatsCell {
  std::uint64_t kind;  // 1
  std::uint32_t site;
  std::uint32_t counted_as;  // EntryKind: push, start or mark
  std::uint64_t count;
  std::uint64_t total;  // ticks
  std::uint64_t self;
  std::uint64_t shortest;
  std::uint64_t longest;
  double squares;  // of ticks
};
static_assert(sizeof(StatsCell) == 64);
struct StatsBlock {
  std::uint64_t kind;  // 2
  std::uint32_t site;
  std::uint32_t octave;
  std::uint32_t counted_as;
  std::uint32_t reserved;
  std::uint32_t counts[stats_buckets];
};
static_assert(sizeof(StatsBlock) % 8 == 0);
// Of the cell's total: the time of ranges that lay within another one of the site, and counted.
struct StatsNested {
  std::uint64_t kind;  // 3
  std::uint32_t site;
  std::uint32_t counted_as;
  std::uint64_t total;  // ticks
};
static_assert(sizeof(StatsNested) % 8 == 0);
// Of a cell of stretches that resume a call: the time before them, since the call was suspended.
struct StatsAwaited {
  std::uint64_t kind;  // 4
  std::uint32_t site;
  std::uint32_t unknown;  // stretches whose call has no place: their time is not in the total
  std::uint64_t total;    // ticks
};
static_assert(sizeof(StatsAwaited) % 8 == 0);

}  // namespace nvspan::record
