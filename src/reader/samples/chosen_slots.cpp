// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/samples/chosen_slots.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace nvspan::reader {

ChosenSlots::ChosenSlots(const Recording& recording, const SampleSums& sums,
                         const LineOptions& options)
    : slots_(sums.slots()), paths_(options.paths) {
  if (options.idle || slots_.empty()) return;
  constexpr double least_ran = 0.01;  // of a thread's time
  std::map<std::pair<std::uint32_t, std::uint32_t>, SampleTime> threads;
  for (const auto& block : sums.blocks()) {
    for (const SampleCell& cell : block) {
      const SampleSlot& slot = slots_[cell.slot];
      threads[{slot.process, slot.thread}] += cell.time;
    }
  }
  for (const auto& [key, time] : threads) {
    const ReadProcess& process = recording.processes()[key.first];
    const double ran = static_cast<double>(time.all() - time.ns[2]);
    if (process.samples.threads[key.second].tid == process.header.pid ||
        ran >= least_ran * static_cast<double>(time.all())) {
      continue;
    }
    idle_keys_.push_back(key);
  }
  if (idle_keys_.empty()) return;
  left_out_.resize(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    left_out_[i] = slots_[i].path == 0 && is_idle(slots_[i].process, slots_[i].thread);
  }
  for (const auto& block : sums.blocks()) {
    for (const SampleCell& cell : block) {
      if (left_out_[cell.slot]) idle_ += cell.time;
    }
  }
}

bool ChosenSlots::is_idle(std::uint32_t process, std::uint32_t thread) const {
  return std::binary_search(idle_keys_.begin(), idle_keys_.end(), std::make_pair(process, thread));
}

}  // namespace nvspan::reader
