// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the environment says of single domains, read once, when the first domain is made:
//   NVSPAN_DOMAINS="-*,+mylib"     off and on, by pattern
//   NVSPAN_LEVEL="mylib:3,*:1"     verbosity, by pattern; a bare number stands for "*:number"
// Patterns have * and ?; the last one that matches a name decides. The default domain's name is
// "NVTX". What cannot be read is reported by switchboard_problem() and otherwise ignored.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvspan::annotate {

constexpr uint32_t default_level = 1;
constexpr uint32_t highest_level = 1000;

struct DomainSetting {
  bool enabled = true;
  bool enabled_given = false;  // by the environment, likewise
  uint32_t level = default_level;
  bool level_given = false;  // by the environment, which is stronger than the program
};

class DomainSwitches {
 public:
  // Parses the two variables' values.
  DomainSwitches(std::string_view domains, std::string_view levels);

  DomainSetting setting(std::string_view name) const noexcept;
  const std::string& problem() const noexcept { return problem_; }

  static const DomainSwitches& of_environment();

 private:
  struct Rule {
    std::string pattern;
    bool enabled;
    uint32_t level;
  };

  void report(std::string_view variable, std::string_view item);

  std::vector<Rule> switches_;
  std::vector<Rule> levels_;
  std::string problem_;
};

// Whether `name` matches a pattern of literal characters, * and ?.
bool matches_pattern(std::string_view pattern, std::string_view name) noexcept;

}  // namespace nvspan::annotate
