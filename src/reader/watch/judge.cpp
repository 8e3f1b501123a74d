// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/watch/judge.hpp"

#include "core/os/clock.hpp"

#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::uint64_t ask_again = 200'000'000;  // ns
constexpr std::size_t most_levels = 2000;         // of sites that are judged for changes

std::string seconds_text(double ns) {
  char text[32];
  const char* const unit = ns >= 1e9 ? "s" : ns >= 1e6 ? "ms" : "us";
  snprintf(text, sizeof text, "%.4g %s", ns / (ns >= 1e9 ? 1e9 : ns >= 1e6 ? 1e6 : 1e3), unit);
  return text;
}

bool matches(const std::string& pattern, const std::string& domain, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
         ::fnmatch(pattern.c_str(), (domain + ":" + name).c_str(), 0) == 0;
}

}  // namespace

Judge::Judge(const std::vector<TriggerRule>& rules, std::string path)
    : rules_(rules), path_(std::move(path)), told_stall_(rules.size(), 0) {
  for (const TriggerRule& rule : rules_) {
    if (rule.kind == TriggerKind::slow || rule.kind == TriggerKind::change) ranges_ = true;
  }
}

// Null: no rule is about it.
Judge::Range* Judge::range_of(std::uint32_t site) {
  constexpr std::uint32_t most_sites = 1 << 20;
  if (site >= most_sites) return nullptr;
  if (site >= known_.size()) {
    known_.resize(std::size_t{site} + 1, 0);
    sites_.resize(std::size_t{site} + 1);
  }
  if (known_[site] != 0) return sites_[site].get();
  known_[site] = 1;
  const LiveNames::Name read = tail_.name_of(site);
  const std::string domain(read.domain);
  const std::string name(read.text);
  Rules rules;
  for (const TriggerRule& rule : rules_) {
    if (rule.kind == TriggerKind::slow && matches(rule.range, domain, name)) {
      rules.slow = rules.slow == 0 ? rule.value : std::min(rules.slow, rule.value);
    } else if (rule.kind == TriggerKind::change && site < most_levels &&
               matches(rule.range, domain, name)) {
      rules.change = true;
    }
  }
  if (rules.slow == 0 && !rules.change) return nullptr;
  auto range = std::make_unique<Range>();
  range->rules = rules;
  range->name = domain.empty() ? name : domain + ":" + name;
  if (rules.change) range->level = std::make_unique<ChangePoint>();
  sites_[site] = std::move(range);
  return sites_[site].get();
}

void Judge::add_slow(const Range& range, double ns, double high, bool open,
                     std::vector<Finding>& found) const {
  char text[64];
  snprintf(text, sizeof text, "%.3g times its p99 of ", ns / high);
  found.push_back(Finding{"slow", range.name + (open ? " has taken " : " took ") +
                                      seconds_text(ns) + ", " + text + seconds_text(high)});
}

void Judge::judge_ranges(std::vector<Finding>& found) {
  closed_.clear();
  tail_.read_ranges(closed_);
  const double unit = tail_.ns_per_tick();
  bool slow = false;
  for (const TailRange& closed : closed_) {
    Range* range = range_of(closed.site);
    if (range == nullptr) continue;
    const double ns = static_cast<double>(closed.ticks) * unit;
    if (range->rules.slow != 0) {
      const double high = range->high.value();
      if (high != 0 && ns > high * range->rules.slow && !slow) {
        slow = true;
        add_slow(*range, ns, high, false, found);
      }
      range->high.add(ns);
    }
    if (range->level == nullptr || !range->level->add(ns)) continue;
    const double change = range->level->change();
    char text[96];
    snprintf(text, sizeof text, " takes %.1f %% %s, for some %zu calls",
             (change > 1 ? change - 1 : 1 - change) * 100, change > 1 ? "longer" : "less",
             range->level->since());
    found.push_back(Finding{"change", range->name + text});
  }
  // One that is still open is told of as soon as it is too long, and once.
  const std::uint64_t now = tail_.ticks_now();
  tail_.each_open([&](const TailRange& open) {
    Range* range = range_of(open.site);
    if (range == nullptr || range->rules.slow == 0 || slow || now <= open.ticks ||
        open.ticks == told_open_) {
      return;
    }
    const double ns = static_cast<double>(now - open.ticks) * unit;
    const double high = range->high.value();
    if (high == 0 || ns <= high * range->rules.slow) return;
    slow = true;
    told_open_ = open.ticks;
    add_slow(*range, ns, high, true, found);
  });
}

void Judge::judge_progress(std::vector<Finding>& found) {
  const std::uint64_t now = core::monotonic_ns();
  std::uint64_t open = 0;
  const std::uint64_t progress = tail_.progress(open);
  if (progress != progress_ || progress == 0) {
    progress_ = progress;
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
    found.push_back(Finding{"stall", "no event for " + seconds_text(rest)});
  }
}

bool Judge::look(std::vector<Finding>& found, bool last) {
  const std::uint64_t now = core::monotonic_ns();
  bool ended = false;
  bool gone = false;
  if (last || now - asked_ >= ask_again) {
    asked_ = now;
    // One that is gone may have ended since it was asked for its end.
    gone = ::kill(static_cast<pid_t>(header().pid), 0) != 0 && errno == ESRCH;
    ended = tail_.is_closed();
  }
  if (ranges_) judge_ranges(found);
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
  judge_progress(found);
  return true;
}

}  // namespace nvspan::reader
