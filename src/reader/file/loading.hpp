// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/file/recording.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nvspan::reader {

constexpr std::uint32_t no_definition = 0xFFFFFFFF;  // in place of an id

// One file while it is read: its own numbers, before they become those of the Recording.
struct Recording::Loading {
  ReadProcess& process;
  std::uint32_t index;
  std::size_t bytes;
  std::vector<ReadChunk> definitions;
  std::vector<ReadChunk> lost_stats;      // chunks
  std::uint64_t damaged_definitions = 0;  // bytes
  std::vector<std::int32_t> strings;
  std::vector<record::SiteDefinition> sites;
  std::unordered_map<std::uint32_t, record::LaunchShape> shapes;  // by site
  std::vector<std::int32_t> domain_names;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int32_t> categories;
  std::vector<record::CounterDefinition> counters;
  std::map<std::uint32_t, record::CounterMeaningDefinition> meanings;
  std::unordered_map<std::uint32_t, std::uint32_t> threads;
  std::vector<record::ThreadName> thread_names;

  Loading(ReadProcess& of, std::uint32_t number, std::size_t size)
      : process(of), index(number), bytes(size) {}

  bool is_checked() const { return process.header.version != record::version_without_checksums; }
  // Every number has a record of its own, so none is larger than the file has words.
  bool fits(std::uint32_t number) const { return number < bytes / sizeof(std::uint64_t); }
  std::int32_t text(std::uint32_t number) const {
    return number < strings.size() ? strings[number] : no_name;
  }
  std::string_view view(std::uint32_t number, const core::TextTable& texts) const {
    const std::int32_t found = text(number);
    return found < 0 ? std::string_view() : texts[static_cast<std::size_t>(found)];
  }
};

}  // namespace nvspan::reader
