// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/samples/callers.hpp"

#include "reader/samples/chosen_slots.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::uint32_t nobody = 0xFFFFFFFF;
constexpr std::size_t most_callers = 2;  // of a function

// The frame of a stack that called the function of its innermost frame.
std::uint32_t caller_in(const SampleTables& tables, const ShownStacks& shown, std::uint32_t stack) {
  for (std::uint32_t at = stack; at != 0; at = tables.stacks[at].parent) {
    if (shown.shows(at, stack) && shown.place[at] != shown.self[stack]) {
      return tables.stacks[at].frame;
    }
  }
  return nobody;
}

}  // namespace

std::vector<FunctionCaller> function_callers(const Recording& recording, const SampleSums& sums,
                                             const LineOptions& options) {
  std::vector<LinePlace> functions, calls;
  LinePlaces functions_of(recording, LineKey::function, functions);
  LinePlaces calls_of(recording, LineKey::line, calls);
  const ChosenSlots chosen(recording, sums, options);
  std::map<std::uint32_t, std::map<std::uint32_t, double>> times;  // by function and call
  for (std::size_t process = 0; process < recording.processes().size(); ++process) {
    const SampleTables& tables = recording.processes()[process].samples;
    if (tables.chunks.empty()) continue;
    const ShownStacks shown(tables, functions_of,
                            hidden_codes(recording, tables, LineKey::function, options.hidden));
    std::vector<double> of_stack(tables.stacks.size());
    const std::size_t first = process * SampleSums::blocks_of_process;
    for (std::size_t block = first; block < first + SampleSums::blocks_of_process; ++block) {
      for (const SampleCell& cell : sums.blocks()[block]) {
        if (!chosen.has(cell.slot)) continue;
        of_stack[sums.slots()[cell.slot].stack] += static_cast<double>(cell.time.all());
      }
    }
    for (std::uint32_t stack = 1; stack < of_stack.size(); ++stack) {
      if (of_stack[stack] == 0) continue;
      const std::uint32_t frame = caller_in(tables, shown, stack);
      const std::uint32_t call = frame == nobody ? nobody : calls_of.number(tables, frame);
      times[shown.self[stack]][call] += of_stack[stack];
    }
  }
  std::vector<FunctionCaller> found;
  for (const auto& [function, of_calls] : times) {
    double all = 0;
    for (const auto& [call, time] : of_calls) all += time;
    std::vector<std::pair<std::uint32_t, double>> callers(of_calls.begin(), of_calls.end());
    std::stable_sort(callers.begin(), callers.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    callers.resize(std::min(callers.size(), most_callers));
    for (const auto& [call, time] : callers) {
      const LinePlace caller = call == nobody ? LinePlace() : calls[call];
      found.push_back({functions[function], caller, time / all});
    }
  }
  return found;
}

}  // namespace nvspan::reader
