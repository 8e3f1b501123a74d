// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/steps/repeating.hpp"

#include "core/memory/path_table.hpp"
#include "reader/file/recording.hpp"
#include "reader/scan/range_scan.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>

namespace nvspan::reader {
namespace {

// A site within another: what its ranges there come to.
struct Within {
  std::uint32_t site = 0;
  std::uint32_t around = 0;
  std::uint64_t calls = 0;
  std::int64_t total = 0;
};
constexpr std::uint32_t nothing_around = std::numeric_limits<std::uint32_t>::max();

class RepeatScan : public RangeScan<RepeatScan> {
 public:
  explicit RepeatScan(const Recording& recording)
      : RangeScan(recording, Selection::whole()), last_(recording.sites().size()) {}

  std::uint64_t open(const PushRange& range, std::uint64_t parent, const EntryPayload&) {
    return within(range.site, parent == no_row ? nothing_around : pairs[parent].site);
  }
  std::uint64_t opened(const ScannedRange& range, std::uint64_t, std::uint64_t,
                       const EntryPayload&) {
    return range.kind == RangeKind::device ? no_row : within(range.site, nothing_around);
  }
  void ended(const ScannedRange& range) {
    if (range.reason != EndReason::closed || range.row >= pairs.size()) return;
    ++pairs[range.row].calls;
    pairs[range.row].total += range.end - range.start;
  }

  core::LargeVector<Within> pairs;  // in the order they came in

 private:
  struct Last {
    std::uint32_t around = 0;
    std::uint64_t pair = no_row;
  };

  std::uint64_t within(std::uint32_t site, std::uint32_t around) {
    Last& last = last_[site];
    if (last.pair != no_row && last.around == around) return last.pair;
    std::uint64_t& number = numbers_[core::PathKey{around, site}];
    if (number == core::PathTable::none) {
      number = pairs.size();
      pairs.push_back(Within{site, around, 0, 0});
    }
    last = Last{around, number};
    return number;
  }

  std::vector<Last> last_;
  core::PathTable numbers_;
};

// Ranges of several sites may have one name.
class Names {
 public:
  explicit Names(const Recording& recording) : recording_(recording) {}

  void add(const Within& pair) {
    const ReadSite& site = recording_.sites()[pair.site];
    const auto entry = numbers_.try_emplace(name_key(site), names.size());
    if (entry.second) names.push_back(RepeatedName{site.domain, site.name, 0, 0});
    names[entry.first->second].calls += pair.calls;
    names[entry.first->second].total += pair.total;
  }

  std::vector<RepeatedName> names;

 private:
  const Recording& recording_;
  std::unordered_map<std::uint64_t, std::size_t> numbers_;
};

}  // namespace

Repeating find_repeating(const Recording& recording, const std::vector<std::uint8_t>& steps,
                         std::uint64_t least_calls, std::size_t most_phases) {
  RepeatScan scan(recording);
  scan.run_whole();
  const auto is_step = [&](std::uint32_t site) { return site < steps.size() && steps[site] != 0; };
  const bool given = std::find(steps.begin(), steps.end(), 1) != steps.end();
  Names candidates(recording);
  for (const Within& pair : scan.pairs) {
    if (given ? is_step(pair.site) : pair.around != pair.site) candidates.add(pair);
  }
  Repeating found;
  for (const RepeatedName& name : candidates.names) {
    if (name.calls < (given ? 1 : least_calls)) continue;
    if (found.is_found && name.total <= found.step.total) continue;
    found.is_found = true;
    found.step = name;
  }
  if (!found.is_found) return found;
  const auto is_chosen = [&](std::uint32_t site) {
    if (site == nothing_around) return false;
    const ReadSite& of = recording.sites()[site];
    return given ? is_step(site) : of.domain == found.step.domain && of.name == found.step.name;
  };
  Names phases(recording);
  for (const Within& pair : scan.pairs) {
    if (is_chosen(pair.around) && !is_chosen(pair.site)) phases.add(pair);
  }
  found.phases = std::move(phases.names);
  if (found.phases.size() > most_phases) {
    std::vector<std::int64_t> totals;
    for (const RepeatedName& phase : found.phases) totals.push_back(phase.total);
    const auto least = totals.begin() + static_cast<std::ptrdiff_t>(most_phases) - 1;
    std::nth_element(totals.begin(), least, totals.end(), std::greater<>());
    const auto small =
        std::remove_if(found.phases.begin(), found.phases.end(),
                       [&](const RepeatedName& phase) { return phase.total < *least; });
    found.phases.erase(small, found.phases.end());
    if (found.phases.size() > most_phases) found.phases.resize(most_phases);
  }
  return found;
}

}  // namespace nvspan::reader
