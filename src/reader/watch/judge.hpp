// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/tail/recording_tail.hpp"
#include "reader/watch/high_quantile.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::reader {

// killed: gone from within a range, without an end.
enum class TriggerKind : std::uint8_t { slow, stall, killed };

struct TriggerRule {
  TriggerKind kind;
  // slow: the range, as a shell pattern of its name or of "domain:name".
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
    double slow = 0;     // the least factor of the rules that are about this range
    float log_slow = 0;  // its logarithm
    std::string name;
    HighQuantile high;
  };
  static constexpr std::int32_t none = -1;
  static constexpr std::int32_t not_known = -2;

  // The number of a site's range among those that are judged; or none.
  std::int32_t range_of(std::uint32_t site) {
    if (__builtin_expect(site < sites_.size() && sites_[site] != not_known, 1)) {
      return sites_[site];
    }
    return find_range(site);
  }
  std::int32_t find_range(std::uint32_t site);
  void judge_slow(Range& range, double ns, float x, std::vector<Finding>& found, bool& slow) const;
  void add_slow(const Range& range, double ns, double high, bool open,
                std::vector<Finding>& found) const;
  bool judge_ranges(std::vector<Finding>& found, bool all);  // whether there were entries
  void judge_progress(std::vector<Finding>& found, bool moved);

  const std::vector<TriggerRule>& rules_;
  std::string path_;
  RecordingTail tail_;
  bool ranges_ = false;              // a rule is about ranges
  std::vector<std::int32_t> sites_;  // by number: what range_of returns, or not_known
  std::vector<Range> judged_;
  std::vector<TailRange> closed_;
  std::uint64_t told_open_ = 0;  // when the open range began that was reported last, in ticks
  std::uint64_t asked_ = 0;      // when the system was asked for the process, in ns
  bool is_behind_ = false;       // progress_ is
  std::uint64_t progress_ = 0;
  std::uint64_t moved_ = 0;               // when it last did, in ns
  std::vector<std::uint8_t> told_stall_;  // by rule: 1
};

}  // namespace nvspan::reader
