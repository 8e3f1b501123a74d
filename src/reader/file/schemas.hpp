// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What the processes of a recording registered.

#pragma once

#include "reader/file/recording.hpp"
#include "trace/payload/payload_decoder.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nvspan::reader {

// Of one process, by the domains of its file.
class ReadSchemas final : public trace::PayloadNames {
 public:
  explicit ReadSchemas(const Recording& recording) : table(pool), recording_(recording) {}

  std::string_view string(std::uint64_t domain, std::uint64_t handle) const override;
  std::string_view category(std::uint64_t domain, std::uint32_t number) const override;

  core::PagePool pool;
  trace::SchemaTable table;
  std::unordered_map<std::uint64_t, std::int32_t> strings;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int32_t> categories;

 private:
  const Recording& recording_;
};

// The numbers of a counter group's sample, by where they are in it.
struct GroupField {
  std::uint64_t type = 0;
  std::uint64_t offset = 0;
  std::string name;
  trace::CounterUnit unit;
};
std::vector<GroupField> fields_of_group(const trace::SchemaTable& table, std::uint64_t domain,
                                        std::uint64_t schema, std::uint64_t& size);

}  // namespace nvspan::reader
