// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/projection/occupancy.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::uint64_t register_unit = 256;  // of a warp

// How a multiprocessor allocates, by its compute capability.
struct Allocation {
  std::uint64_t parts;            // each has its share of the registers, and whole warps
  std::uint64_t shared_unit;      // bytes
  std::uint64_t reserved_shared;  // bytes of each block that the driver takes
};

std::optional<Allocation> allocation_of(std::uint32_t major, std::uint32_t minor) {
  constexpr std::uint32_t first = 5, first_with_reserved = 8, last = 12;
  if (major < first || major > last) return std::nullopt;
  const bool has_halves = major == 6 && minor == 0;
  const bool reserves = major >= first_with_reserved;
  return Allocation{has_halves ? 2U : 4U, reserves ? 128U : 256U, reserves ? 1024U : 0U};
}

constexpr std::uint64_t divided_up(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

}  // namespace

std::optional<Occupancy> find_occupancy(const record::GpuLimitsDefinition& gpu,
                                        const record::LaunchShape& shape) {
  const auto allocation = allocation_of(gpu.major_capability, gpu.minor_capability);
  const std::uint64_t threads = std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  if (!allocation || threads == 0 || gpu.threads_of_warp == 0) return std::nullopt;
  const std::uint64_t warps = divided_up(threads, gpu.threads_of_warp);
  const std::uint64_t of_warp =
      divided_up(std::uint64_t{shape.registers} * gpu.threads_of_warp, register_unit) *
      register_unit;
  const std::uint64_t own_shared =
      std::uint64_t{shape.static_shared} + shape.dynamic_shared + allocation->reserved_shared;
  const std::uint64_t shared =
      divided_up(own_shared, allocation->shared_unit) * allocation->shared_unit;
  const std::uint64_t warps_of_part =
      of_warp == 0 ? gpu.warps : gpu.registers / allocation->parts / of_warp;
  const std::array<std::pair<std::string_view, std::uint64_t>, 4> limits{{
      {"warps", gpu.warps / warps},
      {"blocks", gpu.blocks},
      {"registers", warps_of_part * allocation->parts / warps},
      {"shared memory", shared == 0 ? gpu.blocks : gpu.shared_bytes / shared},
  }};
  Occupancy found;
  found.blocks = std::min_element(limits.begin(), limits.end(), [](const auto& a, const auto& b) {
                   return a.second < b.second;
                 })->second;
  if (found.blocks == 0) return std::nullopt;
  found.share = static_cast<double>(found.blocks * warps) / gpu.warps;
  for (const auto& [name, blocks] : limits) {
    // All of it is in use: that others would allow no more says nothing.
    const bool is_full = found.blocks * warps == gpu.warps && !found.limiter.empty();
    if (blocks != found.blocks || is_full) continue;
    if (!found.limiter.empty()) found.limiter += " and ";
    found.limiter += name;
  }
  return found;
}

}  // namespace nvspan::reader
