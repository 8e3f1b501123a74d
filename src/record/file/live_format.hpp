// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a recording shows of a program that runs: the open ranges of each thread, in blocks that the
// thread changes in place, and requests to its recorder. LiveSection lies in the header's page;
// blocks lie in chunks that readers of events take for places that no thread uses. Definitions give
// the names. A file without the magic word has none of this.
//
// The protocol. A block has one writer, its thread, and any number of readers, also in other
// processes; it may be killed at any instruction. Every word is atomic. `state` is one word: the
// depth, and a count that each change moves. The writer stores an entry before the state that
// announces it, and stores both with release; the reader loads the state, the entries below the
// depth, and the state again, all with acquire. An entry that belongs to a later state was stored
// after a state that the second load then sees, so two equal states enclose entries of that state.
// A range that is not the innermost one is removed in two steps: first the depth shrinks to the
// ranges around it, with live_changing, then the others move and the depth is the new one. A writer
// killed in between leaves the outer ranges, and says that there were more.
// A name is written into the slot that is not shown, then `names` shows it.

#pragma once

#include "record/file/format.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvspan::record {

using LiveWord = std::atomic<std::uint64_t>;
static_assert(LiveWord::is_always_lock_free && sizeof(LiveWord) == sizeof(std::uint64_t));

// Offsets of so many chunks of samples are kept, the newest ones.
constexpr std::size_t live_sample_chunks = 24;

constexpr std::uint64_t live_magic = 0x3145564C'53564EFDu;  // FD "NVSLVE1"
constexpr std::size_t live_offset = 3072;                   // of LiveSection, in the file
static_assert(sizeof(FileHeader) <= live_offset);

// A request is written by `nvspan attach` and `detach`: its fields, then `asked`, then a 1
// into LiveBlock::asked of each thread, so that whichever comes to its next event obeys. What is
// asked of the sampler is `lines_period`, then `lines_asked`; it looks some times a second.
struct LiveSection {
  LiveWord magic;        // written last
  LiveWord blocks;       // offset of the newest chunk of blocks; each one's `before` has the next
  LiveWord definitions;  // likewise of definitions
  LiveWord devices;      // offset of the chunk of LiveDevice; 0: none
  LiveWord mode;         // RecordMode now
  LiveWord obeyed;       // the last request that the process carried out
  LiveWord refused;      // the last that it could not
  LiveWord asked;        // number of the newest request
  LiveWord wanted_mode;  // RecordMode; live_no_mode: as it is
  LiveWord wanted_ring;  // bytes; 0: as it is
  LiveWord samples;      // number of the newest chunk of samples; 0: there is none
  LiveWord sample_chunks[live_sample_chunks];  // offset of chunk n at n % live_sample_chunks
  LiveWord sampler;                            // LiveSampler
  LiveWord lines_asked;                        // number of the newest request to the sampler
  LiveWord lines_obeyed;                       // the last that it carried out
  LiveWord lines_period;  // ns from a sample to the next; 0: by what it costs; live_no_lines: none
  LiveWord reserved[5];
  LiveWord was_ring;  // the mode was `ring` at some time, also where the header has another
};
static_assert(live_offset + sizeof(LiveSection) <= file_header_bytes);
constexpr std::uint64_t live_no_mode = 0xFFFFFFFF;
constexpr std::uint64_t live_no_lines = ~std::uint64_t{0};
enum class LiveSampler : std::uint64_t { none, waiting, sampling };

// A file's first page.
struct FirstPage {
  FileHeader header = {};
  char between[live_offset - sizeof(FileHeader)] = {};
  LiveSection live = {};
  char rest[file_header_bytes - live_offset - sizeof(LiveSection)] = {};
};
static_assert(sizeof(FirstPage) == file_header_bytes && offsetof(FirstPage, live) == live_offset);

// LiveBlock::state
constexpr unsigned live_count_shift = 21;
constexpr std::uint64_t live_depth_mask = (std::uint64_t{1} << 20) - 1;
constexpr std::uint64_t live_changing = std::uint64_t{1} << 20;
constexpr std::uint64_t live_one_event = std::uint64_t{1} << live_count_shift;

// An entry: the range's name in bits 0..31, its domain's handle in 32..51 (the lowest bits of it;
// 0: the default domain), in 52..61 the lowest bits of the thread's count when it was opened, which
// tell it from the next of its name and which of two was opened later, what the name is in 62..63.
enum class LiveName : std::uint64_t {
  site = 1,        // of SiteDefinition
  registered = 2,  // the lowest bits of a string's handle, of CitedString; so are domains
};
constexpr unsigned live_domain_shift = 32;
constexpr unsigned live_stamp_shift = 52;
constexpr unsigned live_kind_shift = 62;
constexpr std::uint64_t live_domain_mask = 0xFFFFF;
constexpr std::uint64_t live_stamp_mask = std::uint64_t{0x3FF} << live_stamp_shift;

// Handles that the injection library gives out: what an entry leaves out of them.
constexpr std::uint64_t live_domain_handles = 0x4E56'1000'0000'0000u;
constexpr std::uint64_t live_string_handles = 0x4E56'2000'0000'0000u;

constexpr std::uint64_t live_entry(LiveName kind, std::uint64_t domain, std::uint32_t name) {
  return static_cast<std::uint64_t>(kind) << live_kind_shift |
         (domain & live_domain_mask) << live_domain_shift | name;
}
constexpr std::uint32_t live_site(std::uint64_t entry) { return static_cast<std::uint32_t>(entry); }

// A start/end range: any thread may end it, which sets `id` to 0; its thread then uses the place.
struct LiveStart {
  LiveWord id;  // written last
  LiveWord entry;
  LiveWord ticks;  // 0: not known
};

constexpr std::size_t live_most_open = 128;    // deeper ones are counted
constexpr std::size_t live_most_started = 32;  // likewise
constexpr std::size_t live_name_words = 6;

struct alignas(chunk_alignment) LiveBlock {
  LiveWord state;
  LiveWord asked;    // not 0: look at LiveSection
  LiveWord changed;  // ticks of the last push or pop, where the mode has a clock; 0: not known
  LiveWord owner;    // tid, and one more than the thread's index in bits 32..63; 0: nobody's
  LiveWord since;    // ticks when that thread took it
  LiveWord ended;    // ticks when it ended, with ranges of start and end open; 0: it has not
  LiveWord names;    // how often the name was written; the slot is names % 2
  LiveWord started_beyond;  // start/end ranges that have no place below
  LiveWord name[2][live_name_words];
  LiveWord reserved[4];
  LiveWord open[live_most_open];
  LiveStart started[live_most_started];
};
static_assert(sizeof(LiveBlock) == 1984);
constexpr std::size_t live_blocks_start = 128;  // in their chunk
constexpr std::size_t live_blocks_in(const ChunkHeader& chunk) noexcept {
  return chunk.size < live_blocks_start ? 0 : (chunk.size - live_blocks_start) / sizeof(LiveBlock);
}

// The states of a device range that its thread or the poller has seen last.
enum class LiveDeviceState : std::uint64_t { opened = 1, launched = 2, begun = 3, ended = 4 };

constexpr std::size_t live_most_devices = 256;
constexpr std::size_t live_device_name_words = 6;

// LiveDevice::device: the device, and of NCCL's operations the communicator's rank and ranks.
constexpr std::uint64_t live_device_mask = 0xFFFF;
constexpr std::uint64_t live_member_mask = 0xFFFFFF;
constexpr unsigned live_rank_shift = 16;
constexpr unsigned live_ranks_shift = 40;
// LiveDevice::tid: the thread, and the operation's number, of which the lowest bits.
constexpr unsigned live_number_shift = 32;

// An open device range, written by the program's thread and by the poller, one after the other.
struct alignas(chunk_alignment) LiveDevice {
  LiveWord state;  // LiveDeviceState, with the use of this place in bits 8..63; 0: free
  LiveWord device;
  LiveWord stream;
  LiveWord tid;
  LiveWord since;  // ticks
  LiveWord name[live_device_name_words];
  LiveWord domain[live_device_name_words - 1];
};
static_assert(sizeof(LiveDevice) == 128);

}  // namespace nvspan::record
