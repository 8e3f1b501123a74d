// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The samples of a recording: where its Python threads were, looked at many times a second. They
// are in chunks of their own (ChunkType::samples); what they cite is defined (DefinitionType::code
// to sampled_thread) before. docs/recording-format.md explains it.

#pragma once

#include <cstddef>
#include <cstdint>

namespace nvspan::record {

// The body of a sample chunk is numbers without a gap, each written plus one, 7 bits a byte, the
// lowest first; the highest bit says that more follow. So no number begins with a byte of zero, nor
// ends with one: where one does, nothing more was written. The first number is the shift that makes
// a unit of time of ticks, and packed_records; records follow. A record's first byte is written
// last.
//
// A sample of the thread that the record before is of is one number, of `time`: the time since that
// record less UsualStep, zigzag, and `stack`:
//
//   stack << 5 | time                      if `time` is below 32
//   2^12 + ((time - 32) << 3 | stack)      if it is not, and this is below 2^14 and `stack` below 8
//   2^14 + ((time - 32) << 7 | stack)      else
//   change                                 if `stack` is 127
//
// `stack` is 0 to 2 and 4 to 7 for places 1 to 7 of the thread's RecentStacks. From 8 on it is 8
// more than the number of the stack less that of the record before, zigzag, and the thread runs;
// at 127 that difference follows.
//
// Any record:
//
//   3 << 5 | has_time << 4 | recent << 1 | other_thread
//   time                                   if has_time, else 0: in units since the record before it
//                                          in the chunk;
//                                          the first one's since `base_ticks`. `recent`: a place in
//                                          the thread's RecentStacks; 0: what changed follows
//   thread                                 if other_thread: of SampledThreadDefinition. Where it
//                                          is 0, also that of the record before, no sample
//                                          follows, but a SampleNote and its numbers
//   change << 4 | state << 2 | share << 1 | still
//                                          if not recent. `change`: the number of the stack less
//                                          that of the thread's last record, zigzag
//   part                                   if `share`: a number up to sample_whole
//   looks, ago                             if `still`
//
// A chunk presumes nothing of the one before it: its first record is of `other_thread`, the first
// one of a thread is not recent, and its `change` is from stack 0. In it each thread is said again
// where it is.
//
// `part`: of the time since the sampler last looked at the thread, how much it ran; without it all
// of the time, if it runs now, else none. What that leaves out or adds counts in the next record.
// `still`: the thread did not run at all at `looks` looks before this one, the last of them `ago`
// units before; they have no records.
//
// Without packed_records, as files of before have it, a sample of the same thread is
// `time << 2 | other_stack << 1 | 1`, then if other_stack a number: up to most_recent the place
// less first_recent, else 6 more than the change of the stack; and any record `time << 5 | recent
// << 2 | other_thread << 1`.
constexpr std::uint64_t packed_records = 64;
constexpr unsigned tsc_time_shift = 15, system_time_shift = 14;  // about 13 and 16 us
constexpr unsigned first_recent = 2, most_recent = 5;            // of a `stack`
constexpr unsigned least_time_shift = 8, most_time_shift = 32;
constexpr unsigned sample_whole = 125;

enum class SampleState : std::uint8_t {
  waiting,  // blocked: for a lock, for the operating system, for time to pass
  running,
  ready,  // it would run, had it a processor
};

enum class SampleNote : std::uint8_t {
  period = 1,  // one number: microseconds from a look at a thread to the next, from now on
  // Those of SampleCounts, of the recording so far.
  counts = 2,
  ended = 3,  // one number: the thread that is no more
};

// Of a recording: how often the sampler looked, and what it did not get.
struct SampleCounts {
  std::uint64_t looks = 0;     // of the sampler at the process
  std::uint64_t samples = 0;   // of a thread each, those of threads that stood still included
  std::uint64_t torn = 0;      // the thread changed its stack too fast
  std::uint64_t unnamed = 0;   // a function was freed or could not be read
  std::uint64_t cut = 0;       // kept without a part of its frames: it was too deep, or past the
                               // budget
  std::uint64_t unlisted = 0;  // looks at which the list of threads could not be read to its end
  std::uint64_t cpu_us = 0;    // that the sampler's thread ran
};
constexpr std::size_t sample_counts = sizeof(SampleCounts) / sizeof(std::uint64_t);

// --- definitions ---------------------------------------------------------------------------------
//
// Numbers begin with 1.

struct CodeDefinition {
  std::uint32_t id;
  std::uint32_t file;
  std::uint32_t function;  // its qualified name; on CPython 3.10 its name
  std::uint32_t first_line;
};

constexpr std::uint16_t no_column = 0xFFFF;  // not known, or beyond
struct FrameDefinition {
  std::uint32_t id;
  std::uint32_t code;
  std::uint32_t line;  // 0: of no line
  std::uint32_t end_line;
  std::uint16_t column;  // in bytes of UTF-8
  std::uint16_t end_column;
  std::uint32_t c_function;  // one more than the string of the C function that it is in; 0: none
};
static_assert(sizeof(FrameDefinition) == 24);

// The stack `parent` with one more frame, the innermost. Stack 0 is empty.
struct StackDefinition {
  std::uint32_t id;
  std::uint32_t parent;
  std::uint32_t frame;
  std::uint32_t reserved;
};
struct SampledThreadDefinition {
  std::uint32_t id;
  std::uint32_t tid;
  std::uint64_t ticks;
};

}  // namespace nvspan::record
