// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a GPU did: kernels, copies, sets and graphs, and the calls that launched them. A call is an
// entry of its thread, the work one of the lane of deferred events; both have CUPTI's correlation
// number, by which a reader finds the call of a piece of work.
//
// EntryKind::call: its time is that of the call's return; then a word, launch_word().
// EntryKind::work: its time is that of the work's beginning; then launch_word(), place_word(), and
// with entry_payload_bit how many bytes a copy or set is of, or, where
// place_word() says so, a node_word().

#pragma once

#include "record/file/format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::record {

// Imported reports of other tools have calls and work in domains of these names, too.
constexpr std::string_view call_domain = "CUDA API";
constexpr std::string_view work_domain = "CUDA";

// The category of a piece of work in its domain.
enum class WorkKind : std::uint32_t { kernel = 1, copy = 2, set = 3, graph = 4 };
constexpr std::string_view work_kind_text(WorkKind kind) {
  return kind == WorkKind::kernel ? "kernel"
         : kind == WorkKind::copy ? "copy"
         : kind == WorkKind::set  ? "set"
                                  : "graph";
}

constexpr std::size_t call_words = 1;
constexpr std::size_t work_words = 2;

// A duration in 31 bits: ticks, or, with the highest bit, units of 1,024 ticks.
constexpr std::uint32_t long_duration = std::uint32_t{1} << 31;
constexpr unsigned long_duration_shift = 10;
constexpr std::uint32_t pack_duration(std::uint64_t ticks) {
  if (ticks < long_duration) return static_cast<std::uint32_t>(ticks);
  const std::uint64_t units = ticks >> long_duration_shift;
  return long_duration |
         static_cast<std::uint32_t>(std::min<std::uint64_t>(units, long_duration - 1));
}
constexpr std::uint64_t unpack_duration(std::uint32_t packed) {
  if ((packed & long_duration) == 0) return packed;
  return std::uint64_t{packed & ~long_duration} << long_duration_shift;
}

struct LaunchWord {
  std::uint32_t correlation = 0;
  std::uint64_t duration = 0;  // ticks
};
constexpr std::uint64_t launch_word(const LaunchWord& launch) {
  return std::uint64_t{launch.correlation} << 32 | pack_duration(launch.duration);
}
constexpr LaunchWord read_launch_word(std::uint64_t bits) {
  return LaunchWord{static_cast<std::uint32_t>(bits >> 32),
                    unpack_duration(static_cast<std::uint32_t>(bits))};
}

// Where work ran; numbers are CUPTI's. The highest 8 bits are zero.
struct WorkPlace {
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
};
constexpr std::uint32_t most_device = 0xFF, most_context = 0xFFFF;
constexpr std::uint64_t place_word(const WorkPlace& place) {
  return place.stream | std::uint64_t{std::min(place.context, most_context)} << 32 |
         std::uint64_t{std::min(place.device, most_device)} << 48;
}
constexpr WorkPlace read_place_word(std::uint64_t bits) {
  return WorkPlace{static_cast<std::uint32_t>(bits >> 48) & most_device,
                   static_cast<std::uint32_t>(bits >> 32) & most_context,
                   static_cast<std::uint32_t>(bits)};
}

// Work of a node of a graph whose making was seen: of which one, and how many bytes it is of.
constexpr std::uint64_t has_node_word = std::uint64_t{1} << 63;  // in place_word()
constexpr unsigned node_shift = 40;
constexpr std::uint64_t most_node_bytes = (std::uint64_t{1} << node_shift) - 1;
constexpr std::uint64_t node_word(std::uint32_t node, std::uint64_t bytes) {
  return std::uint64_t{node} << node_shift | std::min(bytes, most_node_bytes);
}
struct NodeWord {
  std::uint32_t node = 0;
  std::uint64_t bytes = 0;
};
constexpr NodeWord read_node_word(std::uint64_t bits) {
  return NodeWord{static_cast<std::uint32_t>(bits >> node_shift), bits & most_node_bytes};
}
// A node, before the first entry that cites it: which ranges were open on that thread when it was
// made says what its work is part of, at every replay.
struct GraphNodeDefinition {
  std::uint64_t made;           // ticks
  std::uint64_t capture_began;  // ticks; 0: it was not captured, but made by its own call
  std::uint32_t node;
  std::uint32_t tid;  // the system's number for the thread
};
static_assert(sizeof(GraphNodeDefinition) == 24);

// With what a kernel was launched. All kernels of a site have the same; others of its name have
// another site.
struct LaunchShape {
  std::uint32_t grid[3];         // blocks
  std::uint32_t block[3];        // threads
  std::uint32_t registers;       // of a thread
  std::uint32_t static_shared;   // bytes of shared memory of a block
  std::uint32_t dynamic_shared;  // likewise
};
// Follows that of its site, before the first entry that cites it. A kernel's site that has none:
// its shape is not known, as those of many shapes are not all kept.
struct LaunchShapeDefinition {
  std::uint32_t site;
  LaunchShape shape;
};
static_assert(sizeof(LaunchShapeDefinition) == 40);

// A GPU: of a multiprocessor of it, the most that it has at once.
struct GpuLimitsDefinition {
  std::uint32_t device;
  std::uint32_t major_capability;
  std::uint32_t minor_capability;
  std::uint32_t processors;  // multiprocessors
  std::uint32_t threads_of_warp;
  std::uint32_t warps;
  std::uint32_t blocks;
  std::uint32_t registers;
  std::uint32_t shared_bytes;
  std::uint32_t name;  // of its StringDefinition; no_string: none
};
static_assert(sizeof(GpuLimitsDefinition) == 40);

// Time in which the work of GPUs was not taken, or not all of it, where it was wanted.
enum class GapReason : std::uint32_t {
  lent = 1,     // a profiler of the program had CUPTI
  refused = 2,  // CUPTI was not to be had
  dropped = 3,  // CUPTI had no room for some
};
// Written when it begins and again when it ends: of those of one reason and beginning the last one
// counts.
struct WorkGapDefinition {
  std::uint64_t from;  // ticks
  std::uint64_t to;    // 0: it had not ended
  std::uint32_t reason;
  std::uint32_t reserved;
};
static_assert(sizeof(WorkGapDefinition) == 24);

}  // namespace nvspan::record
