// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/watch/judge.hpp"

#include "core/os/clock.hpp"
#include "core/text/number_text.hpp"
#include "reader/live/writer_process.hpp"

#include <fnmatch.h>
#include <stdio.h>

#include <algorithm>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::uint64_t ask_again = 200'000'000;  // ns

std::string duration_text(double ns) {
  return core::DurationText(static_cast<std::uint64_t>(ns)).text();
}

bool matches(const std::string& pattern, const std::string& domain, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
         ::fnmatch(pattern.c_str(), (domain + ":" + name).c_str(), 0) == 0;
}

}  // namespace

Judge::Judge(const std::vector<TriggerRule>& rules, std::string path)
    : rules_(rules), path_(std::move(path)), told_stall_(rules.size(), 0) {
  for (const TriggerRule& rule : rules_) {
    if (rule.kind == TriggerKind::slow) ranges_ = true;
  }
}

std::int32_t Judge::find_range(std::uint32_t site) {
  constexpr std::uint32_t most_sites = 1 << 20;
  if (site >= most_sites) return none;
  const LiveNames::Name read = tail_.name_of(site);
  const std::string domain(read.domain);
  const std::string name(read.text);
  Range range;
  for (const TriggerRule& rule : rules_) {
    if (rule.kind == TriggerKind::slow && matches(rule.range, domain, name)) {
      range.slow = range.slow == 0 ? rule.value : std::min(range.slow, rule.value);
    }
  }
  if (site >= sites_.size()) sites_.resize(std::size_t{site} + 1, not_known);
  if (range.slow == 0) return sites_[site] = none;
  range.log_slow = log_of(range.slow);
  range.name = domain.empty() ? name : domain + ":" + name;
  sites_[site] = static_cast<std::int32_t>(judged_.size());
  judged_.push_back(std::move(range));
  return sites_[site];
}

void Judge::add_slow(const Range& range, double ns, double high, bool open,
                     std::vector<Finding>& found) const {
  char text[64];
  snprintf(text, sizeof text, "%.3g times its p99 of ", ns / high);
  found.push_back(Finding{"slow", range.name + (open ? " has taken " : " took ") +
                                      duration_text(ns) + ", " + text + duration_text(high)});
}

inline void Judge::judge_slow(Range& range, double ns, float x, std::vector<Finding>& found,
                              bool& slow) const {
  if (!slow && range.high.is_exceeded(x, range.log_slow)) {
    slow = true;
    add_slow(range, ns, range.high.value(), false, found);
  }
  range.high.add_log(x);
}

bool Judge::judge_ranges(std::vector<Finding>& found, bool all) {
  closed_.clear();
  const bool moved = tail_.read_ranges(closed_, all);
  const double unit = tail_.ns_per_tick();
  bool slow = false;
  for (const TailRange& closed : closed_) {
    const std::int32_t range = range_of(closed.site());
    if (range == none) continue;
    const double ns = static_cast<double>(closed.ticks) * unit;
    judge_slow(judged_[static_cast<std::size_t>(range)], ns, log_of(ns), found, slow);
  }
  // One that is still open is told of as soon as it is too long, and once.
  const std::uint64_t now = tail_.ticks_now();
  tail_.each_open([&](const TailRange& open) {
    if (slow || now <= open.ticks || open.ticks == told_open_) return;
    const std::int32_t number = range_of(open.site());
    if (number == none) return;
    const Range& range = judged_[static_cast<std::size_t>(number)];
    const double ns = static_cast<double>(now - open.ticks) * unit;
    if (!range.high.is_exceeded(log_of(ns), range.log_slow)) return;
    slow = true;
    told_open_ = open.ticks;
    add_slow(range, ns, range.high.value(), true, found);
  });
  return moved;
}

// `moved`: there were entries. Then nobody need ask for the count of events, which takes longer;
// the next time it is asked for, it has moved by those entries, and that says nothing.
void Judge::judge_progress(std::vector<Finding>& found, bool moved) {
  const std::uint64_t now = core::monotonic_ns();
  if (moved) {
    is_behind_ = true;
  } else {
    std::uint64_t open = 0;
    const std::uint64_t progress = tail_.progress(open);
    moved = progress == 0 || (progress != progress_ && !is_behind_);
    progress_ = progress;
    is_behind_ = false;
  }
  if (moved) {
    moved_ = now;
    std::fill(told_stall_.begin(), told_stall_.end(), std::uint8_t{0});
    return;
  }
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const double rest = static_cast<double>(now - moved_);
    if (rules_[i].kind != TriggerKind::stall || told_stall_[i] != 0 ||
        rest < rules_[i].value * 1e9) {
      continue;
    }
    told_stall_[i] = 1;
    found.push_back(Finding{"stall", "no event for " + duration_text(rest)});
  }
}

bool Judge::look(std::vector<Finding>& found, bool last) {
  const std::uint64_t now = core::monotonic_ns();
  bool gone = false;
  if (last || now - asked_ >= ask_again) {
    asked_ = now;
    // One that is gone may have ended since it was asked for its end.
    gone = is_writer_gone(header());
  }
  tail_.refresh();
  const bool ended = tail_.is_closed();
  const bool moved = ranges_ && judge_ranges(found, last || gone || ended);
  if (ended) return false;
  if (gone) {
    // A child of multiprocessing leaves without an end as well, but not from within a range.
    std::uint64_t open = 0;
    tail_.progress(open);
    if (open == 0) return false;
    for (const TriggerRule& rule : rules_) {
      if (rule.kind != TriggerKind::killed) continue;
      found.push_back(Finding{"killed", "the process was ended within a range"});
      break;
    }
    return false;
  }
  judge_progress(found, moved);
  return true;
}

}  // namespace nvspan::reader
