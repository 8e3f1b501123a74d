// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/projection/module_sites.hpp"

#include "reader/projection/sequence_names.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace nvspan::reader {

bool drop_repeat_mark(std::string_view& name) noexcept {
  constexpr std::string_view mark = " (recompute)";
  const bool has_mark = name.size() > mark.size() && name.substr(name.size() - mark.size()) == mark;
  if (has_mark) name.remove_suffix(mark.size());
  return has_mark;
}

ModuleSites::ModuleSites(const Recording& recording, const std::vector<std::uint32_t>& forward)
    : recording_(recording) {
  const auto& sites = recording.sites();
  passes_.resize(sites.size());
  std::unordered_map<std::string_view, std::int32_t> modules;
  std::set<std::uint32_t> domains;
  for (const std::uint32_t i : forward) {
    if (i >= sites.size()) continue;
    modules.emplace(recording.text(sites[i].name), sites[i].name);
    domains.insert(sites[i].domain);
    if (sites[i].device == 0 && !sites[i].backward) passes_[i] = Pass{sites[i].name, false};
  }
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (passes_[i].module >= 0 || domains.count(sites[i].domain) == 0) continue;
    std::string_view name = recording.text(sites[i].name);
    const bool repeated = drop_repeat_mark(name);
    if (!repeated && !sites[i].backward) continue;
    const auto found = modules.find(name);
    if (found != modules.end()) passes_[i] = Pass{found->second, true};
  }
}

void ModuleSites::find_numbers(const CpuRanges& ranges) {
  const auto& sites = recording_.sites();
  std::vector<Sequence> sequences(sites.size());
  bool any = false;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const std::string_view name = recording_.text(sites[i].name);
    sequences[i].number = sequence_of(name);
    if (!sequences[i].number) continue;
    sequences[i].is_backward = is_backward_name(name);
    any = any || sequences[i].is_backward;
  }
  if (!any) return;
  sequences_ = std::move(sequences);
  for (std::uint32_t thread = 0; thread < ranges.threads(); ++thread) {
    const auto& of = ranges.of_thread(thread);
    for (std::size_t i = 0; i < of.size(); ++i) {
      const Sequence& sequence = sequences_[of[i].site];
      if (!sequence.number || sequence.is_backward) continue;
      forward_[{ranges.process_of(thread), *sequence.number}].push_back(
          Place{of[i].start, thread, static_cast<std::uint32_t>(i)});
    }
  }
  for (auto& [key, places] : forward_) {
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.start < b.start; });
  }
}

ModuleSites::Pass ModuleSites::pass_of(const CpuRanges& ranges, std::uint32_t thread,
                                       std::uint32_t place, std::int64_t time) const {
  std::optional<std::int64_t> number;
  std::int64_t start = 0;
  for (; place != CpuRanges::no_place; place = ranges.around(thread, place, time)) {
    const CpuRange& range = ranges.of_thread(thread)[place];
    if (passes_[range.site].module >= 0) return passes_[range.site];
    if (sequences_.empty() || number || !sequences_[range.site].is_backward) continue;
    number = sequences_[range.site].number;
    start = range.start;
  }
  if (!number) return {};
  const auto found = forward_.find({ranges.process_of(thread), *number});
  if (found == forward_.end()) return {};
  // Numbers of forward ranges are those of the next node that is made: the last range made it.
  const auto after =
      std::upper_bound(found->second.begin(), found->second.end(), start,
                       [](std::int64_t until, const Place& one) { return until < one.start; });
  if (after == found->second.begin()) return {};
  const Place& forward = *(after - 1);
  place = forward.place;
  for (; place != CpuRanges::no_place;
       place = ranges.around(forward.thread, place, forward.start)) {
    const Pass& pass = passes_[ranges.of_thread(forward.thread)[place].site];
    if (pass.module >= 0) return Pass{pass.module, true};
  }
  return {};
}

}  // namespace nvspan::reader
