// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cupti/abi.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::cupti {

enum class SeenKind : std::uint8_t { kernel, copy, set, graph, allocation, release };

// With what a kernel was launched.
struct SeenShape {
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t registers = 0;
  std::uint32_t static_shared = 0, dynamic_shared = 0;  // bytes
};

// A node of a graph, or what it was cloned from: an executable graph has clones of the nodes that a
// capture made. All clones of one have its number.
struct SeenNode {
  std::uint32_t number = 0;         // 0: not known
  std::uint32_t tid = 0;            // of the thread that made it
  std::uint64_t made = 0;           // when; of the registered clock, as the next one
  std::uint64_t capture_began = 0;  // that it was made in; 0: in none
};

// A piece of a GPU's work, or a use of memory, of whatever version of CUPTI its record is.
struct SeenWork {
  SeenKind kind = SeenKind::kernel;
  std::uint64_t start = 0, end = 0;  // of the registered clock; 0: not known
  std::uint32_t correlation = 0;
  std::uint32_t device = 0, context = 0, stream = 0;
  std::uint64_t bytes = 0;    // of a copy, a set or memory
  std::uint64_t address = 0;  // of memory
  std::uint32_t detail = 0;   // of a copy: its direction; of a graph: its number; the memory's kind
  const char* name = nullptr;    // of a kernel, mangled; lives as long as its record
  SeenShape shape;               // of a kernel
  std::uint64_t graph_node = 0;  // CUPTI's number; 0: it is not one of a graph's
  SeenNode node;                 // that it is
};

// A GPU, and the most that one of its processors has at once.
struct SeenDevice {
  std::uint32_t device = 0;
  std::uint32_t major_capability = 0, minor_capability = 0;
  std::uint32_t processors = 0;
  std::uint32_t threads_of_warp = 0;
  std::uint32_t warps = 0, blocks = 0, registers = 0;
  std::uint32_t shared_bytes = 0;
  const char* name = nullptr;  // lives as long as its record
};
// False: the record is of something else.
bool read_device(const ActivityRecord& record, SeenDevice& device);

// False: the record is none of these.
bool read_record(const ActivityRecord& record, SeenWork& work);

// Of SeenWork::detail, as Nsight Systems calls it: "Host-to-Device".
std::string_view copy_direction(std::uint32_t detail);
// Likewise: "Device".
std::string_view memory_kind(std::uint32_t detail);

}  // namespace nvspan::cupti
