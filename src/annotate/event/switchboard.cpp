// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/event/switchboard.hpp"

#include <charconv>
#include <cstdlib>

namespace nvspan::annotate {

namespace {

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Calls `use` with each non-empty item of a comma-separated list.
template <class Use>
void for_each_item(std::string_view list, Use&& use) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view item = trimmed(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    if (!item.empty()) use(item);
  }
}

bool parse_level(std::string_view text, uint32_t& level) noexcept {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), level);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() &&
         level <= highest_level;
}

std::string_view variable(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view name) noexcept {
  size_t at = 0, in_name = 0;
  size_t star = std::string_view::npos, after_star = 0;
  while (in_name < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      after_star = in_name;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[in_name])) {
      ++at;
      ++in_name;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_name = ++after_star;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

void DomainSwitches::report(std::string_view name, std::string_view item) {
  if (!problem_.empty()) return;
  problem_ = std::string(name) + ": cannot read '" + std::string(item) + "'";
}

DomainSwitches::DomainSwitches(std::string_view domains, std::string_view levels) {
  for_each_item(domains, [&](std::string_view item) {
    const bool enabled = item.front() != '-';
    if (item.front() == '-' || item.front() == '+') item = trimmed(item.substr(1));
    if (item.empty()) return report("NVSPAN_DOMAINS", domains);
    switches_.push_back({std::string(item), enabled, 0});
  });
  for_each_item(levels, [&](std::string_view item) {
    const size_t colon = item.rfind(':');
    const std::string_view pattern =
        colon == std::string_view::npos ? "*" : trimmed(item.substr(0, colon));
    const std::string_view number =
        colon == std::string_view::npos ? item : trimmed(item.substr(colon + 1));
    uint32_t level = 0;
    if (pattern.empty() || !parse_level(number, level)) return report("NVSPAN_LEVEL", item);
    levels_.push_back({std::string(pattern), true, level});
  });
}

DomainSetting DomainSwitches::setting(std::string_view name) const noexcept {
  DomainSetting result;
  for (const Rule& rule : switches_) {
    if (!matches_pattern(rule.pattern, name)) continue;
    result.enabled = rule.enabled;
    result.enabled_given = true;
  }
  for (const Rule& rule : levels_) {
    if (!matches_pattern(rule.pattern, name)) continue;
    result.level = rule.level;
    result.level_given = true;
  }
  return result;
}

const DomainSwitches& DomainSwitches::of_environment() {
  static const DomainSwitches* const board =
      new DomainSwitches(variable("NVSPAN_DOMAINS"), variable("NVSPAN_LEVEL"));
  return *board;
}

}  // namespace nvspan::annotate
