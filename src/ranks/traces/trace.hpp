// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What the search for a cause keeps of each rank: its collectives, and what its thread did between
// them. Nothing here knows recordings.

#pragma once

#include "core/text/text_table.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace nvspan::ranks {

constexpr std::int64_t no_sequence = -1;
constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::min();

// Who of a collective needs whom.
enum class CollectiveKind : std::uint8_t { all, from_root, to_root, send, receive, none };

// Of one rank, in ns of its own clock.
struct Collective {
  std::int64_t begin = 0;       // the rank has come
  std::int64_t wait = no_time;  // it begins to wait; no_time: nothing shows that it waits
  std::int64_t end = no_time;
  std::int64_t early = 0;  // by so much earlier, at most, others may have been let go by this rank
  std::uint64_t group = 0;
  std::int64_t sequence = no_sequence;
  std::int64_t bytes = -1;
  std::int32_t op = 0;     // of Traces::texts
  std::int32_t size = -1;  // of the group
  std::int32_t root = -1;  // or the peer of a send or receive, by its rank in the group
  std::int32_t rank = -1;  // its own in the group
  CollectiveKind kind = CollectiveKind::all;
  bool device = false;    // by the GPU's clock
  bool enqueued = false;  // the range shows when the CPU asked for it, not when the GPU did it

  bool gives() const noexcept {
    if (kind == CollectiveKind::all || kind == CollectiveKind::send) return true;
    if (kind == CollectiveKind::receive) return false;
    return (kind == CollectiveKind::from_root) == (rank == root);
  }
  bool takes() const noexcept {
    if (kind == CollectiveKind::all || kind == CollectiveKind::receive) return true;
    if (kind == CollectiveKind::send) return false;
    return (kind == CollectiveKind::to_root) == (rank == root);
  }
};

// A part of the work before a collective: the time within a range and none inside it.
struct Part {
  std::int32_t name = 0;  // of Traces::texts
  std::int64_t ns = 0;
};

struct Step {
  std::int64_t number = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
};

struct RankTrace {
  std::int32_t rank = -1;
  std::uint32_t process = 0;  // of its recording
  std::string path;
  std::string host;
  std::string boot_id;
  std::uint32_t pid = 0;
  bool device = false;     // collectives and work are those of the GPU
  std::int64_t start = 0;  // of its thread
  std::int64_t end = 0;
  std::vector<Collective> collectives;  // by `begin`
  // The work since the collective before, which waiting is no part of: that of the i-th collective
  // is parts[first[i]] to parts[first[i + 1]], by name; the last is behind them all.
  std::vector<std::size_t> first;
  std::vector<Part> parts;
  std::vector<Step> steps;

  std::vector<std::int64_t> sums;  // of the work before the i-th, and all before that

  // The work from the collective before the `from`-th to the `to`-th.
  std::int64_t work(std::size_t from, std::size_t to) const noexcept {
    return sums[to] - (from == 0 ? 0 : sums[from - 1]);
  }
  std::int64_t work(std::size_t from, std::size_t to, std::int32_t name) const noexcept;
};

// A collective by the name that a library gives its range: "ncclAllReduce", "MPI_Allreduce",
// "all_reduce" and "gloo:all_reduce" are "allreduce".
std::string operation_name(std::string_view range);

CollectiveKind operation_kind(std::string_view operation);  // none: not one that ranks wait in

// Traces with the texts that they name, as bytes that workers of one machine and version exchange.
std::string packed_traces(const std::vector<RankTrace>& traces, const core::TextTable& texts);
// Their texts are added to `texts`. Throws SummaryError where these are no such bytes.
std::vector<RankTrace> unpacked_traces(std::string_view bytes, core::TextTable& texts);

}  // namespace nvspan::ranks
