// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/tail/recording_tail.hpp"
#include "reader/watch/change_point.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::reader {

// killed: gone from within a range, without an end.
enum class TriggerKind : std::uint8_t { slow, change, stall, killed };

struct TriggerRule {
  TriggerKind kind;
  // slow, change: the range, as a shell pattern of its name or of "domain:name".
  std::string range;
  double value;  // slow: times the p99; stall: seconds
};

struct Finding {
  std::string kind;
  std::string why;  // a sentence
};

// One recording, judged by the rules while it is written.
class Judge {
 public:
  Judge(const std::vector<TriggerRule>& rules, std::string path);

  bool open() { return tail_.open(path_); }
  // What has been found since, of one look at most a finding for each rule. False: the recording
  // has ended.
  bool look(std::vector<Finding>& found, bool last = false);
  const std::string& path() const noexcept { return path_; }
  const record::FileHeader& header() const noexcept { return tail_.header(); }

 private:
  struct Range {
    double slow = 0;     // the least factor of the rules that are about this range; 0: none
    float log_slow = 0;  // its logarithm
    std::string name;
    HighQuantile high;
  };
  // Of a range's name. Indices: most ranges have a level and need no look at their Range.
  struct Site {
    std::int32_t range = not_known;
    std::int32_t level = none;  // where a rule asks for changes
    bool slow = false;          // a rule asks how slow it is
  };
  static constexpr std::int32_t none = -1;
  static constexpr std::int32_t not_known = -2;

  Site site_of(std::uint32_t site) {
    if (__builtin_expect(site < sites_.size() && sites_[site].range != not_known, 1)) {
      return sites_[site];
    }
    return find_site(site);
  }
  Site find_site(std::uint32_t site);
  void judge_slow(Range& range, double ns, float x, std::vector<Finding>& found, bool& slow) const;
  void add_change(Site site, std::vector<Finding>& found) const;
  void add_slow(const Range& range, double ns, double high, bool open,
                std::vector<Finding>& found) const;
  bool judge_ranges(std::vector<Finding>& found, bool all);  // whether there were entries
  void judge_progress(std::vector<Finding>& found, bool moved);

  const std::vector<TriggerRule>& rules_;
  std::string path_;
  RecordingTail tail_;
  bool ranges_ = false;      // a rule is about ranges
  std::vector<Site> sites_;  // by number
  std::vector<Range> judged_;
  std::vector<ChangePoint> levels_;
  std::vector<TailRange> closed_;
  std::uint64_t told_open_ = 0;  // when the open range began that was reported last, in ticks
  std::uint64_t asked_ = 0;      // when the system was asked for the process, in ns
  bool is_behind_ = false;       // progress_ is
  std::uint64_t progress_ = 0;
  std::uint64_t moved_ = 0;               // when it last did, in ns
  std::vector<std::uint8_t> told_stall_;  // by rule: 1
};

}  // namespace nvspan::reader
